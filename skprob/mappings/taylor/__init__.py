"""Taylor softmax: softmax with a Taylor polynomial in place of exp.

Read `_taylor_softmax.py` first. `_polynomial.py` computes the polynomials, and their
logarithms' derivatives, to full relative accuracy; `_array_polynomial.py` computes
the logarithms for arrays of any library.
"""

from ._taylor_softmax import TaylorSoftmax, taylor_softmax

__all__ = ["TaylorSoftmax", "taylor_softmax"]
