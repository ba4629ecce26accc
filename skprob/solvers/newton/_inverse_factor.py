"""Cholesky factors of matrices of other libraries than NumPy."""

from ..._utils.arrays import all_finite, identity_like, namespace


def inverse_factor(matrices):
    """L⁻¹ of matrices L Lᵀ, (..., n, n); None where one of them is not positive.

    Parameters
    ----------
    matrices : array of shape (..., n, n)
        Of a library with the extension for linear algebra of the array API standard.
    """
    xp = namespace(matrices)
    try:
        factors = xp.linalg.cholesky(matrices)
    except Exception as error:
        # Each library has a class of its own by this name.
        if "LinAlgError" not in type(error).__name__:
            raise
        return None
    identity = identity_like(matrices.shape[-1], matrices)
    if hasattr(xp.linalg, "solve_triangular"):  # torch has it, the standard not.
        inverses = xp.linalg.solve_triangular(factors, identity, upper=False)
    else:
        inverses = xp.linalg.solve(factors, xp.broadcast_to(identity, factors.shape))
    # CuPy raises no error.
    return inverses if all_finite(inverses) else None
