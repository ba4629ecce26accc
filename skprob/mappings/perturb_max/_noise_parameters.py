"""What can be learnt of a noise, as a vector: its shape, and the loadings."""

from typing import Any

import numpy as np

from .noises import NOISES, ShapedNoise, get_noise

# Larger loadings are beyond the nodes of the average over the factors.
_LARGEST_LOADING = 20.0


def has_shape(noise):
    """Whether a noise, or the one of a name, has a shape."""
    return isinstance(get_noise(noise), ShapedNoise)


def check_shape(noise: Any) -> None:
    """Raise where a noise has no shape parameter."""
    if not has_shape(noise):
        shaped = [
            f"{name!r} or {type(known).__name__}({known.shape()})"
            for name, known in NOISES.items()
            if isinstance(known, ShapedNoise)
        ]
        raise ValueError(
            f"noise must have a shape parameter, to estimate it or to differentiate in "
            f"it; {noise!r} has none. Noises with one: {', '.join(shaped)}."
        )


def parameters_of(noise, loadings):
    """The coordinate of the shape, if there is one, and the free loadings, if any."""
    shape = [get_noise(noise).coordinate] if has_shape(noise) else []
    if loadings is None:
        return np.array(shape)
    free = standard_loadings(loadings)[1:]
    return np.append(shape, free[np.tril(np.ones(free.shape, dtype=bool))])


def bounds_of(noise, loadings):
    """The least and the largest value of each."""
    shape = [get_noise(noise).coordinate_bounds()] if has_shape(noise) else []
    n_free = len(parameters_of(noise, loadings)) - len(shape)
    return shape + [(-_LARGEST_LOADING, _LARGEST_LOADING)] * n_free


def at_parameters(noise, loadings, parameters):
    """Noise and loadings of other parameters; in all else like these."""
    if has_shape(noise):
        (value, *parameters), known = parameters, get_noise(noise)
        noise = known.of_coordinate(float(value)).within_bounds()
    if loadings is not None:
        free = np.zeros(np.subtract(np.shape(loadings), (1, 0)))
        free[np.tril(np.ones(free.shape, dtype=bool))] = parameters
        loadings = np.vstack([np.zeros(free.shape[1]), free])
    return noise, loadings


def pulled_back(noise, loadings, gradient):
    """A gradient in the coordinate and in all loadings, in the parameters."""
    n_shape = int(has_shape(noise))
    if loadings is None:
        return gradient
    of_loadings = gradient[:, n_shape:].reshape(-1, *np.shape(loadings))[:, 1:]
    free = np.tril(np.ones(of_loadings.shape[1:], dtype=bool))
    return np.concatenate([gradient[:, :n_shape], of_loadings[:, free]], axis=1)


def standard_loadings(loadings):
    """Loadings that mean the same, of which the first class has none.

    Only the differences of rows count, and factors may be turned: those of the second
    class are all in the first factor, of the third in the first two, and so on, and the
    diagonal is not negative.
    """
    loadings = np.asarray(loadings, dtype=np.float64)
    differences = loadings[1:] - loadings[0]
    n_factors = differences.shape[1]
    lower = np.linalg.qr(differences.T, mode="r").T
    lower = lower * np.where(np.diag(lower) < 0, -1, 1)
    standard = np.zeros((len(loadings), n_factors))
    standard[1:, : lower.shape[1]] = lower
    return standard
