"""Checks of users' arguments, with errors that name the argument and allowed values.

`arguments.py` checks X, y and sample_weight. If they are no plain arrays,
`conversions.py` converts X and sample_weight, and `targets.py` converts y.
`messages.py` adds the name of the argument to errors, and `bad_columns.py` the columns
of X. `columns.py` matches the columns of DataFrames with the classes. `matrices.py`
checks scores and other matrices, `points.py` probabilities, `indicators.py` matrices of
0 and 1, `unknown.py` their entries that are not known, `costs.py` matrices of costs,
`folds.py` the argument cv, and
`tensors.py` tensors of torch. `constraints.py` has types of parameters for
scikit-learn.
"""

from .arguments import (
    check_sample_weight,
    check_target,
    check_X,
)
from .columns import (
    check_distinct,
    distinct_classes,
    in_order,
    lined_up,
    names_of_columns,
    order_by_name,
    order_of,
    series_in_order,
)
from .constraints import (
    NUMBERS_OF_JOBS,
    InstancesOf,
    IntegerInterval,
    OneOf,
    RealInterval,
    is_integer,
    is_number,
)
from .conversions import check_squares
from .costs import as_costs, as_margins
from .folds import rows_of_folds
from .indicators import check_indicator, csr_indicator
from .matrices import (
    array_real,
    array_rows,
    as_dense,
    as_real,
    as_rows,
    real_or_nan,
    refuse_arrays,
    refuse_dask,
    refuse_times,
    refuse_unreadable,
    refuse_unreadable_numbers,
    without_duplicates,
)
from .messages import naming, row_and_others
from .points import (
    array_points,
    as_distributions,
    as_marginals,
    as_points,
)
from .targets import are_labels, refuse_missing_labels
from .tensors import check_tensor
from .unknown import fill_unknown, known_part

__all__ = [
    "NUMBERS_OF_JOBS",
    "InstancesOf",
    "IntegerInterval",
    "OneOf",
    "RealInterval",
    "are_labels",
    "array_points",
    "array_real",
    "array_rows",
    "as_costs",
    "as_dense",
    "as_distributions",
    "as_marginals",
    "as_margins",
    "as_points",
    "as_real",
    "as_rows",
    "check_X",
    "check_distinct",
    "check_indicator",
    "check_sample_weight",
    "check_squares",
    "check_target",
    "check_tensor",
    "csr_indicator",
    "distinct_classes",
    "fill_unknown",
    "in_order",
    "is_integer",
    "is_number",
    "known_part",
    "lined_up",
    "names_of_columns",
    "naming",
    "order_by_name",
    "order_of",
    "real_or_nan",
    "refuse_arrays",
    "refuse_dask",
    "refuse_missing_labels",
    "refuse_times",
    "refuse_unreadable",
    "refuse_unreadable_numbers",
    "row_and_others",
    "rows_of_folds",
    "series_in_order",
    "without_duplicates",
]
