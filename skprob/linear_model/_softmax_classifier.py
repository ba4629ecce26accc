"""Linear classifier with softmax."""

from ..mappings import Softmax
from ._base import BaseLinearClassifier
from ._docstrings import with_shared_sections


@with_shared_sections
class SoftmaxClassifier(BaseLinearClassifier):
    """Linear classifier with softmax probabilities: multinomial logistic regression.

    At convergence its coefficients and probabilities are those of
    :class:`~sklearn.linear_model.LogisticRegression`. Beyond it, it learns label sets
    and distributions, and does not mind badly scaled features.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Probabilities that can be exactly zero.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SoftmaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SoftmaxClassifier().fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(3)
    array([[0.982, 0.018, 0.   ],
           [0.002, 0.44 , 0.558]])
    """

    def __init__(
        self,
        *,
        loss="auto",
        similarity="dot",
        margin=0.0,
        temperature=1.0,
        C=1.0,
        fit_intercept=True,
        class_weight=None,
        label_smoothing=0.0,
        target_type="auto",
        class_names=None,
        none_class=True,
        threshold="auto",
        sparse_output=False,
        solver="auto",
        tol=1e-4,
        max_iter=1000,
        warm_start=False,
        verbose=0,
    ):
        super().__init__(
            loss=loss,
            similarity=similarity,
            margin=margin,
            temperature=temperature,
            C=C,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            label_smoothing=label_smoothing,
            target_type=target_type,
            class_names=class_names,
            none_class=none_class,
            threshold=threshold,
            sparse_output=sparse_output,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            warm_start=warm_start,
            verbose=verbose,
        )

    def _mapping(self):
        return Softmax()
