"""Scores and other matrices that users give, as arrays of floats."""

import numpy as np
from scipy import sparse

from ..arrays import (
    asarray_like,
    is_dask,
    is_foreign,
    is_on_device_of,
    namespace,
    to_numpy,
    widened,
)
from .tensors import check_tensor


def as_real(name, array):
    """`array` of real numbers as float64, or as float32 if it has this type."""
    if is_foreign(array):
        check_tensor(name, array)
        array = to_numpy(array)
    array = as_dense(name, array)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} must be real numbers, got dtype {array.dtype}.")
    if array.dtype.newbyteorder("=") == np.float32:
        array = array.astype(np.float32, copy=False)
    else:
        # A longdouble beyond the range of float64 becomes inf, which is refused.
        with np.errstate(over="ignore"):
            array = array.astype(np.float64, copy=False)
    return array


def as_dense(name, data):
    """Data as a NumPy array; numbers of pandas' nullable types as float64.

    From a DataFrame with columns of nullable types, or with both booleans and numbers,
    NumPy would make an array of objects. A missing value becomes NaN.
    """
    if sparse.issparse(data):
        raise ValueError(
            f"{name} must be a dense array; got {type(data).__name__}. Give "
            f"{name}.toarray()."
        )
    try:
        refuse_unreadable(data)
        array = np.asarray(data)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        # NumPy's words for nested lists of different lengths.
        is_ragged = "inhomogeneous shape" in str(error)
        found = "; got rows of different lengths." if is_ragged else f": {error}"
        raise kind(f"{name} must be an array of real numbers{found}") from None
    if array.dtype == object and hasattr(data, "iloc"):
        dtypes = np.ravel(np.asarray(data.dtypes, dtype=object))
        if all(dtype.kind in "fiub" for dtype in dtypes):
            return data.to_numpy(np.float64, na_value=np.nan)
    return array


def without_duplicates(X):
    """A sparse matrix without duplicate entries; itself if it has none.

    SciPy adds them in products. The squares of a column need the sums, too.

    Examples
    --------
    >>> X = sparse.csr_array(([1.0, 2.0], [0, 0], [0, 2]), shape=(1, 1))
    >>> without_duplicates(X).data
    array([3.])
    """
    if X.has_canonical_format:
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def real_or_nan(values):
    """`values` as a float64 array; a single NaN if they are not real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind in "fiubO":
            return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    return np.array(np.nan)


def refuse_arrays(function, **arrays):
    """Raise if a function for NumPy arrays gets arrays of another library."""
    for name, array in arrays.items():
        if is_foreign(array):
            raise ValueError(
                f"{function} takes NumPy arrays only; {name} is of type "
                f"{type(array).__module__}.{type(array).__name__}. Convert it, for "
                "instance by np.asarray(array)."
            )


def array_real(name, array):
    """The result of :func:`as_real` for an array of another library than NumPy."""
    xp = namespace(array)
    check_tensor(name, array)
    if not xp.isdtype(array.dtype, ("real floating", "integral", "bool")):
        raise ValueError(f"{name} must be real numbers, got dtype {array.dtype}.")
    return array if array.dtype == xp.float32 else widened(array)


def array_rows(scores, **others):
    """The result of :func:`as_rows` for arrays of the library of the first."""
    scores = check_matrix("scores", array_real("scores", scores))
    if not others:
        return scores
    xp, checked = namespace(scores), [scores]
    for name, array in others.items():
        check_tensor(name, array)
        if not is_on_device_of(array, scores):
            array = to_numpy(array) if is_foreign(array) else array
            array = asarray_like(as_real(name, array), scores)
        array = xp.astype(array_real(name, array), scores.dtype, copy=False)
        check_direction(name, array, scores)
        checked.append(array)
    return checked


def as_rows(scores, **others):
    """`scores`, and arrays named in `others`, as checked float matrices."""
    scores = as_matrix("scores", scores)
    if not others:
        return scores
    checked = [scores]
    for name, array in others.items():
        array = as_matrix(name, array).astype(scores.dtype, copy=False)
        check_direction(name, array, scores)
        checked.append(array)
    return checked


def check_direction(name, array, scores):
    """Raise if an array does not have the shape of scores, or is not finite."""
    xp = namespace(array)
    if array.shape != scores.shape:
        raise ValueError(
            f"{name} must have the shape of scores, {tuple(scores.shape)}; "
            f"got {tuple(array.shape)}."
        )
    finite = xp.all(xp.isfinite(array), axis=1)
    if not xp.all(finite):
        row = int(np.argmin(to_numpy(finite)))
        raise ValueError(f"{name} must be finite; row {row} is not.")


def as_matrix(name, array):
    """An array as a float matrix with at least one column."""
    return check_matrix(name, as_real(name, array))


def check_matrix(name, array):
    """The array itself, which must have rows and at least one column."""
    if array.ndim != 2:
        raise ValueError(
            f"{name} must have shape (n_samples, n_classes), got {array.ndim} "
            f"dimension(s), shape {tuple(array.shape)}."
        )
    if array.shape[1] == 0:
        raise ValueError(
            f"{name} must have at least one class, got shape {tuple(array.shape)}."
        )
    return array


def refuse_unreadable(data):
    """Raise if data are an object whose values NumPy does not read correctly.

    NumPy and scikit-learn drop the mask of an array, and would use the numbers below
    it. For other objects their errors do not say what to give instead.

    Examples
    --------
    >>> refuse_unreadable(np.ma.masked_array([[1.0, 2.0]], mask=False))
    >>> refuse_unreadable(row for row in [[1.0, 2.0]])
    Traceback (most recent call last):
        ...
    TypeError: A generator was found. Give a list or an array.
    """
    if type(data) is np.ndarray or sparse.issparse(data):
        return  # A DOK matrix is a dict, too.
    kind = type(data).__name__
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        n_masked = np.count_nonzero(np.ma.getmaskarray(data))
        raise ValueError(
            f"Masked entries were found, {n_masked} of {data.size}. Leave these rows "
            "out, or give numbers for them: array.filled(number)."
        )
    if hasattr(data, "collect_schema") and not hasattr(data, "shape"):
        raise TypeError(f"A {kind} was found, which has no values yet: collect() it.")
    if isinstance(data, (dict, set, frozenset)) or hasattr(data, "__next__"):
        raise TypeError(f"A {kind} was found. Give a list or an array.")
    if str(getattr(data, "dtype", "")) == "torch.bfloat16":
        raise TypeError("bfloat16 was found, which NumPy does not have: use float().")
    if getattr(data, "requires_grad", False) is True:
        raise ValueError(
            "A tensor that requires gradients was found, which are not propagated: "
            "detach() it."
        )


def refuse_dask(name, data):
    """Raise if the argument is a Dask collection, where rows must be in memory."""
    if is_dask(data):
        raise ValueError(
            f"{name} must be in memory here, not a Dask collection; got "
            f"{type(data).__name__}. Give {name}.compute(), of all rows or of some."
        )


def refuse_unreadable_numbers(data):
    """Raise if NumPy or SciPy would not read the numbers of the data correctly."""
    refuse_unreadable(data)
    refuse_times(data)
    refuse_wrong_indices(data)


def refuse_times(data):
    """Raise if data are dates or durations, which NumPy would convert to numbers.

    Examples
    --------
    >>> refuse_times(np.array(["2026-01-01"], dtype="datetime64[D]"))
    Traceback (most recent call last):
        ...
    ValueError: Dates and times are not numbers.
    """
    if hasattr(data, "columns"):
        # Older versions of pandas compare a slice with an index of floats.
        first_row = data.iloc[:1] if hasattr(data, "iloc") else data[:1]
        data = np.asarray(first_row)
    if getattr(getattr(data, "dtype", None), "kind", "") in ("m", "M"):
        raise ValueError("Dates and times are not numbers.")


def refuse_wrong_indices(data):
    """Raise if the arrays of a CSR or CSC matrix point beyond its entries or its shape.

    SciPy does not check this in products and conversions, which read other memory.

    Examples
    --------
    >>> refuse_wrong_indices(sparse.csr_array(([1.0], [7], [0, 1]), shape=(1, 3)))
    Traceback (most recent call last):
        ...
    ValueError: Its indices must be from 0 to 2; got numbers from 0 to 7.
    """
    if not (sparse.issparse(data) and data.format in ("csr", "csc")):
        return
    ends, indices = data.indptr, data.indices
    if (ends[:-1] > ends[1:]).any() or ends[-1] > len(indices):
        raise ValueError(
            f"Its indptr must not decrease, nor exceed the number of entries, "
            f"{len(indices)}."
        )
    largest = data.shape[1 if data.format == "csr" else 0] - 1
    lowest, highest = indices.min(initial=0), indices.max(initial=0)
    if lowest < 0 or highest > max(largest, 0):
        raise ValueError(
            f"Its indices must be from 0 to {largest}; got numbers from {lowest} to "
            f"{highest}."
        )
