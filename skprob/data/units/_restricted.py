"""Some features of a design, for fits in which most coefficients are zero."""

import numpy as np

from ..._utils.arrays import take
from ..._utils.tuning import Tuning
from .._array_api import ArrayDesign
from .._csr import CSRDesign
from .._dense import DenseDesign
from .._design import DesignMatrix
from ._little_design import LittleDesign
from ._standardization import standardized
from ._standardized_design import StandardizedDesign

# Largest share of the features that is copied, to limit the memory.
_LARGEST_COPY = 0.5


def restricted(design, columns, n_rows, tuning=Tuning()):
    """A design of standardised columns with some of them alone.

    Parameters
    ----------
    design : StandardizedDesign or LittleDesign
    columns : ndarray of int of shape (n_chosen,)
        Numbers of the columns in increasing order, with the constant if there is one.
    n_rows : int
        Number of rows of all blocks.
    tuning : Tuning

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.data import Standardization, as_design, restricted, standardized
    >>> X = np.array([[1.0, 10.0, 0.0], [3.0, 30.0, 4.0]])
    >>> units = Standardization(X.mean(axis=0), X.std(axis=0), True)
    >>> design = standardized(as_design(X), units, n_rows=2)
    >>> restricted(design, np.array([0, 2, 3]), n_rows=2).columns(slice(None)).T
    array([[-1., -1.,  1.],
           [ 1.,  1.,  1.]])
    """
    if isinstance(design, LittleDesign):
        return LittleDesign(design._columns[columns], tuning)
    features = columns[columns < len(design._units.mean)]
    units, some = (
        design._units.restricted(features),
        _some(design._design, features, tuning),
    )
    if isinstance(design._design, ArrayDesign):
        return StandardizedDesign(some, units)
    return standardized(some, units, n_rows, tuning)


def _some(design, features, tuning):
    """A design of some features: a copy if they are few, else a view."""
    is_few = len(features) <= _LARGEST_COPY * design.shape[1]
    if is_few and type(design) is DenseDesign:
        return DenseDesign(design.host_X[:, features])
    if is_few and isinstance(design, CSRDesign):
        some = CSRDesign(design.host_X[:, features])
        if some.is_sparse(tuning.sparse_share):
            return some
        return DenseDesign(some.host_X.toarray())
    return SelectedColumns(design, features)


class SelectedColumns(DesignMatrix):
    """Some columns of a design, which is not copied.

    Parameters
    ----------
    design : DesignMatrix
    columns : ndarray of int of shape (n_columns,)
    """

    def __init__(self, design, columns):
        self._design, self._columns = design, columns
        n_rows, n_columns = design.shape
        self.shape, self.dtype = (n_rows, len(columns)), design.dtype
        self.n_stored = int(design.n_stored * len(columns) / max(n_columns, 1))
        self.fits_single_precision = design.fits_single_precision

    def matvec(self, coef, shift=None):
        whole = np.zeros((len(coef), self._design.shape[1]), coef.dtype)
        whole[:, self._columns] = coef
        return self._design.matvec(whole, shift)

    def rmatvec(self, residual):
        return self._design.rmatvec(residual)[:, self._columns]

    def take(self, rows):
        return SelectedColumns(self._design.take(rows), self._columns)

    def joined(self, others):
        whole = self._design.joined([other._design for other in others])
        return SelectedColumns(whole, self._columns)

    def sandwich_of(self, columns, n_columns, weights):
        return self._design.sandwich_of(columns, n_columns, weights)

    def columns(self, rows):
        return take(self._design.columns(rows), self._columns)
