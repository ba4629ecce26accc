"""Text of the reason why a solver ended before all criteria were met."""


def why_it_ended(verdict, value, *, is_unbounded, was_stopped, max_iter):
    """The message of a solution that is not the minimum, and its remedies.

    Parameters
    ----------
    verdict : Verdict
        Verdict on the last point.
    value : float
        Value of the objective there.
    is_unbounded : bool
        Whether there is no minimum.
    was_stopped : bool
        Whether a callback has stopped the solver.
    max_iter : int
        Largest number of iterations, for the message.

    Returns
    -------
    message : str
    remedies : tuple of str
        As for :class:`~skprob.solvers.Solution`.
    """
    if is_unbounded:
        message = (
            "no optimum exists, because rows or classes can be told apart without "
            "an error and nothing keeps the coefficients from growing"
        )
        return message, ("penalty",)
    if was_stopped:
        return "stopped by a callback", ("max_iter", "tol", "penalty")
    unmet = _shortfall(verdict, value)
    if verdict.is_stalled:
        message = f"no step lowers the objective in this precision, but {unmet}"
        return message, ("tol", "penalty")
    message = f"after max_iter={max_iter} iterations {unmet}"
    return message, ("max_iter", "tol", "penalty")


def _shortfall(verdict, value):
    """Text of the reason why the last criterion of a verdict is not met."""
    gradient, last = verdict.rows[0], verdict.rows[-1]
    norm, tol = gradient.value, gradient.limit
    if last is gradient:
        return f"the largest gradient entry is {norm:.3g}, above tol={tol:.3g}"
    within = f"although the largest gradient entry, {norm:.3g}, is within tol"
    if last.name == "duality gap":
        return (
            f"the duality gap is {last.value:.3g}, above {last.limit:.3g}, with "
            f"the objective at {value:.6g}, {within}"
        )
    return (
        f"the objective, {value:.6g}, may still fall by about {last.value:.3g}, "
        f"more than tol={tol:.3g} allows ({last.limit:.3g}), {within}"
    )
