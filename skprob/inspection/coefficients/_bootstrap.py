"""Standard errors from refits to resampled rows."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..._utils.checks import check_sample_weight, is_integer
from ..._utils.fitted_params import unfitted
from ..._utils.warnings import warn
from ._fitted_rows import encoded_target
from ._groups import check_groups


def bootstrap_errors(
    statistic,
    model,
    X,
    y,
    *,
    sample_weight,
    groups,
    n_bootstrap,
    random_state,
    **given,
):
    """Standard deviations of a statistic of refits to rows, or groups, that are drawn.

    They are drawn with replacement: a row that is drawn twice has twice its weight.
    Refits start from the model.

    Parameters
    ----------
    statistic : callable
        ``statistic(refit, weight)`` is an array, from a refitted model and the weights
        of the rows that were drawn.
    model : estimator
        A fitted linear classifier.
    X, y, sample_weight, groups : array-like
        As in :func:`coefficient_table`; X are features that the classifier gets.
    n_bootstrap : int
    random_state : int, RandomState instance or None
    **given : array-like or None
        Further arguments of ``fit``, such as ``available``.

    Returns
    -------
    errors : ndarray of the shape of the statistic
        The standard deviations of the refits that did not fail.
    """
    if not is_integer(n_bootstrap) or n_bootstrap < 2:
        raise ValueError(
            f"n_bootstrap must be an integer, 2 or more; got {n_bootstrap!r}."
        )
    X = X if hasattr(X, "shape") else np.asarray(X)
    weight = check_sample_weight(sample_weight, X)
    rng = check_random_state(random_state)
    units = np.arange(len(weight))
    if groups is not None:
        units = check_groups(groups, len(weight))
    n_units = units.max() + 1
    encoded = encoded_target(model, y, X)
    is_present = _class_totals(encoded, weight) > 0
    given = {name: array for name, array in given.items() if array is not None}
    values, failures = [], []
    for _ in range(n_bootstrap):
        drawn = rng.randint(n_units, size=n_units)
        drawn_weight = np.bincount(drawn, minlength=n_units)[units] * weight
        try:
            _check_classes(encoded, drawn_weight, is_present)
            refit = _refitted(model, X, y, drawn_weight, given)
        except (ConvergenceWarning, ValueError) as error:
            failures.append(str(error))
            continue
        values.append(statistic(refit, drawn_weight))
    _report(failures, n_bootstrap)
    return np.std(values, axis=0, ddof=1)


def _check_classes(encoded, weight, is_present):
    """Raise if a class that is present in all rows is in none with these weights."""
    is_absent = (_class_totals(encoded, weight) == 0) & is_present
    if is_absent.any():
        name = [*encoded.classes.tolist(), None][is_absent.argmax()]
        raise ValueError(f"the class {name!r} is in none of the rows drawn.")


def _report(failures, n_bootstrap):
    """Warn of refits that failed; raise if less than half, or one, did not."""
    n_failed = len(failures)
    if n_failed > n_bootstrap / 2 or n_bootstrap - n_failed < 2:
        raise ValueError(
            f"{n_failed} of the {n_bootstrap} refits of the bootstrap failed. The "
            f"first failure: {failures[0]}"
        )
    if failures:
        warn(
            f"{n_failed} of the {n_bootstrap} refits of the bootstrap failed and "
            "are left out, which makes standard errors too small if these refits had "
            f"extreme coefficients. The first failure: {failures[0]}"
        )


def _class_totals(encoded, weight):
    """Total weight of each class in rows with these weights."""
    if encoded.labelled is not None:
        weight = weight[encoded.labelled]
    return encoded.target.class_totals(weight)


def _refitted(model, X, y, weight, given):
    """A model with the same parameters, fitted to rows with these weights."""
    refit = unfitted(model)
    parameters = refit.get_params(deep=False)
    if "warm_start" in parameters:
        refit.set_params(warm_start=True)
        vars(refit).update(
            {
                name: value
                for name, value in vars(model).items()
                if name.endswith("_") and not name.startswith("_")
            }
        )
    if model.target_type_ == "label_set":
        # Coefficients do not depend on the rule, which may need refits in folds.
        refit.set_params(threshold=0.5)
    if "verbose" in parameters:
        refit.set_params(verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", ConvergenceWarning)
        return refit.fit(X, y, sample_weight=weight, **given)
