"""Checked values of functions of users, with errors that name the argument."""

import numpy as np

# Largest relative difference between a derivative and differences of the function.
_TOLERANCE = 0.02


def values_of(name, function, x):
    """Values of a function of one number, for an array of arguments.

    Parameters
    ----------
    name : str
        Name of the function: the argument of the mapping.
    function : callable
    x : ndarray of float64
        The function gets a copy: it may overwrite it.

    Returns
    -------
    values : ndarray of float64, of the shape of `x`
        A new array, not a view of one of the function.

    Raises
    ------
    ValueError
        If the function returns anything but real numbers of the shape of `x`, in double
        precision.
    """
    with np.errstate(all="ignore"):
        returned = function(x.copy(order="K"))
    try:
        values = np.asarray(returned)
    except ValueError:  # Lists of different lengths are not an array.
        values = np.array(None)
    if values.dtype.kind not in "fiub" or values.shape != x.shape:
        if isinstance(returned, np.ndarray):
            kind = f"shape {values.shape} and dtype {values.dtype}"
        else:
            kind = "None" if returned is None else f"a {type(returned).__name__}"
        raise ValueError(
            f"{name} must return real numbers, in an array of the shape of its "
            f"argument, {x.shape}; it returned {kind}."
        )
    if values.dtype.kind == "f" and np.finfo(values.dtype).eps > 1e-15:
        raise ValueError(
            f"{name} must be computed in float64, the type of its argument; it "
            f"returned {values.dtype}."
        )
    return np.array(values, dtype=np.float64)


def check_values(name, x, values, good, requirement):
    """Raise if a value of a function of a user is not good.

    Parameters
    ----------
    name : str
        Name of the function: the argument of the mapping.
    x, values : ndarray
    good : ndarray of bool of the same shape
    requirement : str
        What the function must do, as the end of a sentence that begins with its name.
    """
    if not good.all():
        at, value = x[~good].flat[0], values[~good].flat[0]
        raise ValueError(f"{name} must {requirement}; {name}({at:.6g}) is {value:.6g}.")


def check_derivative(name, derivative, function_name, function, x, step):
    """Raise if a derivative does not agree with differences of its function.

    Parameters
    ----------
    name, function_name : str
        Names of both, as arguments of the mapping.
    derivative, function : callable
        Functions of an array of float64. Points with infinite values are not checked.
    x : ndarray of shape (n_points,)
    step : ndarray of shape (n_points,)
        Steps of the differences.

    Raises
    ------
    ValueError
        If they differ at more than half of the points. At a kink any slope between the
        slopes of both sides is correct.
    """
    with np.errstate(all="ignore"):
        behind, middle, ahead = (function(x + n * step) for n in (-1, 0, 1))
        slopes = np.stack([(middle - behind) / step, (ahead - middle) / step])
    is_finite = np.isfinite(slopes).all(axis=0)
    if not is_finite.any():
        return
    x, slopes = x[is_finite], slopes[:, is_finite]
    claimed = derivative(x)
    size = np.abs(slopes).max(axis=0)
    allowed = _TOLERANCE * size + 1e-7 * size.max()
    least, most = slopes.min(axis=0) - allowed, slopes.max(axis=0) + allowed
    wrong = ~((least <= claimed) & (claimed <= most))
    if np.count_nonzero(wrong) > len(x) / 2:
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{name} must be the derivative of {function_name}; {name}({x[at]:.6g}) is "
            f"{claimed[at]:.6g}, and differences of {function_name} there are "
            f"{slopes[:, at].mean():.6g}. They differ at {np.count_nonzero(wrong)} of "
            f"{len(x)} points."
        )
