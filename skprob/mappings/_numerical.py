"""Derivatives by differences, for mappings that do not provide them."""

import numpy as np

#: Relative step of a central difference that balances truncation and rounding errors.
STEP = np.finfo(np.float64).eps ** (1 / 3)


def numerical_jacobian(probabilities, scores):
    """Jacobian of each row by central differences.

    Parameters
    ----------
    probabilities : callable
        Kernel from scores to probabilities; it may overwrite the scores.
    scores : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    jacobian : ndarray of shape (n_samples, n_classes, n_classes)
        Errors are about 1e-10, and of the size of the jump at a kink.
    """
    n_samples, n_classes = scores.shape
    jacobian = np.zeros((n_samples, n_classes, n_classes))
    for j in np.flatnonzero(np.isfinite(scores).any(axis=0)):
        up, down = scores.astype(np.float64), scores.astype(np.float64)
        # Divide by the difference of the rounded points, not by the nominal step.
        step = STEP * np.maximum(
            1, np.abs(np.where(np.isfinite(up[:, j]), up[:, j], 0))
        )
        up[:, j] += step
        down[:, j] -= step
        # A class that is not available has a difference of zero, divided by any number.
        available, gap = np.isfinite(up[:, j]), np.ones(n_samples)
        np.subtract(up[:, j], down[:, j], out=gap, where=available)
        change = probabilities(up) - probabilities(down)
        jacobian[:, :, j] = change / gap[:, None]
    return jacobian


def numerical_vjp_derivative(vjp_at, scores):
    """Second derivatives by central differences of ``vjp``.

    Parameters
    ----------
    vjp_at : callable
        From scores to ``vjp``, the product with the transposed Jacobian there.
    scores : ndarray of shape (n_samples, n_classes)
        The array is stored and not modified.

    Returns
    -------
    vjp_derivative : callable
        As in a ``Linearization``.
    """
    scores = np.array(scores, dtype=np.float64)

    def vjp_derivative(cotangent, direction):
        direction = direction.astype(np.float64)
        size = np.abs(direction).max(axis=1, keepdims=True)
        step = STEP / np.where(size > 0, size, 1)
        ahead = vjp_at(scores + step * direction)(cotangent)
        behind = vjp_at(scores - step * direction)(cotangent)
        return ((ahead - behind) / (2 * step)).astype(cotangent.dtype, copy=False)

    return vjp_derivative


def numerical_linearization(probabilities, scores):
    """Value, Jacobian products and second derivatives by central differences.

    Parameters
    ----------
    probabilities : callable
        Kernel from scores to probabilities; it may overwrite the scores.
    scores : ndarray of shape (n_samples, n_classes)

    Returns
    -------
    probabilities : ndarray of shape (n_samples, n_classes)
    jvp, vjp, vjp_derivative : callable
        As in a ``Linearization``.
    """
    jacobian = numerical_jacobian(probabilities, scores)

    def jvp(direction):
        return np.einsum("nij,nj->ni", jacobian, direction).astype(scores.dtype)

    def vjp(direction):
        return np.einsum("nij,ni->nj", jacobian, direction).astype(scores.dtype)

    def vjp_derivative(cotangent, direction):
        # Differences of differences need a larger step against rounding errors.
        step = np.sqrt(STEP)
        ahead = numerical_jacobian(probabilities, scores + step * direction)
        behind = numerical_jacobian(probabilities, scores - step * direction)
        change = np.einsum("nij,ni->nj", ahead - behind, cotangent) / (2 * step)
        return change.astype(scores.dtype)

    return probabilities(np.array(scores, order="K")), jvp, vjp, vjp_derivative
