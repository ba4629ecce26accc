"""Linear classifier with cosine scores and an additive margin."""

from .._validation import RealInterval
from ..mappings import Softmax, Temperature
from ._base import BaseLinearClassifier
from ._docstrings import with_shared_sections

_NOT_A_CHOICE = {"loss", "similarity", "temperature", "C", "fit_intercept"}


@with_shared_sections
class AMSoftmaxClassifier(BaseLinearClassifier):
    """Additive-margin softmax: cosine scores, a margin in training, a scale.

    The scores are the cosines between a row and the class vectors. In training the
    target's cosine is lowered by the margin and all are multiplied by the scale before
    the softmax, so that classes come to lie apart in angle; predictions use the plain
    cosines. The method is also called CosFace.

    It is ``LinearClassifier("softmax", similarity="cosine", margin=margin,
    temperature=1/scale)``, whose loss is this one divided by the scale.

    Parameters
    ----------
    margin : float, default=0.35
        In units of the cosine.
    scale : float, default=30.0
        What cosines are multiplied by to give scores; positive.
    {parameters}

    Attributes
    ----------
    {attributes}

    See Also
    --------
    LinearClassifier : Any mapping and loss with cosines and a margin.

    References
    ----------
    Wang, Cheng, Liu, Liu, "Additive margin softmax for face verification", IEEE
    Signal Processing Letters 2018.

    Wang et al., "CosFace: large margin cosine loss for deep face recognition", CVPR
    2018.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from skprob import AMSoftmaxClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = AMSoftmaxClassifier().fit(X, y)
    >>> model.decision_function(X[:1]).round(2)
    array([[...]])
    """

    _parameter_constraints: dict = {
        **{
            name: allowed
            for name, allowed in BaseLinearClassifier._parameter_constraints.items()
            if name not in _NOT_A_CHOICE
        },
        "scale": [RealInterval(0, None, closed="neither")],
    }

    def __init__(
        self,
        margin=0.35,
        scale=30.0,
        *,
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
            similarity="cosine",
            margin=margin,
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
        self.scale = scale

    def _mapping(self):
        return Temperature(Softmax(), 1 / self.scale)
