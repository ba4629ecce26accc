"""The negative entropy of perturb-max: the convex conjugate of its potential."""

import numpy as np

# Most Newton steps, including halved ones.
_MAX_STEPS = 100
# Residual in log p at which the search stops. The error of Ω is about its square.
_CLOSE = 1e-7


def conjugate(q, log_jacobian, potential):
    """Ω(q) = max over z of <q, z> - F(z), for unit noise, row by row.

    At the maximum p(z) = q. Newton's method solves this equation for log p(z), for
    softmax in one step. A step that does not reduce the residual is halved. A class
    with q = 0 is not available.

    Parameters
    ----------
    q : ndarray of shape (n_rows, n_classes)
        Rows on the probability simplex.
    log_jacobian : callable
        From standard scores to log-probabilities and their Jacobian.
    potential : callable
        From standard scores to F.
    """
    inside = q > 0
    log_q = np.log(q, where=inside, out=np.zeros_like(q))
    z = np.where(inside, 0, -np.inf)
    step = log_q - np.where(inside, log_q, -np.inf).max(axis=1, keepdims=True)
    residual = np.full_like(q, np.inf)
    todo = np.arange(len(q))
    for _ in range(_MAX_STEPS):
        trial = z[todo] + step[todo]
        trial -= trial.max(axis=1, keepdims=True)
        log_p, jacobian = log_jacobian(trial.copy())
        new_residual = np.where(inside[todo], log_q[todo] - log_p, 0)
        size = np.abs(residual[todo]).max(axis=1)
        is_better = np.abs(new_residual).max(axis=1) < size
        step[todo[~is_better]] /= 2
        rows = todo[is_better]
        z[rows], residual[rows] = trial[is_better], new_residual[is_better]
        is_far = np.abs(residual[todo]).max(axis=1) > _CLOSE
        if not is_far.any():
            break
        step[rows] = _newton_step(jacobian[is_better], residual[rows], inside[rows])
        todo = todo[is_far & (np.abs(step[todo]).max(axis=1) > 1e-14)]
    inner = np.where(inside, q * np.where(inside, z, 0), 0).sum(axis=1)
    return inner - potential(z)


def _newton_step(jacobian, residual, inside):
    # The Jacobian is singular along (1, ..., 1), so a constant is added to it. The step
    # of an absent class is zero.
    both_inside = inside[:, :, None] & inside[:, None, :]
    matrix = np.where(both_inside, jacobian + 1 / inside.sum(axis=1)[:, None, None], 0)
    index = np.arange(residual.shape[1])
    matrix[:, index, index] += ~inside
    return np.linalg.solve(matrix, residual[..., None])[..., 0]
