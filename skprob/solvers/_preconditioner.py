"""Which coordinates to solve in, and when to renew them."""

import copy
from collections import deque
from functools import cache, partial

import numpy as np

from ._course import RECENT
from ._scaling import CurvatureScaling, coordinates_of, typical_curvature
from ._whitening import Whitening

# Beyond so many features, or numbers in all factors, whitening is too dear.
_MAX_FEATURES = 4096
_MAX_NUMBERS = 1 << 25
# Gram matrices are of a sample of the rows: as many as cost a few Hessian products,
# more while they are few beside the features, and never fewer than the last number.
_FEW_PRODUCTS, _MANY_PRODUCTS, _MOST_PRODUCTS = 4, 20, 60
_ENOUGH_ROWS, _FEWEST_ROWS = 30, 3
# Of the mean curvature, for rows that have less.
_LEAST_CURVATURE = 1e-4
# What it costs, in multiplications, to compute a number of an array, and to call what
# computes the arrays of a product, or of Gram matrices and their factors: on small data
# nothing else counts.
_NUMBER = 50
_CALLS = 5e5
_GRAM_CALLS = 3e6
# The features' moments take so many Hessian products at most, as a rule.
_MOMENTS = 5
# So many of the directions that were met are kept; fewer where they are not in a core's
# own cache, all numbers of them, and to multiply with them, four times in each step of
# conjugate gradients, were no small part of a product. A few are of no use.
_MAX_DIRECTIONS, _FEWEST_DIRECTIONS = 30, 10
_IN_CACHE = 1 << 17
_SMALL_PART = 0.02


class Preconditioner:
    """Coordinates for conjugate gradients, renewed when they have paid off.

    Where the objective is convex, dense Gram matrices if they can be had for the price
    of a few Hessian products, else the scales of the features alone; otherwise the
    standardised features.

    Parameters
    ----------
    objective : object
        What :class:`Whitening` asks for and, where more than standardised features is
        wanted, ``is_convex``, ``n_rows``, ``n_stored``, ``outputs_fit``, ``curvature``,
        ``grams``, ``moments`` and ``suits_single_precision``.
    standardization : Standardization
    patience : int, default=1
        How many times they must have paid off.
    """

    def __init__(self, objective, standardization, patience=1):
        self._objective = objective
        self._standardization = standardization
        self._used, self._patience = 0, patience
        self._last_grams = None
        self._curvatures = deque(maxlen=RECENT)
        #: The last that conjugate gradients met, and the most of them to be kept.
        self.directions, self.n_directions = None, _MAX_DIRECTIONS
        #: Whether Gram matrices are used.
        self.whitens = False
        #: Whether the Hessian's diagonal is about one in the coordinates.
        self.follows_curvature = hasattr(objective, "grams") and objective.is_convex
        if self.follows_curvature:
            self._plan()
        #: Precision of the Hessian products that the coordinates are for: whitening
        #: magnifies their rounding as it does the least curvature.
        self.precision = np.float64
        if not self.whitens and getattr(objective, "suits_single_precision", False):
            self.precision = np.float32

    def _plan(self):
        n_outputs, n_features = self._objective.coef_shape
        n_rows, n_stored = self._objective.n_rows, self._objective.n_stored
        size = n_features + 1
        # In multiplications, as all that follows, but for the calls.
        outputs = _NUMBER * n_rows * n_outputs
        product = 2 * n_outputs * n_stored + outputs
        cheap = max(_IN_CACHE, _SMALL_PART * (product + _CALLS))
        n_cheap = int(cheap / (n_outputs * size))
        are_few = n_cheap < _FEWEST_DIRECTIONS
        self.n_directions = 0 if are_few else min(_MAX_DIRECTIONS, n_cheap)
        # With so few rows all is cheap, and rows that are repeated or weigh nothing
        # had better not change the plan.
        few = max(1.0, size / n_rows)
        n_rows, outputs, product = few * n_rows, few * outputs, few * product + _CALLS
        row = size * (size / 2 + _NUMBER)
        rows_of_a_product = product / (n_outputs * row)
        n_drawn = max(
            _FEW_PRODUCTS * rows_of_a_product,
            min(_MANY_PRODUCTS * rows_of_a_product, _ENOUGH_ROWS * size),
            _FEWEST_ROWS * size,
        )
        self._n_drawn = int(min(n_rows, n_drawn))

        def cost(n_grams, n_used):
            """Of the matrices from so many rows, in Hessian products."""
            factors = n_grams * (n_used * row + size**3)
            return (factors + outputs + _GRAM_CALLS) / product

        self._by_class = (
            self._objective.outputs_fit
            and cost(n_outputs, self._n_drawn) <= _MOST_PRODUCTS
            and n_outputs * size**2 <= _MAX_NUMBERS
        )
        self._cost_from = partial(cost, n_outputs if self._by_class else 1)
        self.whitens = n_features <= _MAX_FEATURES and (
            cost(1, self._n_drawn) <= _MOST_PRODUCTS
        )
        if self.whitens and n_outputs == 1:
            # The Gram matrix is the whole Hessian, and a newer one than theirs.
            self.n_directions = 0
        self._cost = self._cost_from(self._n_drawn) if self.whitens else _MOMENTS
        coordinates = self._standardization
        objective, n_drawn = self._objective, self._n_drawn
        self._grams = grams = objective.grams(coordinates.mean, coordinates.scale)
        # Of zero parameters, where no loss and no penalty makes a difference.
        self._total_alike = cache(lambda: _mean_total(objective.curvature()))
        self._grams_alike = cache(lambda: grams(objective.curvature(), n_drawn))

    def for_objective(self, objective):
        """That of another penalty: it begins with the last matrices and directions.

        Of one that nothing has been done with, it may be that of another loss, too.
        """
        if not self.whitens:
            coordinates = coordinates_of(objective)
            return Preconditioner(objective, coordinates, self._patience)
        other = copy.copy(self)
        other._objective, other._curvatures = objective, self._curvatures.copy()
        if self.directions is not None:
            n_coefs = np.prod(objective.coef_shape)
            added = objective.l2 - self._objective.l2
            other.directions = self.directions.with_penalty(added, n_coefs)
        return other

    def begin(self, initial, linearize):
        """Coordinates to begin with.

        Parameters
        ----------
        initial : ndarray of shape (n_parameters,)
        linearize : callable
            ``linearize(initial)`` if they depend on the curvature there.
        """
        if self._last_grams is not None:
            return self._whitening(self._last_grams)
        return self.renewed(initial, linearize)

    def renewed(self, parameters, linearize):
        """Coordinates to go on with; the parameters as for :meth:`begin`."""
        if self.follows_curvature and parameters.any():
            return self.at(linearize(parameters))
        return self.first()

    def first(self):
        """Coordinates for zero parameters, where all rows bend alike."""
        if not self.follows_curvature:
            return self._standardization
        if not self.whitens:
            moments = self._objective.feature_moments()
            curvature = typical_curvature(self._objective)
            return CurvatureScaling(self._objective, moments, curvature)
        return self._whitening(self._grams_alike())

    def at(self, linearization):
        """Coordinates for the curvature where an objective was linearized."""
        if not self.follows_curvature:
            return self._standardization
        self._used = 0
        if not self.whitens:
            return self._scaling(linearization)
        # They may be large: make room.
        self._last_grams = None
        curvature = self._objective.curvature(linearization, by_class=self._by_class)
        n_bending = sum(np.count_nonzero(part.any(axis=1)) for part in curvature)
        self._cost = self._cost_from(min(n_bending, self._n_drawn))
        least = self._least_beside(curvature)
        grams = self._grams(curvature, self._n_drawn)
        grams += least * self._grams_alike()
        return self._whitening(grams)

    def used(self, n_products):
        """Tell of Hessian products in the last coordinates."""
        self._used += n_products

    def met(self, curvature, directions=None):
        """Tell of the least curvature that a step has met, and of its directions."""
        self._curvatures.append(curvature)
        self.directions = directions

    @property
    def least_curvature(self):
        """That the last steps have met; 0 before the first, when none is known."""
        return min(self._curvatures, default=0.0)

    @property
    def is_worn(self):
        """Whether so much has been done in the coordinates that new ones pay."""
        return self.follows_curvature and self._used >= self._patience * self._cost

    def _scaling(self, linearization):
        curvature = self._objective.curvature(linearization, by_class=False)
        alike = self._objective.curvature()
        least = self._least_beside(curvature)
        weights = [
            (part + least * other)[:, 0]
            for part, other in zip(curvature, alike, strict=True)
        ]
        total = sum(part.sum() for part in weights)
        if total < np.sqrt(np.finfo(np.float64).tiny):
            return self.first()
        return CurvatureScaling(
            self._objective, self._objective.moments(weights), total
        )

    def _whitening(self, grams):
        self._last_grams = grams
        return Whitening(self._objective, self._standardization, grams)

    def _least_beside(self, curvature):
        """Of the even curvature, for rows that do not bend the loss here but nearby."""
        return _LEAST_CURVATURE * _mean_total(curvature) / self._total_alike()


def _mean_total(curvature):
    """Sum over the rows of all blocks, on average over the outputs."""
    return np.mean(sum(part.sum(axis=0) for part in curvature))
