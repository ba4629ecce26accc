"""Keeping SciPy's BLAS from fighting NumPy's over the cores."""

from .._blas import SerialBlas, scipy_blas

# NumPy's is left alone: the products with X need its threads.
serial_scipy_blas = SerialBlas(scipy_blas)
