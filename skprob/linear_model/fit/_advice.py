"""The warning about a fit that did not converge, with advice."""

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._utils.arrays import numpy_dtype
from ..._utils.warnings import warn
from ...losses import LogLoss


def warn_not_converged(fit):
    """Warn that a fit did not converge, and say what would help."""
    spec, solution = fit.spec, fit.solution
    larger = {"max_iter": f"max_iter (now {spec.max_iter})", "tol": "tol"}
    larger = [text for name, text in larger.items() if name in solution.remedies]
    advice = ["increase " + " or ".join(larger)] if larger else []
    traits = spec.loss.mapping.traits
    if isinstance(spec.loss, LogLoss) and traits.has_zeros and traits.has_potential:
        # Its gradient jumps where a probability becomes zero.
        advice.append("take loss='auto', which is smoother")
    is_stalled = "tol" in solution.remedies and "max_iter" not in solution.remedies
    if is_stalled and numpy_dtype(fit.model.coef) == np.float32:
        advice.append("give X as float64")
    # Cosines have no penalty, and some mappings leave it out.
    is_penalised = (
        spec.unit_rows is None and not spec.loss.mapping.traits.is_scale_invariant
    )
    if "penalty" in solution.remedies and is_penalised:
        factors = spec.penalty_factors
        if factors is not None and spec.C < np.inf and (factors == 0).any():
            # These features are not penalised at any C.
            advice.append("give all features a positive penalty factor")
        else:
            advice.append(f"lower C (now {spec.C:.3g})")
    if "values" in solution.remedies:
        advice = ["correct these values, or limit them by numpy.clip"]
    advice = ", or ".join(advice)
    warn(
        f"{spec.name} did not converge: {solution.message}. "
        f"{advice[:1].upper() + advice[1:]}.",
        ConvergenceWarning,
    )
