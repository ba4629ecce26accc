"""Linear classifier with softmax."""

from ...mappings import Softmax
from .._docstrings import with_shared_sections
from ..base import BaseLinearClassifier


@with_shared_sections
class SoftmaxClassifier(BaseLinearClassifier):
    """Multinomial logistic regression, the model of scikit-learn's LogisticRegression.

    At convergence its coefficients and probabilities are those of
    :class:`~sklearn.linear_model.LogisticRegression`. It can also learn label sets and
    distributions, and converges quickly on badly scaled features.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    sklearn.linear_model.LogisticRegression : The same model.
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Probabilities that can be exactly zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SoftmaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxClassifier().fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(2)
    array([[0.98, 0.02, 0.  ],
           [0.  , 0.44, 0.56]])
    """

    def _mapping(self):
        return Softmax()
