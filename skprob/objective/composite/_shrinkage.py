"""The part of a penalty that has no derivative where coefficients are zero.

A penalty of the coefficients W (M, n_features) with factors f_j is

    Σ_j f_j [ridge / 2 ‖W_·j‖² + lasso r(W_·j)],

with r the sum of the absolute values, or the Euclidean norm of a feature's
coefficients for all raw predictions. The first term is a :class:`Ridge`, the second is
here. Its proximal step makes entries, or whole features, exactly zero.

References
----------
Tibshirani, "Regression shrinkage and selection via the lasso", JRSS B 1996.

Yuan, Lin, "Model selection and estimation in regression with grouped variables", JRSS B
2006.

Zou, Hastie, "Regularization and variable selection via the elastic net", JRSS B 2005.
"""

import copy
from typing import NamedTuple

import numpy as np


class PenaltyShape(NamedTuple):
    """A penalty without its strength.

    Attributes
    ----------
    l1_ratio : float
        Share of the part without a derivative, from 0 to 1.
    by_feature : bool
        Whether that part is the norm of each feature's coefficients.
    factors : ndarray of shape (n_features,) or None
        Multiples of the penalty for each feature, finite; None stands for ones.
    """

    l1_ratio: float = 0.0
    by_feature: bool = False
    factors: np.ndarray | None = None


class EntryShrinkage:
    """Sum of absolute values, each times the threshold of its column.

    Parameters and gradients are matrices (M, size); a step has a length for each entry,
    or for each column.

    Parameters
    ----------
    thresholds : ndarray of shape (size,)
        Zero for columns that are free.
    """

    #: Whether a proximal step needs one length for all entries of a column.
    is_by_column = False

    def __init__(self, thresholds):
        self.thresholds = thresholds

    def times(self, factor):
        """The shrinkage times a factor."""
        other = copy.copy(self)
        other.thresholds = factor * self.thresholds
        return other

    def restricted(self, columns):
        """The shrinkage of some columns alone."""
        other = copy.copy(self)
        other.thresholds = self.thresholds[columns]
        return other

    def value(self, parameters):
        """Value at parameters."""
        return float(np.abs(parameters).sum(axis=0) @ self.thresholds)

    def change(self, start, end):
        """Value at an end less that at a start, without the rounding error of both."""
        return float((np.abs(end) - np.abs(start)).sum(axis=0) @ self.thresholds)

    def smallest_subgradient(self, parameters, gradient):
        """The sum of a gradient and a subgradient that is smallest in norm."""
        at_zero = _soft(gradient, self.thresholds)
        return np.where(parameters != 0, gradient + self.slope(parameters), at_zero)

    def slope(self, parameters):
        """Derivatives where parameters are not zero; zero where they are."""
        return self.thresholds * np.sign(parameters)

    def proximal_step(self, parameters, lengths):
        """argmin_w Σ (w - parameters)² / (2 lengths) + value(w)."""
        return _soft(parameters, lengths * self.thresholds)

    def excess(self, coupling):
        """Squared distance of each column of a coupling to the subgradients at zero."""
        return np.square(_soft(coupling, self.thresholds)).sum(axis=0)

    def sizes(self, coupling):
        """Sizes of a coupling that thresholds are compared with: (M, size)."""
        return np.abs(coupling)

    def curvature_product(self, parameters, direction):
        """Second derivatives where parameters are not zero, times a direction: none."""
        return np.zeros_like(direction)

    def largest_curvature(self, parameters):
        """Upper bounds on these second derivatives, for each column."""
        return np.zeros(len(self.thresholds))

    def model_residual(self, parameters, stepped, lengths):
        """Right-hand side of Newton's step, from a proximal step.

        With w the parameters and ŵ the result of a proximal step of these lengths from
        them, it is the derivative of the objective at w on the piece of ŵ.
        """
        return (parameters - stepped) / lengths

    def common_shift(self, parameters, ridge):
        """Shift of the entries of each column at which its penalty is least.

        The shift does not change a loss that is invariant to equal changes of all raw
        predictions. Columns with an entry of zero are not shifted.

        Parameters
        ----------
        parameters : ndarray of shape (M, size)
        ridge : ndarray of shape (size,)
            Second derivatives of the ridge part of the penalty.

        Returns
        -------
        shift : ndarray of shape (size,)
        """
        shift, n = np.zeros(len(self.thresholds)), len(parameters)
        some = (parameters != 0).all(axis=0) & (self.thresholds > 0)
        if not some.any():
            return shift
        entries = parameters[:, some]
        # The minimum is the median of the entries and of the minima on all pieces.
        balance = (n - 2 * np.arange(n + 1.0))[:, None] / n * self.thresholds[some]
        with np.errstate(divide="ignore", invalid="ignore"):
            minima = entries.mean(axis=0) + balance / ridge[some]
        # Without a ridge all shifts between the middle entries are best: zero if it is
        # one of them.
        minima[np.isnan(minima)] = 0
        shift[some] = np.sort(np.concatenate([entries, minima]), axis=0)[n]
        return shift

    def is_zero(self, parameters):
        """Mask of the parameters, or of the columns, that are zero."""
        return parameters == 0

    def stays(self, parameters, reference):
        """Mask of the parameters, or of the columns, in the orthant of a reference.

        Parameters without shrinkage are in every orthant.
        """
        return (parameters * reference > 0) | (self.thresholds == 0)

    def on_piece_of(self, parameters, reference):
        """Parameters, with zeros where they leave the orthant of a reference."""
        return np.where(self.stays(parameters, reference), parameters, 0.0)

    def breakpoints(self, parameters, step, reference):
        """Positive lengths of a step at which parameters leave an orthant.

        At a longer one :meth:`on_piece_of` makes more of them zero.
        """
        return _crossings(parameters * reference, step * reference, self.thresholds)


class ColumnShrinkage(EntryShrinkage):
    """Sum of the Euclidean norms of the columns, each times its threshold.

    See :class:`EntryShrinkage`. A step has a length for each column.
    """

    is_by_column = True

    def value(self, parameters):
        return float(_norms(parameters) @ self.thresholds)

    def change(self, start, end):
        squares = ((end - start) * (end + start)).sum(axis=0)
        norms = _norms(start) + _norms(end)
        return float(_divided(squares, norms) @ self.thresholds)

    def smallest_subgradient(self, parameters, gradient):
        at_zero = self._shrunk(gradient, self.thresholds)
        slope = gradient + self.slope(parameters)
        return np.where(self.is_zero(parameters), at_zero, slope)

    def slope(self, parameters):
        return parameters * _divided(self.thresholds, _norms(parameters))

    def proximal_step(self, parameters, lengths):
        return self._shrunk(parameters, lengths * self.thresholds)

    def excess(self, coupling):
        return np.square(np.maximum(_norms(coupling) - self.thresholds, 0))

    def sizes(self, coupling):
        return np.broadcast_to(_norms(coupling), coupling.shape)

    def curvature_product(self, parameters, direction):
        norms = _norms(parameters)
        unit = parameters * _divided(1.0, norms)
        across = direction - unit * (unit * direction).sum(axis=0)
        return across * _divided(self.thresholds, norms)

    def largest_curvature(self, parameters):
        return _divided(self.thresholds, _norms(parameters))

    def model_residual(self, parameters, stepped, lengths):
        # With ŵ = a (w - l g) / ‖...‖ the inverse of the step's Jacobian is one along ŵ
        # and (‖ŵ‖ + l threshold) / ‖ŵ‖ across.
        change = (parameters - stepped) / lengths
        norms = _norms(stepped)
        unit = stepped * _divided(1.0, norms)
        across = change - unit * (unit * change).sum(axis=0)
        return change + across * _divided(lengths * self.thresholds, norms)

    def common_shift(self, parameters, ridge):
        # Entries sum to zero at the minimum, and after steps from zero.
        return np.where(self.thresholds > 0, parameters.mean(axis=0), 0.0)

    def is_zero(self, parameters):
        return ~parameters.any(axis=0)

    def stays(self, parameters, reference):
        inner = (parameters * reference).sum(axis=0)
        return (inner > 0) | (self.thresholds == 0)

    def breakpoints(self, parameters, step, reference):
        inner = (parameters * reference).sum(axis=0)
        return _crossings(inner, (step * reference).sum(axis=0), self.thresholds)

    def _shrunk(self, parameters, thresholds):
        norms = _norms(parameters)
        return parameters * _divided(np.maximum(norms - thresholds, 0), norms)


def shrinkage(strength, shape, units):
    """The part without a derivative of a penalty with a strength; None if it is zero.

    Parameters
    ----------
    strength : float
    shape : PenaltyShape
    units : Standardization
        The standardisation of the features; intercepts are free.
    """
    if not strength * shape.l1_ratio > 0:
        return None
    factors = 1.0 if shape.factors is None else shape.factors
    thresholds = strength * shape.l1_ratio * factors / units.scale
    thresholds = np.append(thresholds, np.zeros(int(units.fit_intercept)))
    return (ColumnShrinkage if shape.by_feature else EntryShrinkage)(thresholds)


def _crossings(inner, change, thresholds):
    """Lengths at which positive numbers that change at a rate become zero."""
    crosses = (inner > 0) & (change < 0) & (thresholds > 0)
    return inner[crosses] / -change[crosses]


def _soft(array, thresholds):
    return np.sign(array) * np.maximum(np.abs(array) - thresholds, 0)


def _norms(matrix):
    return np.sqrt(np.square(matrix).sum(axis=0))


def _divided(numerators, norms):
    """Numerators over norms; zero where a norm is zero."""
    is_zero = norms == 0
    return np.where(is_zero, 0.0, numerators / np.where(is_zero, 1.0, norms))
