"""Scorers for ``scoring=``, for labels, label sets and distributions alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from .._utils.arrays import on_host
from .._utils.checks import in_order
from .._utils.fitted import last_step, predict_by
from .._utils.typing import ArrayLike, MatrixLike
from ..mappings import MappingLike
from ._losses import brier_loss, fenchel_young_loss, mean_support_size


class Scorer(BaseEstimator, ABC):
    """A callable ``scorer(estimator, X, y)`` that uses the fitted model's target type.

    It is a scikit-learn object, so that it can be cloned inside a grid search.
    ``set_score_request`` requests the routing of ``sample_weight``, and of arguments
    of the estimator's predictions. A subclass implements ``_score``.
    """

    __metadata_request__score = {"estimator": UNUSED}
    #: Whether models with the same predictions have the same score. Then a search
    #: computes it once.
    sees_predictions_only = True

    def score(
        self,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        available: MatrixLike | None = None,
        offset: MatrixLike | None = None,
    ) -> float:
        """Score of a fitted estimator on some rows.

        Parameters
        ----------
        estimator : estimator
            Fitted, with the methods that the class names; also a pipeline or a search.
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like or sparse matrix, default=None
            The truth, of the kind that was fitted. Sizes do not need it.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        available, offset : array-like of shape (n_samples, n_classes), default=None
            Arguments of the estimator's predictions about these rows.

        Returns
        -------
        score : float

        Raises
        ------
        ValueError
            If the estimator has no such method, or an argument is not allowed.
        """
        y = in_order("y", y, getattr(estimator, "classes_", []))
        arguments = {"available": available, "offset": offset}
        return self._score(estimator, X, y, sample_weight, arguments)

    __call__ = score

    @abstractmethod
    def _score(self, estimator, X, y, sample_weight, arguments):
        """Score, of a target whose columns are in the order of the classes.

        Parameters are those of :meth:`score`; `arguments` are the arguments of the
        estimator's predictions by name.
        """

    def _accept_sample_weight(self):
        # scikit-learn calls this for a scorer in a dict, without metadata routing.
        return True


class FenchelYoungScorer(Scorer):
    """A scorer: minus the mean Fenchel-Young loss, which is always finite.

    The estimator needs ``decision_function``.

    Parameters
    ----------
    mapping : str, Mapping or None, default=None
        The mapping of the loss. None stands for the mapping of the fitted model. To
        compare models with different mappings, set the same mapping for all of them:
        losses of different mappings are on different scales.

    See Also
    --------
    fenchel_young_loss : The loss itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from skprob import SparsemaxClassifier
    >>> from skprob.metrics import FenchelYoungScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = cross_val_score(
    ...     SparsemaxClassifier(), X, y, scoring=FenchelYoungScorer()
    ... )
    >>> bool((scores <= 0).all())
    True
    """

    def __init__(self, mapping: MappingLike | None = None) -> None:
        self.mapping = mapping

    def _score(self, estimator, X, y, sample_weight, arguments):
        model = last_step(estimator)
        if not hasattr(estimator, "decision_function"):
            raise ValueError(
                "estimator must have decision_function for FenchelYoungScorer; "
                f"{type(model).__name__} has none. Use BrierScorer, which needs "
                "predict_proba."
            )
        mapping = self.mapping
        if mapping is None:
            if not hasattr(model, "mapping_"):
                raise ValueError(
                    f"{type(model).__name__} has no mapping: pass the mapping of the "
                    "loss, as in FenchelYoungScorer('softmax')."
                )
            mapping = model.mapping_
        return -fenchel_young_loss(
            y,
            predict_by("decision_function", estimator, X, **arguments),
            mapping=mapping,
            sample_weight=sample_weight,
            **_target_of(estimator),
        )


class BrierScorer(Scorer):
    """A scorer: minus the mean squared distance of the probabilities to the target.

    It works for all three kinds of target and is comparable between mappings. Use it to
    choose a mapping, or its alpha.

    The estimator needs ``predict_proba``.

    See Also
    --------
    brier_loss : The loss itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from skprob import EntmaxClassifier
    >>> from skprob.metrics import BrierScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchCV(
    ...     EntmaxClassifier(C=1.0), {"alpha": [1, 1.5, 2]}, scoring=BrierScorer()
    ... ).fit(X, y)
    >>> search.best_params_
    {'alpha': 2}
    """

    def _score(self, estimator, X, y, sample_weight, arguments):
        return -brier_loss(
            y,
            predict_by("predict_proba", estimator, X, **arguments),
            sample_weight=sample_weight,
            **_target_of(estimator),
        )


class SupportSizeScorer(Scorer):
    """Mean number of classes with positive probability.

    Report it together with a score (``scoring`` may be a dict). Do not maximise it.

    The estimator needs ``predict_proba``.

    See Also
    --------
    mean_support_size : The metric itself.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_validate
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.metrics import SupportSizeScorer
    >>> X, y = load_iris(return_X_y=True)
    >>> result = cross_validate(
    ...     SoftmaxClassifier(), X, y, scoring={"support": SupportSizeScorer()}
    ... )
    >>> result["test_support"]
    array([3., 3., 3., 3., 3.])
    """

    def _score(self, estimator, X, y, sample_weight, arguments):
        p = predict_by("predict_proba", estimator, X, **arguments)
        return mean_support_size(p, sample_weight=sample_weight)


def _target_of(estimator):
    """The arguments of a metric that say what the truth is."""
    target_type = getattr(last_step(estimator), "target_type_", "auto")
    # A model of candidates predicts a class, and is scored on labels.
    if target_type == "candidates":
        target_type = "class"
    classes = estimator.classes_ if target_type in ("auto", "class") else None
    # Some classifiers of label sets have a list with the values 0 and 1 of each label.
    is_list = classes is None or isinstance(classes, list)
    return {
        "classes": None if is_list else on_host(classes),
        "target_type": target_type,
    }
