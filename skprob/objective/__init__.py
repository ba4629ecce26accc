"""Training objectives: sums over blocks of rows, for a solver to minimise.

An objective is the weighted mean loss of all rows plus a penalty. Read `_block.py`
first: it has the conventions. `_linear.py` is the objective of linear scores. At
parameters it returns a point, which a solver uses: value, gradient, curvature, and the
objective along a step. Little data are one array in one block: `little/` has their
points, in the shortest code. For all other data `_block_point.py` computes a block's
part of the loss and its derivatives, and `_linear_point.py` adds the parts up.
`_several_blocks.py` joins what an objective needs to begin with, and `_at_zero.py`
evaluates the start, where one row stands for all.

`by_output/` has the points of a sum over outputs that are minimised one by one.

`certificates/` proves that a point is near the minimum, by the duality gap.

A penalty that makes coefficients zero is in `composite/`. Its ridge part is that of
`_penalty.py`, and its part without a derivative is in `composite/_shrinkage.py`.
`_parts.py` makes objectives of some features, outputs or rows. `left_out/` computes the
raw predictions of each row by the model without it. Another kind of score has a file in
place of `_linear.py`, as `_cosine.py`. `_wide.py` is the objective of fewer rows than
features.
"""

from .._utils.lazy import lazy_attribute
from ._block import Block, n_raw_predictions, scores_of, split_rows
from ._description import Description
from ._linear import LinearObjective
from ._linear_point import LinearPoint
from ._penalty import Ridge

__all__ = [
    "Block",
    "ColumnShrinkage",
    "CompositeObjective",
    "CompositePoint",
    "CosineObjective",
    "Description",
    "EntryShrinkage",
    "Fold",
    "LinearObjective",
    "LinearPoint",
    "PenaltyShape",
    "Ridge",
    "WideObjective",
    "drawn_rows",
    "is_affordable",
    "leave_one_out",
    "n_raw_predictions",
    "number_of_columns",
    "scores_of",
    "split_rows",
]

# Imported when used: the import takes milliseconds.
_MODULES = {
    "ColumnShrinkage": "composite",
    "CompositeObjective": "composite",
    "CosineObjective": "_cosine",
    "CompositePoint": "composite",
    "EntryShrinkage": "composite",
    "Fold": "left_out",
    "PenaltyShape": "composite",
    "WideObjective": "_wide",
    "drawn_rows": "left_out",
    "is_affordable": "left_out",
    "leave_one_out": "left_out",
    "number_of_columns": "left_out",
}


def __getattr__(name):
    return lazy_attribute(__name__, _MODULES, name)
