"""Known offsets, which are added to the scores."""

import numpy as np

from .._utils.arrays import is_foreign, to_numpy
from .._utils.checks import as_real, refuse_dask
from .._utils.scores import pair_scores


def check_offset(offset, n_samples, n_classes, is_pair, dtype):
    """The offsets of the scores as a checked array.

    Parameters
    ----------
    offset : array-like of shape (n_samples, n_classes) or (n_samples,)
        Numbers that are added to the scores; with one number for each row, to the
        difference of the scores of two classes.
    n_samples, n_classes : int
    is_pair : bool
        Whether there are two classes and only the difference of their scores has an
        effect, so that one number for each row is enough.
    dtype : dtype
        The type of the result.

    Returns
    -------
    offset : ndarray of shape (n_samples, n_classes)

    Raises
    ------
    ValueError
        If it has another shape, or is not finite.

    Examples
    --------
    >>> from skprob.targets import check_offset
    >>> check_offset([1.0, -3.0], 2, 2, is_pair=True, dtype=float)
    array([[-0.5,  0.5],
           [ 1.5, -1.5]])
    """
    refuse_dask("offset", offset)
    array = to_numpy(offset) if is_foreign(offset) else offset
    array = as_real("offset", array)
    if array.shape == (n_samples,) and is_pair:
        array = pair_scores(array[:, None])
    if array.shape != (n_samples, n_classes):
        alone = f" or, for the difference, ({n_samples},)" if is_pair else ""
        raise ValueError(
            "offset must have a number for each row and class, of shape "
            f"({n_samples}, {n_classes}){alone}; got shape {array.shape}."
        )
    with np.errstate(over="ignore"):
        array = array.astype(dtype, copy=False)
    finite = np.isfinite(array).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"offset must be finite in {np.dtype(dtype)}; row {finite.argmin()} is not."
        )
    return array
