"""Raw predictions of each row by the model that was fitted without it, approximately.

Read `_leave_one_out.py` first: it has the formulas, and selects one of two routes.

- `_whole_hessian.py` inverts the Hessian of all parameters, and solves a small linear
  system for each row (`_row_systems.py`).
- `_diagonal_blocks.py` approximates the Hessian by a block for each raw prediction,
  where the whole one takes too long.

`_folds.py` has folds of rows, which can be left out together instead.

`_inverse.py` inverts Hessians. `_drawn_rows.py` draws some rows in place of all, and
`_fewer_columns.py` changes the coordinates where columns are more than rows.
`_parts.py` has the quantities of some rows of a block.
"""

from ._drawn_rows import drawn_rows
from ._folds import Fold
from ._leave_one_out import is_exact_affordable, leave_one_out

__all__ = ["Fold", "drawn_rows", "is_exact_affordable", "leave_one_out"]
