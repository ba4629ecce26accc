"""A separable objective, with the value and the curvature of each output.

Read `_outputs_point.py` first. `_block_outputs.py` has a block's part of the losses,
`_output_gaps.py` the duality gap of each output, and `_start.py` intercepts to start
from.
"""

from ._outputs_point import OutputsPoint
from ._start import with_best_intercepts

__all__ = ["OutputsPoint", "with_best_intercepts"]
