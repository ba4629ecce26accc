"""A separable objective, output by output: each has its own value and curvature.

Read `_outputs_point.py` first. `_block_outputs.py` has a block's part of the losses,
and `_output_gaps.py` the duality gap of each output.
"""

from ._outputs_point import OutputsPoint

__all__ = ["OutputsPoint"]
