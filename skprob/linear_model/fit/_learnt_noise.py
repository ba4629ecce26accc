"""The noise of a mapping, estimated with the coefficients by the log loss.

The coefficients are fitted for each noise that is tried. By the envelope theorem, the
derivative of the least objective in a parameter of the noise is the derivative at fixed
coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.utils import check_random_state

from ...mappings import NestedSoftmax, PerturbMax, Temperature
from ...solvers import Stage, solve_in_turn, total_of

# Tolerance of the coefficients, relative to that of the parameters of the noise.
_INNER = 0.1
# Step of the differences in the loadings, and norm of a column of loadings at the
# start.
_STEP, _START_SIZE = 0.05, 1.0


@dataclass(frozen=True)
class NoiseSearch:
    """How the noise of perturb-max is estimated.

    Attributes
    ----------
    mapping : PerturbMax
        The mapping with the noise and the loadings to start from.
    temperature : float
    loadings : int, array-like or None
        Number of factors to estimate, or loadings to start from; None without any.
    n_init : int
        Number of searches, all but the first from random loadings. The one with the
        least objective is kept.
    random_state : int, RandomState instance or None
    """

    mapping: PerturbMax
    temperature: float
    loadings: Any
    n_init: int
    random_state: Any

    @property
    def n_factors(self):
        """The number of factors that are estimated; None if loadings are given."""
        return self.loadings if isinstance(self.loadings, Integral) else None

    def for_classes(self, n_classes, labels):
        """The search itself; raise if the loadings are not for these classes."""
        if self.loadings is None:
            return self
        if n_classes < 3:
            raise ValueError(
                "Loadings can be learnt for three or more classes: for two they only "
                f"change the scale of the noise; got {n_classes} classes."
            )
        if self.n_factors is not None and self.n_factors >= n_classes:
            raise ValueError(
                f"loadings must be at most {n_classes - 1}, the number of classes less "
                f"one; got {self.loadings}."
            )
        if hasattr(self.loadings, "iloc"):
            mapping = self.mapping.for_classes(n_classes, labels)
            return replace(self, mapping=mapping, loadings=mapping.loadings)
        return self

    def at_temperature(self, mapping):
        """The mapping at the temperature."""
        return _at_temperature(mapping, self.temperature)

    def attributes(self, mapping):
        """Fitted attributes of a model with an estimated noise, for its mapping."""
        if not isinstance(mapping, PerturbMax):
            mapping = mapping.mapping
        return {"noise_": mapping.noise, "loadings_": mapping.loadings}


@dataclass(frozen=True)
class ScaleSearch:
    """How the scales of nested softmax are estimated.

    Attributes
    ----------
    mapping : NestedSoftmax
        The mapping with the scales to start from.
    temperature : float
    """

    mapping: NestedSoftmax
    temperature: float

    # There are no loadings, and all searches start from the same scales.
    n_factors = None
    n_init = 1
    random_state = None

    def for_classes(self, n_classes, labels):
        """The search with the nests of the columns; raise if no scale can be learnt."""
        mapping = self.mapping.for_classes(n_classes, labels)
        sizes = [n_classes] if mapping.nests is None else np.bincount(mapping.nests)
        if len(sizes) < 2 or max(sizes) < 2:
            raise ValueError(
                "nests must be two or more, one of them with several classes, to learn "
                "scales: one nest with all classes only changes the temperature; got "
                f"{self.mapping.nests!r} for {n_classes} classes."
            )
        return replace(self, mapping=mapping)

    def at_temperature(self, mapping):
        """The mapping at the temperature."""
        return _at_temperature(mapping, self.temperature)

    def attributes(self, mapping):
        """No attributes: the scales are those of ``mapping_``."""
        return {}


def _at_temperature(mapping, temperature):
    return mapping if temperature == 1 else Temperature(mapping, temperature)


def fit_with_noise(objective, spec, start, progress, attributes_at):
    """Fit coefficients and the parameters of the noise of a spec.

    Parameters
    ----------
    objective : LinearObjective
    spec : FitSpec
        The spec of these rows.
    start : ndarray of shape (n_parameters,)
        Coefficients to start from.
    progress : FitProgress or None
        It is notified of the iterations of all fits, and may stop them.
    attributes_at : callable
        ``attributes_at(spec, parameters)`` are the fitted attributes for callbacks.

    Returns
    -------
    spec : FitSpec
        The spec with the estimated noise.
    solution : Solution
    """

    def loss_of(mapping):
        nonlocal spec
        mapping = spec.noise.at_temperature(mapping)
        spec = replace(spec, loss=spec.loss.with_mapping(mapping))
        return spec.loss

    if progress is not None:
        # The number of iterations is not known.
        progress.start(None, lambda parameters: attributes_at(spec, parameters))
    search, options = spec.noise, spec.solver_options
    solution = learn_noise(objective, search, loss_of, start, progress, **options)
    return spec, solution


def learn_noise(objective, search, loss_of, parameters, progress, *, tol, **options):
    """Fit coefficients and the parameters of a noise.

    Parameters
    ----------
    objective : LinearObjective
    search : NoiseSearch or ScaleSearch
    loss_of : callable
        ``loss_of(mapping)`` is the loss through a mapping with another noise; it is
        called before each fit.
    parameters : ndarray of shape (n_parameters,)
        Coefficients to start from.
    progress : FitProgress or None
        It is notified of the iterations of all fits, and may stop them.
    tol : float
        Tolerance of the gradient in the parameters of the noise.
    **options : dict
        ``solver`` and ``max_iter`` of each fit; ``max_iter`` also limits the steps of
        the search.

    Returns
    -------
    solution : Solution
        The solution of the last fit, with the ``n_iter`` and ``history`` of all fits.
    """
    options["tol"] = _INNER * tol
    fits = _Fits(
        objective,
        search.mapping,
        loss_of,
        parameters=parameters,
        progress=progress,
        options=options,
    )
    try:
        if search.n_factors is not None:
            fits.add_loadings(search.n_factors)
        bounds, rng = fits.bounds(), check_random_state(search.random_state)
        minimise_from = partial(
            minimize,
            fits,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={
                "gtol": tol,
                "ftol": (_INNER * tol) ** 2,
                "maxiter": max(options["max_iter"], 1),
            },
        )
        best = minimise_from(fits.start())
        for _ in range(search.n_init - 1):
            other = minimise_from(fits.random_start(rng))
            best = min(best, other, key=lambda each: each.fun)
        _, gradient = fits(best.x)
    except _Stopped:
        return fits.solution
    # Steps along the negative gradient that stay within the bounds.
    steps = np.clip(best.x - gradient, *bounds.T) - best.x
    solution = fits.solution
    if not (best.success or np.abs(steps).max() <= 10 * tol):
        message = f"the parameters of the noise did not: {best.message}"
        solution = solution._replace(
            converged=False, message=message, remedies=("max_iter", "tol")
        )
    return solution


class _Stopped(Exception):
    """A callback stops the fit."""


class _Fits:
    """The least objective and its gradient as a function of the noise's parameters."""

    def __init__(self, objective, mapping, loss_of, parameters, progress, options):
        self._objective, self._mapping, self._loss_of = objective, mapping, loss_of
        self.parameters, self._progress = parameters, progress
        self._options, self._history = options, []
        self.solution = None

    def start(self):
        """Parameters of the noise to start from."""
        return self._mapping.noise_parameters()

    def bounds(self):
        """Least and greatest values of these parameters, (n_parameters, 2)."""
        return np.array(self._mapping.noise_parameter_bounds())

    def random_start(self, rng):
        """Parameters of the noise to start from, with random loadings."""
        loadings = _START_SIZE * rng.normal(size=np.shape(self._mapping.loadings))
        return clone(self._mapping).set_params(loadings=loadings).noise_parameters()

    def add_loadings(self, n_factors):
        """Fit without loadings, and set the loadings to start from.

        At zero loadings the gradient in them is zero. So they start along the
        eigenvectors of the least eigenvalues of the second derivatives, which are
        computed by differences.
        """
        self._fit(self._mapping)
        n_classes = self._objective.shape[0]
        curvature = np.empty((n_classes - 1, n_classes - 1))
        for row, column in zip(curvature, np.eye(n_classes)[1:], strict=True):
            step = clone(self._mapping).set_params(loadings=_STEP * column[:, None])
            row[:] = self._gradient(self._with_loss_of(step))[1 - n_classes :]
        vectors = np.linalg.eigh(curvature + curvature.T).eigenvectors[:, :n_factors]
        loadings = np.vstack([np.zeros(n_factors), _START_SIZE * vectors])
        self._mapping = clone(self._mapping).set_params(loadings=loadings)

    def __call__(self, vector):
        objective = self._fit(self._mapping.with_noise_parameters(vector))
        return self.solution.value, self._gradient(objective)

    def _with_loss_of(self, mapping):
        return self._objective.with_loss(self._loss_of(mapping))

    def _gradient(self, objective):
        """Gradient in the parameters of the noise, at the last coefficients."""
        matrix = self.parameters.reshape(objective.shape)
        return objective.blocks.sum(_noise_gradient, matrix, objective.loss)[0]

    def _fit(self, mapping):
        """Fit the coefficients from the last ones; returns the objective."""
        objective = self._with_loss_of(mapping)
        solution = solve_in_turn(
            [objective],
            self.parameters,
            progress=self._progress,
            n_before=self._history[-1].iteration if self._history else 0,
            **self._options,
        )
        self._history = total_of(self._history, solution.history, Stage.OTHER_NOISE)
        self.parameters = solution.parameters
        self.solution = solution._replace(
            n_iter=self._history[-1][0], history=self._history
        )
        if solution.stopped:
            raise _Stopped
        return objective


def _noise_gradient(block, parameters, loss):
    scores = block.scores(block.design.matvec(parameters))
    rows = loss.noise_gradient(scores, block.target)
    return (block.weight.astype(np.float64) @ rows,)
