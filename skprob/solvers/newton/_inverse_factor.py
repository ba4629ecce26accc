"""Cholesky factors of matrices of other libraries than NumPy."""

from ..._utils.arrays import all_finite, identity_like, namespace


def inverse_factor(matrices):
    """L⁻¹ of matrices L Lᵀ, (..., n, n); None where one of them is not positive.

    Parameters
    ----------
    matrices : array of shape (..., n, n)
        Matrices of a library with the linear algebra extension of the array API.
    """
    xp = namespace(matrices)
    try:
        factors = xp.linalg.cholesky(matrices)
    except Exception as error:
        # Each library defines a class of this name.
        if "LinAlgError" not in type(error).__name__:
            raise
        return None
    identity = identity_like(matrices.shape[-1], matrices)
    if hasattr(xp.linalg, "solve_triangular"):  # In torch, but not in the standard.
        inverses = xp.linalg.solve_triangular(factors, identity, upper=False)
    else:
        inverses = xp.linalg.solve(factors, xp.broadcast_to(identity, factors.shape))
    # CuPy raises no error.
    return inverses if all_finite(inverses) else None
