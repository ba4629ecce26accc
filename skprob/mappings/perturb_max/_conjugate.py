"""The negative entropy of perturb-max: the convex conjugate of its potential."""

import numpy as np

_MAX_STEPS = 100
# In log p; the conjugate errs by the square.
_CLOSE = 1e-7


def conjugate(q, log_jacobian, potential):
    """Ω(q) = max over z of <q, z> - F(z), for unit noise, row by row.

    The maximum is where p(z) = q. That is solved by Newton's method for log p(z), for
    softmax in one step; a step that does not help is halved. Where q is zero a class
    is not available.

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
        new = np.where(inside[todo], log_q[todo] - log_p, 0)
        better = np.abs(new).max(axis=1) < np.abs(residual[todo]).max(axis=1)
        step[todo[~better]] /= 2
        rows = todo[better]
        z[rows], residual[rows] = trial[better], new[better]
        far = np.abs(residual[todo]).max(axis=1) > _CLOSE
        if not far.any():
            break
        step[rows] = _newton_step(jacobian[better], residual[rows], inside[rows])
        todo = todo[far & (np.abs(step[todo]).max(axis=1) > 1e-14)]
    inner = np.where(inside, q * np.where(inside, z, 0), 0).sum(axis=1)
    return inner - potential(z)


def _newton_step(jacobian, residual, inside):
    # Moving all scores alike changes nothing; classes that are absent stay put.
    both = inside[:, :, None] & inside[:, None, :]
    matrix = np.where(both, jacobian + 1 / inside.sum(axis=1)[:, None, None], 0)
    index = np.arange(residual.shape[1])
    matrix[:, index, index] += ~inside
    return np.linalg.solve(matrix, residual[..., None])[..., 0]
