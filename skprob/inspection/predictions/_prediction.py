"""Predictions of one row or a few: the possible classes, and how probable each is."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._utils.arrays import dense
from ..._utils.checks import (
    as_distributions,
    as_marginals,
    as_real,
    in_order,
    lined_up,
    order_by_name,
)
from ..._utils.fitted import class_probabilities, last_step, predict_by
from ..._utils.names import did_you_mean
from ..._utils.typing import Array, ArrayLike, Axes, MatrixLike
from .._input import check_count
from .._matplotlib import axes_for, grid_of_axes, legend_below
from ._bars import Row, draw_row
from ._input import indicator_of

# More panels cannot be read.
_MOST_ROWS = 30


class PredictionDisplay:
    """Probabilities of the possible classes of one row, or of several rows.

    Each class with positive probability has a bar, the most probable one at the top;
    the title has the number of classes. Predicted classes have a darker bar. If the
    truth is given, a mark shows the true share of each class: 1 for a label, 1/n for
    each label of a set of n labels, the probability for a distribution, and 1 for each
    label if the probabilities are marginals. A true class with probability zero is a
    mark without a bar. If the probabilities of classes sum to less than one, the rest
    is the probability of "no label", which is shown in the title.

    Use :meth:`from_estimator` or :meth:`from_predictions` to make one.

    Parameters
    ----------
    probabilities : ndarray of shape (n_classes,) or (n_rows, n_classes)
        Probabilities of one row or of several.
    predicted : ndarray of that shape, or None
        Whether each class is predicted.
    target : ndarray of that shape, or None
        The true share of each class.
    class_names : ndarray of shape (n_classes,)
        Names at the bars.
    polytope : {"simplex", "cube"}, default="simplex"
        "simplex" if the probabilities of a row sum to one, "cube" if they are
        marginals.

    Attributes
    ----------
    shown_ : ndarray of shape (n_shown,)
        Indices of the classes that are shown, from the top; for several rows, a list of
        such arrays. This attribute and the next three are set by :meth:`plot`.
    bars_ : list of matplotlib BarContainer
        The bars of the predicted classes and of the others, if there are any; for
        several rows, a list of such lists.
    ax_ : matplotlib Axes
        The axes with the bars; for several rows, a list of Axes.
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
        polytope: Literal["simplex", "cube"] = "simplex",
    ) -> None:
        self.probabilities = probabilities
        self.predicted = predicted
        self.target = target
        self.class_names = class_names
        self.polytope = polytope

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
        **params: Any,
    ) -> Self:
        """Plot a fitted classifier's predictions for one row or several.

        Parameters
        ----------
        estimator : estimator
            Fitted to labels, label sets or distributions; also a pipeline or a search.
            Probabilities of label sets by classifiers of other packages are assumed to
            be marginals.
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            The rows, at most 30.
        y : array-like or sparse matrix of shape (n_rows,) or (n_rows, n_classes), \
                default=None
            Their true labels, label sets or distributions, as in ``fit``.
        class_names : array-like of shape (n_classes,), default=None
            The names to show; None stands for ``classes_``.
        max_classes : int, default=20
            The largest number of classes that are shown for each row, at least 1.
        ax : matplotlib Axes or sequence of n_rows of them, default=None
            The axes to draw on; None makes a new figure.
        **params : dict
            Arguments of the predictions about these rows, such as ``available`` and
            ``offset``.

        Returns
        -------
        display : PredictionDisplay

        Raises
        ------
        ValueError
            If y has another number of rows than X, or an argument is not allowed.
        NotFittedError
            If the estimator is not fitted.
        """
        check_is_fitted(estimator)
        model = last_step(estimator)
        classes = estimator.classes_
        p = dense(class_probabilities(estimator, X, **params))
        predicted = np.asarray(dense(predict_by("predict", estimator, X, **params)))
        is_set = predicted.ndim == 2
        if not is_set:
            # Where a rule abstains, no class is predicted.
            predicted = predicted[:, None] == classes
        if y is not None:
            y = in_order("y", y, classes)
            y = np.asarray(dense(y))
            if y.ndim == 0 or y.shape[0] != len(p):
                raise ValueError(
                    f"y must have a row for each of the {len(p)} of X, such as y[[0]] "
                    f"for one; got shape {y.shape}."
                )
            y = indicator_of("y", y, classes) if y.ndim == 1 else y
        if class_names is None and not isinstance(classes, list):
            # Some classifiers have a list with the values of each label.
            class_names = classes
        polytope = "cube" if is_set else "simplex"
        if is_set and hasattr(model, "mapping_"):
            polytope = model.mapping_.traits.polytope
        rows = 0 if len(p) == 1 else slice(None)
        return cls.from_predictions(
            p[rows],
            predicted=predicted[rows],
            y_true=None if y is None else y[rows],
            class_names=class_names,
            polytope=polytope,
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
        polytope: Literal["simplex", "cube"] = "simplex",
        max_classes: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Plot one row of probabilities, or several.

        Parameters
        ----------
        probabilities : {array-like, sparse matrix} of shape (n_classes,) or \
                (n_rows, n_classes)
            Non-negative numbers that sum to one; or to less, where the rest is the
            probability of "no label". Columns of DataFrames are matched by name.
        predicted : array-like of that shape, default=None
            1 for the predicted classes, 0 for the others.
        y_true : array-like of that shape, default=None
            The truth, as 0 and 1 or as a distribution.
        class_names : array-like of shape (n_classes,), default=None
            The names to show. None stands for the names of a DataFrame, or for the
            numbers of the classes.
        polytope : {"simplex", "cube"}, default="simplex"
            "cube" is for marginals: numbers from 0 to 1 with any sum.
        max_classes : int, default=20
            The largest number of classes that are shown for each row, at least 1.
        ax : matplotlib Axes or sequence of n_rows of them, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        display : PredictionDisplay

        Raises
        ------
        ValueError
            If an argument is none of the above.
        """
        if polytope not in ("simplex", "cube"):
            raise ValueError(
                f"polytope must be 'simplex' or 'cube'; got {polytope!r}."
                f"{did_you_mean(polytope, ['simplex', 'cube'])}"
            )
        class_names, (probabilities, y_true, predicted) = _in_one_order(
            class_names,
            probabilities=probabilities,
            y_true=y_true,
            predicted=predicted,
        )
        probabilities = as_real("probabilities", dense(probabilities))
        rows = np.atleast_2d(probabilities)
        if polytope == "cube":
            p = as_marginals(rows)
        else:
            p = as_distributions(rows, may_fall_short=True)
        if not 1 <= len(p) <= _MOST_ROWS:
            raise ValueError(
                f"probabilities must be 1 to {_MOST_ROWS} rows; got {len(p)}. Give "
                "some of them, such as X[:6]."
            )
        if class_names is None:
            class_names = np.arange(p.shape[1])
        class_names = np.asarray(class_names)
        if class_names.shape != p.shape[1:]:
            raise ValueError(
                f"class_names must be one for each of the {p.shape[1]} classes; got "
                f"shape {class_names.shape}."
            )
        p = p.reshape(probabilities.shape)
        if predicted is not None:
            predicted = _shares("predicted", predicted, p.shape) > 0
        if y_true is not None:
            y_true = _shares("y_true", y_true, p.shape)
            if polytope == "simplex":
                total = y_true.sum(axis=-1, keepdims=True)
                y_true = y_true / np.where(total > 0, total, 1)
        display = cls(
            probabilities=p,
            predicted=predicted,
            target=y_true,
            class_names=class_names,
            polytope=polytope,
        )
        return display.plot(ax, max_classes=max_classes)

    def plot(self, ax: Axes | None = None, *, max_classes: int = 20) -> Self:
        """Plot the bars.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of n_rows of them, default=None
            The axes to draw on; None makes a new figure.
        max_classes : int, default=20
            The largest number of classes that are shown for each row, at least 1.

        Returns
        -------
        self : object
        """
        check_count("max_classes", max_classes, 1)
        name, is_one_row = type(self).__name__, self.probabilities.ndim == 1
        if is_one_row:
            axes = [axes_for(name, ax)]
        else:
            n_rows = len(self.probabilities)
            axes = grid_of_axes(
                name,
                ax,
                n_rows,
                most_columns=3,
                size=(3.6, 2.4),
                allowed=f"{n_rows} axes, one for each row",
            )
        self.figure_ = axes[0].figure
        drawn = [
            draw_row(panel, row, max_classes)
            for panel, row in zip(axes, self._rows(), strict=True)
        ]
        if is_one_row:
            (self.ax_,), ((self.shown_, self.bars_),) = axes, drawn
            legend_below(self.ax_)
            return self
        self.ax_ = axes
        self.shown_, self.bars_ = map(list, zip(*drawn, strict=True))
        for number, panel in enumerate(self.ax_):
            title = panel.get_title()
            panel.set_title(f"row {number}: {title}", fontsize="small")
        # A panel need not have every kind of bar.
        kinds = [panel.get_legend_handles_labels() for panel in self.ax_]
        pairs = {k: h for row in kinds for h, k in zip(*row, strict=True)}
        if ax is None:
            self.figure_.legend(
                pairs.values(),
                pairs,
                loc="outside lower center",
                ncols=3,
                fontsize="small",
            )
        else:
            legend_below(self.ax_[-1], pairs)
        return self

    def _rows(self):
        """The numbers of each row that is drawn."""
        p = np.atleast_2d(self.probabilities)
        nothing = [None] * len(p)
        predicted, target = (
            nothing if given is None else np.atleast_2d(given)
            for given in (self.predicted, self.target)
        )
        return [
            Row(*numbers, names=self.class_names, is_share=self.polytope == "simplex")
            for numbers in zip(p, predicted, target, strict=True)
        ]


def _in_one_order(class_names, **frames):
    """The names of the classes, or None, and frames with their columns in one order.

    An array is in the order of the first frame that has names. Class names that are not
    those of the columns are in the order of the columns.
    """
    names, ordered = lined_up(**frames)
    if class_names is None:
        return names, ordered
    given = np.asarray(class_names)
    if names is not None and order_by_name(names.tolist(), given.tolist()) is not None:
        _, ordered = lined_up(given, **frames)
    return class_names, ordered


def _shares(name, values, shape):
    """A set or a distribution for each row, as numbers of a shape."""
    values = as_real(name, dense(values)).astype(np.float64, copy=False)
    wrong = values[~(np.isfinite(values) & (values >= 0))]
    if values.shape != shape or len(wrong):
        value = f" and the value {wrong[0]:.6g}" if len(wrong) else ""
        raise ValueError(
            f"{name} must be finite, non-negative numbers, one for each of the "
            f"{shape[-1]} classes, of shape {shape}; got shape {values.shape}{value}."
        )
    return values
