"""Linear classifier with sparsemax."""

from ..mappings import Sparsemax
from ._base import BaseLinearClassifier
from ._docstrings import with_shared_sections


@with_shared_sections
class SparsemaxClassifier(BaseLinearClassifier):
    """Linear classifier with sparsemax probabilities, many of them exactly zero.

    The probabilities are the Euclidean projection of the scores onto the simplex,
    and the loss is the convex sparsemax loss.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping; the objective is given there.
    EntmaxClassifier : Between softmax and sparsemax, by a parameter.

    References
    ----------
    Martins, Astudillo, "From softmax to sparsemax: a sparse model of attention and
    multi-label classification", ICML 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SparsemaxClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SparsemaxClassifier().fit(X, y)
    >>> model.predict_proba(X[[0, 70]]).round(3)
    array([[1.   , 0.   , 0.   ],
           [0.   , 0.465, 0.535]])
    """

    def __init__(
        self,
        *,
        loss="auto",
        similarity="dot",
        margin=0.0,
        temperature=1.0,
        C="auto",
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
        return Sparsemax()
