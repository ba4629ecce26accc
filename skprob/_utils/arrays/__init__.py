"""Arrays of other libraries than NumPy: those of the array API standard.

With scikit-learn's setting ``array_api_dispatch`` they are used without conversion.
Otherwise they are converted to NumPy arrays, or refused, as in scikit-learn. Code for
both takes its functions from :func:`namespace`.

Read `_libraries.py` first: which library an array is of, and how it becomes one of
NumPy. `_operations.py` has operations on arrays of any library, and `_matrices.py`
parts and means of NumPy's arrays. `_conversions.py` brings arrays to another library
and device.
"""

from ._conversions import (
    asarray_like,
    dense,
    is_on_device_of,
    moved,
    on_host,
    real_dtypes,
    take,
    widened,
)
from ._libraries import (
    is_dask,
    is_foreign,
    is_host,
    namespace,
    numpy_dtype,
    to_numpy,
)
from ._matrices import (
    columns_of,
    rows_of,
    upper_triangle,
    weighted_mean,
)
from ._operations import (
    all_finite,
    as_type,
    column_sums,
    concat,
    copied,
    dot,
    fill,
    flatnonzero,
    identity_like,
    one_hot,
    positive_part,
    precision,
    reshape,
    row_dot,
    row_max,
    row_sum,
    weighted_one_hot,
    zeros,
)

__all__ = [
    "all_finite",
    "as_type",
    "asarray_like",
    "column_sums",
    "columns_of",
    "concat",
    "copied",
    "dense",
    "dot",
    "fill",
    "flatnonzero",
    "identity_like",
    "is_dask",
    "is_foreign",
    "is_host",
    "is_on_device_of",
    "moved",
    "namespace",
    "numpy_dtype",
    "on_host",
    "one_hot",
    "positive_part",
    "precision",
    "real_dtypes",
    "reshape",
    "row_dot",
    "row_max",
    "row_sum",
    "rows_of",
    "take",
    "to_numpy",
    "upper_triangle",
    "weighted_mean",
    "weighted_one_hot",
    "widened",
    "zeros",
]
