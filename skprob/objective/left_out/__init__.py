"""Raw predictions of each row by the model that was fitted without it, approximately.

Read `_leave_one_out.py` first: it has the formulas, and selects one of two routes.

- `_whole_hessian.py` inverts the Hessian of all parameters, and solves a small linear
  system for each row (`_row_systems.py`).
- `_separate_hessians.py` factors a Hessian for each raw prediction, where the loss is a
  sum of losses of one raw prediction each.

`_folds.py` has folds of rows, which are left out together where that takes too long.

`_inverse.py` inverts Hessians. `_drawn_rows.py` draws some rows in place of all, and
`_fewer_columns.py` changes the coordinates where columns are more than rows.
`_parts.py` has the quantities of some rows of a block.
"""

from ._drawn_rows import drawn_rows
from ._fewer_columns import number_of_columns
from ._folds import Fold
from ._leave_one_out import is_affordable, leave_one_out

__all__ = [
    "Fold",
    "drawn_rows",
    "is_affordable",
    "leave_one_out",
    "number_of_columns",
]
