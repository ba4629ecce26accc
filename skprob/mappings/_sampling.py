"""Draws of classes and of relaxed one-hot rows from the probabilities of a mapping."""

from __future__ import annotations

import numpy as np
from scipy.special import log_expit, logit
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import validate_parameter_constraints

from .._utils.checks import IntegerInterval, RealInterval, as_rows, refuse_arrays
from .._utils.scores import standard_scores
from .._utils.typing import Array, ArrayLike, RandomState

_CONSTRAINTS = {
    "size": [IntegerInterval(1, None, closed="left"), None],
    "temperature": [RealInterval(0, None, closed="neither")],
    "random_state": ["random_state"],
}


def check_sampling(name, **parameters):
    """Raise if a parameter of a sampling function is not allowed."""
    constraints = {key: _CONSTRAINTS[key] for key in parameters}
    validate_parameter_constraints(constraints, parameters, caller_name=name)


def draw_classes(p, size, random_state):
    """Classes drawn from rows of probabilities, (n_samples,) or (n_samples, size).

    A class of probability zero is never drawn.
    """
    rng = check_random_state(random_state)
    below = np.cumsum(p, axis=1, dtype=np.float64)
    n_draws = 1 if size is None else size
    # Random numbers are at most 1 - 2^-53: the product is below the sum even if
    # rounded.
    level = rng.random_sample((len(p), n_draws)) * below[:, -1:]
    classes = np.empty(level.shape, dtype=np.intp)
    if len(p) <= n_draws:
        for i, row in enumerate(below):
            classes[i] = row.searchsorted(level[i], side="right")
    else:
        for j in range(n_draws):
            classes[:, j] = (below > level[:, j : j + 1]).argmax(axis=1)
    return classes[:, 0] if size is None else classes


def draw_sets(p, size, random_state):
    """0/1 indicators of labels that are drawn independently, from their marginals."""
    rng = check_random_state(random_state)
    shape = p.shape if size is None else (len(p), size, p.shape[1])
    return (rng.random_sample(shape) < _repeated(p, size)).astype(np.intp)


def relax_classes(log_p, temperature, size, random_state):
    """Rows of the simplex whose largest entry is a draw: softmax((log p + g) / τ)."""
    rng = check_random_state(random_state)
    log_p = _repeated(log_p.astype(np.float64), size)
    z = log_p + rng.gumbel(size=_shape(log_p, size))
    z -= z.max(axis=-1, keepdims=True)
    with np.errstate(over="ignore"):
        z /= float(temperature)
    weight = np.exp(z)
    return weight / weight.sum(axis=-1, keepdims=True)


def relax_sets(p, temperature, size, random_state):
    """Points of the cube; whether a coordinate is above one half is a draw."""
    rng = check_random_state(random_state)
    shape = p.shape if size is None else (len(p), size, p.shape[1])
    with np.errstate(over="ignore", divide="ignore"):
        z = logit(_repeated(p.astype(np.float64), size)) + rng.logistic(size=shape)
        return np.exp(log_expit(z / float(temperature)))


def gumbel_max(
    scores: ArrayLike, size: int | None = None, random_state: RandomState | None = None
) -> Array:
    r"""Draw classes from softmax: the largest score after Gumbel noise is added.

    .. math:: \arg\max_i z_i + g_i, \quad g_i \sim \mathrm{Gumbel}(0, 1)

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_classes)
        Real scores; -inf means that the class is not available.
    size : int, default=None
        Number of draws for each row; None is one.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the draws. None draws other numbers in each call.

    Returns
    -------
    classes : ndarray of int of shape (n_samples,) or (n_samples, size)

    Raises
    ------
    ValueError
        If the scores are malformed, or a parameter is not allowed.

    See Also
    --------
    Mapping.sample : Draws from any mapping.
    gumbel_softmax : Draws that are a smooth function of the scores.

    References
    ----------
    C. J. Maddison, D. Tarlow and T. Minka, "A* sampling", NeurIPS 2014.

    Examples
    --------
    >>> from skprob.mappings import gumbel_max
    >>> gumbel_max([[9.0, 0.0, 0.0]], size=5, random_state=0)
    array([[0, 0, 0, 0, 0]])
    """
    refuse_arrays("gumbel_max", scores=scores)
    check_sampling("gumbel_max", size=size, random_state=random_state)
    scores = standard_scores(as_rows(scores), shift=True)
    rng = check_random_state(random_state)
    z = _repeated(scores, size)
    return (z + rng.gumbel(size=_shape(z, size))).argmax(axis=-1)


def gumbel_softmax(
    scores: ArrayLike,
    temperature: float = 1.0,
    size: int | None = None,
    random_state: RandomState | None = None,
) -> Array:
    r"""Relaxed draws from softmax: rows of the simplex that may be nearly one-hot.

    .. math:: \mathrm{softmax}((z + g) / \tau), \quad g_i \sim \mathrm{Gumbel}(0, 1)

    This is the concrete distribution. The largest entry is the class that
    :func:`gumbel_max` draws with the same random state; the lower the temperature, the
    closer the row is to one-hot.

    Parameters
    ----------
    scores : array-like of shape (n_samples, n_classes)
        Real scores; -inf means that the class is not available.
    temperature : float, default=1.0
        Positive and finite.
    size : int, default=None
        Number of draws for each row; None is one.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the draws. None draws other numbers in each call.

    Returns
    -------
    rows : ndarray of shape (n_samples, n_classes) or (n_samples, size, n_classes)
        float32 for float32 scores and float64 otherwise.

    Raises
    ------
    ValueError
        If the scores are malformed, or a parameter is not allowed.

    See Also
    --------
    Mapping.relaxed_sample : The same for any mapping.

    References
    ----------
    E. Jang, S. Gu and B. Poole, "Categorical reparameterization with Gumbel-softmax",
    ICLR 2017.

    C. J. Maddison, A. Mnih and Y. W. Teh, "The concrete distribution: a continuous
    relaxation of discrete random variables", ICLR 2017.

    Examples
    --------
    >>> from skprob.mappings import gumbel_softmax
    >>> gumbel_softmax([[1.0, 0.0]], temperature=0.1, random_state=0).round(3)
    array([[1., 0.]])
    """
    given = {"temperature": temperature, "size": size, "random_state": random_state}
    refuse_arrays("gumbel_softmax", scores=scores)
    check_sampling("gumbel_softmax", **given)
    scores = standard_scores(as_rows(scores), shift=True)
    return relax_classes(scores, **given).astype(scores.dtype)


def _repeated(rows, size):
    """Rows that broadcast with `size` draws of each."""
    return rows if size is None else rows[:, None, :]


def _shape(rows, size):
    return rows.shape if size is None else (rows.shape[0], size, rows.shape[-1])
