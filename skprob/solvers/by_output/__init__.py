"""Newton's method for each output of a separable problem.

If the loss is a sum over the outputs, each output is a separate problem. The problems
share the products with the data. Each has its own preconditioner, forcing term, step
length, duality gap and end. An output that is done takes no further product.

Read `_newton_by_output.py` first. `_problem.py` declares the protocol, `_done.py` has
the criteria of an output.
"""

from ._newton_by_output import NewtonByOutput

__all__ = ["NewtonByOutput"]
