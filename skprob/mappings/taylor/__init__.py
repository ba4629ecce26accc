"""Taylor softmax: softmax with a Taylor polynomial in place of exp.

Read `_taylor_softmax.py` first. `_polynomial.py` computes the polynomials, and their
logarithms' derivatives, to full relative accuracy.
"""
