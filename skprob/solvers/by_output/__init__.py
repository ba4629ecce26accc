"""Newton's method for each output of a separable problem.

A loss that is a sum over the outputs is so many problems, which share the products with
the data. Each has its own preconditioner, forcing term, step length, duality gap and
end. An output that is done takes no further product.

Read `_newton_by_output.py` first. `_problem.py` declares what it needs, `_done.py` has
the criteria of an output.
"""

from ._newton_by_output import NewtonByOutput

__all__ = ["NewtonByOutput"]
