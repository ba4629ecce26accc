"""The names of the solvers, and the choice of one for a problem."""

import math

from .._utils.tuning import Tuning

#: Every name that is accepted as ``solver``.
SOLVERS = ("auto", "lbfgs", "newton-cg", "newton-cholesky")


def method_for(description, tuning=Tuning()):
    """Name of the solver that "auto" stands for.

    The first rule that applies is used:

    1. "lbfgs" if the objective is not convex or its Hessian is not bounded.
    2. "newton-cholesky" if the whole Hessian costs at most 2e6 multiplications or, for
       remote rows, no more than a round trip.
    3. "lbfgs" if raw predictions are many, or the rows are remote. It takes 0.4 to 1.2
       times as many round trips as "newton-cg", and stores no arrays of the rows.
    4. "newton-cg" for all other problems.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.objective import Description
    >>> from skprob.solvers import method_for
    >>> mnist = Description(
    ...     n_rows=60_000, n_stored=60_000 * 784, shape=(10, 785), dtype=np.dtype("f8")
    ... )
    >>> method_for(mnist)
    'newton-cg'
    """
    if not (description.is_convex and description.has_bounded_hessian):
        return "lbfgs"
    n_rows, (n_outputs, size) = description.n_rows, description.shape
    n_pairs = n_outputs * (n_outputs + 1) / 2
    hessian = n_rows * n_pairs * size**2 + (n_outputs * size) ** 3 / 3
    round_trip = tuning.round_trip_cost * description.is_remote
    if hessian <= max(tuning.largest_hessian_cost, round_trip):
        return "newton-cholesky"
    most = max(
        tuning.many_raw_predictions * description.n_stored,
        tuning.most_numbers / tuning.numbers_kept,
    )
    has_many = n_rows * n_outputs > most
    return "lbfgs" if has_many or description.is_remote else "newton-cg"


# Most parameters of a whole Hessian, with which it takes 800 MB, and its factor
# minutes.
_MOST_PARAMETERS = 10_000


def check_hessian(description):
    """Raise if the whole Hessian cannot be computed."""
    n_parameters = math.prod(description.shape)
    if not (description.is_linear and description.is_convex):
        raise ValueError(
            "solver='newton-cholesky' needs a convex loss of linear scores, which this "
            "fit does not have. Use solver='auto'."
        )
    if n_parameters > _MOST_PARAMETERS:
        raise ValueError(
            f"solver='newton-cholesky' needs at most {_MOST_PARAMETERS:,} parameters, "
            f"because it computes the whole Hessian; got {n_parameters:,}. Use "
            "solver='newton-cg'."
        )
