"""The training objective of a linear model: mean loss plus ridge penalty."""

import numpy as np

from ._base import Linearization, MeanLoss
from ._blocks import block_moments


class LinearObjective(MeanLoss):
    """Weighted mean loss of linear scores plus a ridge penalty.

    The objective is Σ_i s_i ℓ(scores_i; q_i) + ½ l2 ‖W‖², with weights s_i that sum
    to one. With l2 = 1/(C Σs), over the weights before they were normalised, it is
    scikit-learn's. Parameters are one flat float64 vector: W row by row, then the
    intercepts if there are any. Two classes have one coefficient row.

    Parameters
    ----------
    blocks : sequence of Block
        Iterated over at every evaluation. The weights of all blocks sum to one.
    loss : Loss
        Checked, with its mapping.
    l2 : float
        Strength of the penalty; the intercepts are free.
    fit_intercept : bool, default=True

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.losses import FenchelYoungLoss, SparseTarget
    >>> from skprob.mappings import Softmax
    >>> from skprob.objective import LinearObjective, split_rows
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> target = SparseTarget.from_labels(np.array([0, 1, 2]), n_classes=3)
    >>> objective = LinearObjective(
    ...     split_rows(X, target, np.ones(3)), FenchelYoungLoss(Softmax()), l2=0.1
    ... )
    >>> value, gradient = objective.value_and_gradient(np.zeros(6))
    >>> round(value, 4)  # log(3)
    1.0986
    >>> gradient.round(4) + 0.0
    array([ 0.3333,  0.    , -0.3333,  0.    ,  0.    ,  0.    ])
    """

    def __init__(self, blocks, loss, *, l2, fit_intercept=True):
        super().__init__(blocks, loss)
        self.l2 = l2
        self.fit_intercept = fit_intercept
        n_classes = blocks[0].target.shape[1]
        self.coef_shape = (1 if n_classes == 2 else n_classes, blocks[0].X.shape[1])

    @property
    def n_parameters(self):
        """Length of the parameter vector."""
        n_outputs, n_features = self.coef_shape
        return n_outputs * (n_features + self.fit_intercept)

    def pack(self, coef, intercept):
        """Parameter vector of coefficients and intercepts."""
        parts = [np.ravel(coef), intercept] if self.fit_intercept else [np.ravel(coef)]
        return np.concatenate(parts).astype(np.float64, copy=False)

    def unpack(self, parameters):
        """Coefficients (M, n_features) and intercepts (M,) of a parameter vector."""
        n_outputs, n_features = self.coef_shape
        size = n_outputs * n_features
        coef = parameters[:size].reshape(self.coef_shape)
        intercept = parameters[size:] if self.fit_intercept else np.zeros(n_outputs)
        return coef, intercept

    def initial(self):
        """Parameters to start from: zeros."""
        return np.zeros(self.n_parameters)

    def value_and_gradient(self, parameters):
        """Value and gradient, in one pass over the data.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_parameters,)
        """
        coef, intercept = self.unpack(parameters)
        value, *gradient = self.mean_loss(coef, intercept)
        return self._penalised(coef, value, gradient)

    def linearize(self, parameters):
        """Value, gradient and Hessian product at parameters.

        Parameters
        ----------
        parameters : ndarray of shape (n_parameters,)

        Returns
        -------
        linearization : Linearization
        """
        coef, intercept = self.unpack(parameters)
        value, *gradient, product = self.mean_loss_linearization(coef, intercept)

        def hessian_product(direction):
            along_coef, along_intercept = self.unpack(direction)
            coef_part, intercept_part = product(along_coef, along_intercept)
            coef_part += self.l2 * along_coef
            return self.pack(coef_part, intercept_part)

        return Linearization(*self._penalised(coef, value, gradient), hessian_product)

    def feature_moments(self):
        """Weighted mean and standard deviation of each feature.

        Returns
        -------
        mean, deviation : ndarray of shape (n_features,)
        """
        parts = zip(*map(block_moments, self.blocks), strict=True)
        total, means, within = map(np.array, parts)
        share = total / total.sum()
        mean = share @ means
        spread = np.hypot(within, means - mean)
        unit = spread.max(axis=0)
        unit[unit == 0] = 1
        return mean, unit * np.sqrt(share @ (spread / unit) ** 2)

    def _penalised(self, coef, value, gradient):
        coef_gradient, intercept_gradient = gradient
        coef_gradient += self.l2 * coef
        value += self.l2 / 2 * np.vdot(coef, coef)
        return float(value), self.pack(coef_gradient, intercept_gradient)
