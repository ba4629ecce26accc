"""Checks of what the kernels of a mapping return to a loss."""

from ..mappings import get_mapping


def check_shape(mapping, what, array, shape):
    """Raise if the result of a kernel of a mapping has a wrong shape."""
    if array.shape != shape:
        raise ValueError(
            f"The mapping must give {what} of shape {shape} for these scores; "
            f"{mapping!r} gave {array.shape}."
        )


def check_second_derivatives(loss, linear):
    """Raise if the linearization of a loss's mapping has no second derivatives."""
    if linear.vjp_derivative is None:
        raise TypeError(
            f"The Hessian of {type(loss).__name__} needs second derivatives of "
            f"{get_mapping(loss.mapping)!r}, but its linearize returns no "
            "vjp_derivative."
        )
