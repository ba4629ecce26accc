"""The target that a user passes to a loss."""

from scipy import sparse

from .._utils.checks import as_points, as_real
from ._dense import DenseTarget
from ._sparse import SparseTarget


def as_target(target, shape, dtype, polytope="simplex"):
    """An array or sparse matrix as a checked target.

    Parameters
    ----------
    target : array-like or sparse matrix of shape (n_samples, n_classes)
    shape : tuple of int
        The shape that it must have.
    dtype : dtype
        The type of its values.
    polytope : {"simplex", "cube"}, default="simplex"
        The polytope that contains its rows.

    Returns
    -------
    target : DenseTarget or SparseTarget

    Raises
    ------
    ValueError
        If `target` has another shape or a row is not in the polytope.

    Examples
    --------
    >>> from skprob.targets import as_target
    >>> as_target([[0.5, 0.5]], shape=(1, 2), dtype=float)
    DenseTarget(values=array([[0.5, 0.5]]))
    """
    if not sparse.issparse(target):
        target = as_real("target", target)
    if target.shape != shape:
        raise ValueError(
            f"target must have the shape of scores, {shape}; got {target.shape}."
        )
    target = as_points(target, polytope, "target")
    if not sparse.issparse(target):
        return DenseTarget(target.astype(dtype, copy=False))
    values = target.data.astype(dtype, copy=False)
    return SparseTarget(target.indptr, target.indices, values, shape[1])
