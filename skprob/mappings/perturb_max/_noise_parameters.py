"""The parameters of a noise that can be learnt, as a vector: shape and loadings."""

from typing import Any

import numpy as np

from .noises import NOISES, ShapedNoise, get_noise

# Largest loading: the average over the factors has too few nodes for larger ones.
_LARGEST_LOADING = 20.0


def has_shape(noise):
    """Whether a noise, given as an object or a name, has a shape parameter."""
    return isinstance(get_noise(noise), ShapedNoise)


def check_shape(noise: Any) -> None:
    """Raise if a noise has no shape parameter."""
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
    others = standard_loadings(loadings)[1:]
    return np.append(shape, others[_is_free(loadings)])


def bounds_of(noise, loadings):
    """Lower and upper bound of each parameter."""
    shape = [get_noise(noise).coordinate_bounds()] if has_shape(noise) else []
    n_free = len(parameters_of(noise, loadings)) - len(shape)
    return shape + [(-_LARGEST_LOADING, _LARGEST_LOADING)] * n_free


def at_parameters(noise, loadings, parameters):
    """Noise and loadings with other values of the parameters."""
    if has_shape(noise):
        value, *parameters = parameters
        noise = get_noise(noise).of_coordinate(float(value)).within_bounds()
    if loadings is not None:
        is_free = _is_free(loadings)
        loadings = np.zeros(np.shape(loadings))
        loadings[1:][is_free] = parameters
    return noise, loadings


def pulled_back(noise, loadings, gradient):
    """Columns of the free parameters of a gradient in the shape and all loadings."""
    n_shape = int(has_shape(noise))
    if loadings is None:
        return gradient
    of_loadings = gradient[:, n_shape:].reshape(-1, *np.shape(loadings))[:, 1:]
    of_free = of_loadings[:, _is_free(loadings)]
    return np.concatenate([gradient[:, :n_shape], of_free], axis=1)


def standard_loadings(loadings):
    """Loadings with the same probabilities, in a form that identifies them.

    The probabilities depend on differences of rows only, and factors may be rotated.
    So the first row is zero, the second one has the first factor only, the third one
    the first two, and so on. The diagonal is not negative.
    """
    loadings = np.asarray(loadings, dtype=np.float64)
    differences = loadings[1:] - loadings[0]
    n_factors = differences.shape[1]
    lower = np.linalg.qr(differences.T, mode="r").T
    lower = lower * np.where(np.diag(lower) < 0, -1, 1)
    standard = np.zeros((len(loadings), n_factors))
    standard[1:, : lower.shape[1]] = lower
    return standard


def _is_free(loadings):
    """Which of the standard loadings, after the first row, are not always zero."""
    n_classes, n_factors = np.shape(loadings)
    return np.tri(n_classes - 1, n_factors, dtype=bool)
