"""Newton's methods by products with the Hessian, or for several problems at once.

`_newton_cg.py` computes steps by conjugate gradients (`_conjugate_gradients.py`) with a
preconditioner from a part of the Hessian (`_preconditioner.py`). `_by_products.py`
starts it on a sample of large data. `_newton_family.py` minimises several little
problems of the same rows together.
"""

from ._by_products import minimize_by_products, sample_size
from ._conjugate_gradients import conjugate_gradients
from ._newton_cg import NewtonCG, NewtonCGState
from ._newton_family import minimize_family
from ._preconditioner import Preconditioner

__all__ = [
    "NewtonCG",
    "NewtonCGState",
    "Preconditioner",
    "conjugate_gradients",
    "minimize_by_products",
    "minimize_family",
    "sample_size",
]
