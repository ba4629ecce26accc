"""Single precision: the numbers that are rounded, and when a fit returns to double.

Products of arrays take about half the time in single precision. It is used only where
the rest of a fit corrects its errors, or where they are below those of an
approximation:

=========================  ===============================  ========================
module                     rounded numbers                  back in double precision
=========================  ===============================  ========================
data/units                 rows in Hessian products and     if a Gram matrix was not
                           Gram matrices of Newton's        accurate
                           method
objective/_scaled_hessian  CSR rows in Hessian products,    at the end of each step
                           far from the minimum also the    near the minimum
                           gradient after a step
solvers/proximal           rows in a Hessian that is        if it was not accurate
                           written out
solvers/lbfgs              rows in evaluations              near the minimum
objective/left_out         rows in the inverse Hessian of   if it was not accurate
                           leave-one-out scores             for the scores
=========================  ===============================  ========================

Parameters, penalties and criteria are in double precision, and so are value and
gradient of the point at which a fit ends. The exception are fits to sparse rows whose
last step is large (`far_decrease`). An inaccurate step is shorter, or the fit takes one
step more: values in double precision decide whether a step is accepted.

There is one rule for each of three questions. Their numbers are in ``Tuning``.

1. *Is it faster?* From a cost in multiplications on: `single_product` of a Hessian
   product with dense rows, `single_hessian` of a whole Hessian. With sparse rows all
   products are.
2. *May numbers be rounded?* Dense rows of Newton's method are standardised first, and
   no number may overflow. Rows that are not standardised need :func:`squares_fit` and
   :func:`keeps_digits`.
3. *Was it accurate?* If the smallest pivot of the matrix, in units of its diagonal, is
   at least `least_pivot` (:func:`smallest_pivot`). Along directions with less curvature
   the matrix has only rounding errors. If it was not accurate, the matrix is computed
   again in double precision, and so is the rest of the fit. Rows whose mean curvature
   is smaller than `least_pivot` are not accurate, either. L-BFGS and sparse rows have
   no such matrix: the table says when they return to double precision.
"""

import math

import numpy as np

# Largest number whose square does not overflow.
_LARGEST = math.sqrt(float(np.finfo(np.float32).max))
# Largest mean of a feature in units of its scale: a quarter of the digits cancel.
_LARGEST_MEAN = float(np.finfo(np.float32).eps) ** -0.25
# Largest and smallest scale of a feature, in powers of ten.
_LARGEST_POWER = 9


def squares_fit(largest):
    """Whether squares of numbers, of which this one is the largest, do not overflow."""
    return bool(largest <= _LARGEST)


def keeps_digits(mean, scale):
    """Whether few digits cancel in (x - mean) / scale, and no scale is extreme."""
    is_near = np.all(np.abs(mean) <= _LARGEST_MEAN * scale)
    return bool(is_near and np.all(np.abs(np.log10(scale)) <= _LARGEST_POWER))


def smallest_pivot(roots, diagonal):
    """Smallest pivot of a matrix, in units of its diagonal; 1 if it is empty.

    Parameters
    ----------
    roots : ndarray of shape (..., n)
        Diagonal of its Cholesky factor: the roots of the pivots.
    diagonal : float or ndarray of shape (..., n)
    """
    return float((roots**2 / diagonal).min(initial=1))
