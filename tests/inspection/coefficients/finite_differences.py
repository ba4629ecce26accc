"""Derivatives and covariances of losses by finite differences."""

import numpy as np


def numerical_derivatives(losses, parameters):
    """Gradients of the losses of rows, and the Hessian of their sum.

    Parameters
    ----------
    losses : callable
        From parameters to the losses (n_samples,).
    parameters : ndarray of shape (n_parameters,)

    Returns
    -------
    gradients : ndarray of shape (n_parameters, n_samples)
    hessian : ndarray of shape (n_parameters, n_parameters)
    """

    def gradients(at, h=1e-5):
        steps = h * np.eye(len(at))
        return np.array([(losses(at + s) - losses(at - s)) / (2 * h) for s in steps])

    h = 1e-4
    hessian = np.array(
        [
            (gradients(parameters + s) - gradients(parameters - s)).sum(axis=1)
            / (2 * h)
            for s in h * np.eye(len(parameters))
        ]
    )
    return gradients(parameters), hessian
