"""When to begin under a stronger penalty than the objective's own.

Where nearly all rows can be told apart, a loss that vanishes takes its curvature with
it: the model of a step no longer knows of the rows that are far on their side, and the
step goes too far for them. Under a stronger penalty they stay near. Its minimum is on
the way to the objective's own, and so need not be reached: the path is left as soon as
it becomes slow.
"""

# The penalty to begin with, in units of the objective's own.
_TIMES = 10
# Nearly all rows are told apart where so little is left of the first objective.
_LITTLE = 0.5
# Of the objective; a step that lowers it by less is slow, unless it was cut short.
_SLOW = 0.2
_WHOLE = 0.5


def under_stronger_penalty(objective, initial):
    """The objective to begin with, if there can be one; else None.

    Parameters
    ----------
    objective : object
        With ``is_convex``; with ``coef_shape``, ``l2`` and ``with_penalty(l2)`` if
        there can be one.
    initial : ndarray of shape (n_parameters,)
        Zeros are where little is known of the way.
    """
    if not (objective.is_convex and hasattr(objective, "with_penalty")):
        return None
    # With one output there is nothing to gain: the Gram matrix is all of the Hessian,
    # and steps are few.
    if objective.l2 == 0 or objective.coef_shape[0] == 1 or initial.any():
        return None
    return objective.with_penalty(_TIMES * objective.l2)


def promises_little(value, square):
    """Whether a first step may leave little of an objective.

    Parameters
    ----------
    value : float
        The objective where the step begins.
    square : float
        Twice by how much a quadratic model of the objective falls.
    """
    return value - square / 2 < _LITTLE * value


def has_served(first_value, before, after, length):
    """Whether the stronger penalty is no longer of use.

    Parameters
    ----------
    first_value, before, after : float
        The objective under it, at the beginning and before and after the last step.
    length : float
        How much of the step was taken.
    """
    is_slow = length >= _WHOLE and before - after < _SLOW * after
    return is_slow or after > _LITTLE * first_value
