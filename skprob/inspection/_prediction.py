"""One row's prediction: the classes that are possible, and how probable each is."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse

from .._typing import Array, ArrayLike, Axes, MatrixLike
from .._validation import as_distributions
from ._input import check_count, check_row
from ._matplotlib import POSSIBLE, PREDICTED, axes_for


class PredictionDisplay:
    """Probabilities of one row, of the classes that have any.

    Each possible class is a bar, the most probable one on top; classes that are ruled
    out are only counted. Those that are predicted have a darker bar. Where the truth
    is given, a mark stands at the share of each true class: at 1 for a label, at 1/n
    for each label of a set of n, and for a distribution at its probability. A true
    class that was ruled out is a mark without a bar.

    Use :meth:`from_estimator` or :meth:`from_predictions` to make one.

    Parameters
    ----------
    probabilities : ndarray of shape (n_classes,)
    predicted : ndarray of shape (n_classes,) or None
        Whether each class is predicted.
    target : ndarray of shape (n_classes,) or None
        True share of each class.
    class_names : ndarray of shape (n_classes,)

    Attributes
    ----------
    shown_ : ndarray of shape (n_shown,)
        Indices of the classes that have a line of the figure, from the top; after
        :meth:`plot`, as are the next three.
    bars_ : list of matplotlib BarContainer
        The bars of the predicted classes and of the others, if there are any.
    ax_ : matplotlib Axes
        Where they are.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    SupportSizeDisplay : How many classes are possible, over many rows.

    Examples
    --------
    >>> from skprob.inspection import PredictionDisplay
    >>> display = PredictionDisplay.from_predictions(
    ...     [0.5, 0.0, 0.4, 0.1, 0.0],
    ...     predicted=[1, 0, 1, 0, 0],
    ...     y_true=[1, 1, 0, 0, 0],
    ...     class_names=["calm", "sad", "quiet", "angry", "amazed"],
    ... )
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['calm', 'quiet', 'angry', 'sad']
    >>> display.ax_.get_title()
    '3 of 5 classes possible'
    """

    def __init__(
        self,
        *,
        probabilities: Array,
        predicted: Array,
        target: Array | None,
        class_names: ArrayLike | None,
    ) -> None:
        self.probabilities = probabilities
        self.predicted = predicted
        self.target = target
        self.class_names = class_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: MatrixLike,
        y: MatrixLike | None = None,
        *,
        class_names: ArrayLike | None = None,
        max_classes: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted classifier's prediction for one row.

        Parameters
        ----------
        estimator : estimator
            Fitted to labels, label sets or distributions; also a pipeline or a search.
        X : {array-like, sparse matrix} of shape (1, n_features)
            The row.
        y : array-like or sparse matrix of shape (1,) or (1, n_classes), default=None
            Its truth, of the kind that was fitted.
        class_names : array-like of shape (n_classes,), default=None
            What to call the classes; as ``classes_`` if None.
        max_classes : int, default=20
            Classes that are drawn at most, 1 or more.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : PredictionDisplay

        Raises
        ------
        ValueError
            If X or y is not one row, or an argument is not allowed.
        """
        probabilities = _the_row("the probabilities of X", estimator.predict_proba(X))
        predicted = _the_row("the prediction for X", estimator.predict(X))
        if np.ndim(predicted) == 0:
            predicted = _one_of(predicted, estimator.classes_)
        if y is not None:
            y = _the_row("y", y)
            if np.ndim(y) == 0:
                y = _one_of(y, estimator.classes_)
        return cls.from_predictions(
            probabilities,
            predicted=predicted,
            y_true=y,
            class_names=estimator.classes_ if class_names is None else class_names,
            max_classes=max_classes,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        probabilities: ArrayLike,
        *,
        predicted: MatrixLike | None = None,
        y_true: MatrixLike | None = None,
        class_names: ArrayLike | None = None,
        max_classes: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw one row of probabilities.

        Parameters
        ----------
        probabilities : array-like of shape (n_classes,)
            Not negative, with the sum one.
        predicted : array-like of shape (n_classes,), default=None
            Which classes are predicted, as 0 and 1.
        y_true : array-like of shape (n_classes,), default=None
            The truth, as 0 and 1 or as a distribution.
        class_names : array-like of shape (n_classes,), default=None
            What to call the classes; their numbers if None.
        max_classes : int, default=20
            Classes that are drawn at most, 1 or more.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : PredictionDisplay

        Raises
        ------
        ValueError
            If an argument is none of the above.
        """
        p = as_distributions([probabilities])[0]
        if class_names is None:
            class_names = np.arange(len(p))
        class_names = np.asarray(class_names)
        if class_names.shape != p.shape:
            raise ValueError(
                f"class_names must be one for each of the {len(p)} classes; got shape "
                f"{class_names.shape}."
            )
        if predicted is not None:
            predicted = _shares("predicted", predicted, len(p)) > 0
        if y_true is not None:
            y_true = _shares("y_true", y_true, len(p))
        display = cls(
            probabilities=p,
            predicted=predicted,
            target=y_true,
            class_names=class_names,
        )
        return display.plot(ax, max_classes=max_classes)

    def plot(self, ax: Axes | None = None, *, max_classes: int = 20) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; a new figure if None.
        max_classes : int, default=20
            Classes that are drawn at most, 1 or more.

        Returns
        -------
        self : object
        """
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        p = self.probabilities
        nothing = np.zeros_like(p)
        target = nothing if self.target is None else self.target
        dark = nothing > 0 if self.predicted is None else self.predicted
        order = np.lexsort([-target, -p])
        order = order[(p[order] > 0) | (target[order] > 0)]
        self.shown_ = order[: check_count("max_classes", max_classes, 1)]
        lines = np.arange(len(self.shown_))
        self.bars_ = []
        for label, of, colour in (
            ("predicted", dark, PREDICTED),
            ("possible", ~dark & (p > 0), POSSIBLE),
        ):
            at = lines[of[self.shown_]]
            if len(at):
                width = p[self.shown_[at]]
                self.bars_.append(self.ax_.barh(at, width, color=colour, label=label))
        if self.target is not None:
            at = lines[target[self.shown_] > 0]
            self.ax_.plot(target[self.shown_[at]], at, "k|", ms=10, mew=2, label="true")
        self.ax_.set_yticks(lines, labels=self.class_names[self.shown_].astype(str))
        self.ax_.set(
            xlabel="probability",
            xlim=(0, 1.02),
            ylim=(len(lines) - 0.4, -0.6),
            title=self._title(len(order)),
        )
        self.ax_.legend(loc="lower right", fontsize="small")
        return self

    def _title(self, n_all):
        n_possible = np.count_nonzero(self.probabilities)
        title = f"{n_possible} of {len(self.probabilities)} classes possible"
        n_hidden = n_all - len(self.shown_)
        return f"{title}, {n_hidden} not shown" if n_hidden else title


def _the_row(name, values):
    """The one row of `values`: a number or word, or an array (n_classes,)."""
    values = values.toarray() if sparse.issparse(values) else np.asarray(values)
    if values.ndim not in (1, 2) or len(values) != 1:
        raise ValueError(
            f"{name} must be one row, such as X[[0]] or y[[0]]; got shape "
            f"{values.shape}."
        )
    return values[0]


def _one_of(label, classes):
    """Indicator of a label among the classes."""
    found = classes == label
    if not found.any():
        raise ValueError(f"y must be one of the classes; got {label!r}.")
    return found


def _shares(name, values, n_classes):
    """A set or a distribution as shares that sum to one, or zeros of the empty set."""
    values = check_row(name, values)
    if len(values) != n_classes or values.min() < 0:
        raise ValueError(
            f"{name} must be non-negative, one for each of the {n_classes} classes; "
            f"got {values.tolist()}."
        )
    return values / (values.sum() or 1)
