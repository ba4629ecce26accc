"""Plots of the convergence of fits."""

from __future__ import annotations

from collections.abc import Mapping as Mappable
from typing import Any, Literal, Self

import numpy as np

from .._utils.checks import is_number
from .._utils.fitted import last_step
from .._utils.names import did_you_mean
from .._utils.typing import Array, Axes
from ._matplotlib import axes_for

_X_LABELS = {"iteration": "iteration", "passes": "passes over X", "seconds": "seconds"}
_Y_LABELS = {
    "objective": "relative suboptimality",
    "gradient_norm": "largest gradient entry",
    "duality_gap": "duality gap",
}


class ConvergenceDisplay:
    """Objective, gradient or duality gap over the iterations of one fit or several.

    The objective is drawn as its relative suboptimality, (objective - reference) /
    reference. The reference is by default the smallest objective of the same fit. To
    compare fits of one objective, such as those of several solvers, give one reference
    for all of them: the smallest ``objective_``, or that of a fit with a smaller
    ``tol``. Points that are not above the reference cannot be shown on the logarithmic
    axis; with the default this is the last point of a fit.

    A fit may minimise another function in its first iterations: the objective with a
    stronger penalty, or an easier loss. Each of these stages has a dashed line of its
    own, with its name in the legend. For the stronger penalty the line shows the
    objective with this penalty; for another loss or noise there is no objective to
    compare, and only the other quantities have a line.

    The duality gap is an upper bound of the suboptimality. It is drawn as a dotted line
    in the same units, at the iterations where it was computed, mostly the last ones.

    Use :meth:`from_estimator` or :meth:`from_estimators` to make one.

    Parameters
    ----------
    histories : dict of str to dict of str to ndarray
        The ``history_`` of each classifier; the keys are the labels in the legend.
    reference : float or None, default=None
        The objective that counts as the minimum; None stands for the smallest one of
        each history.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the lines. This attribute and the next four are set by
        :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The line of the final stage of each history.
    stage_lines_ : list of matplotlib Line2D
        The dashed lines of the other stages.
    gap_lines_ : list of matplotlib Line2D
        The dotted lines of the duality gap.

    See Also
    --------
    skprob.linear_model.LinearClassifier : Has the attribute ``history_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import SoftmaxClassifier
    >>> from skprob.inspection import ConvergenceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> models = [SoftmaxClassifier(solver=s).fit(X, y) for s in ("auto", "lbfgs")]
    >>> display = ConvergenceDisplay.from_estimators(
    ...     models, reference=min(model.objective_ for model in models)
    ... )
    >>> [line.get_label() for line in display.lines_]
    ['SoftmaxClassifier, newton-cholesky', 'SoftmaxClassifier, lbfgs']
    >>> display.ax_.get_ylabel()
    'relative suboptimality'
    """

    def __init__(
        self, *, histories: dict[str, dict[str, Array]], reference: float | None = None
    ) -> None:
        self.histories = histories
        self.reference = reference

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, name: str | None = None, **options: Any
    ) -> Self:
        """Plot the fit of one classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of skprob; also a pipeline or a search that ends with
            one.
        name : str, default=None
            The label in the legend; None stands for the class and the solver.
        **options : dict
            As for :meth:`from_estimators`.

        Returns
        -------
        display : ConvergenceDisplay

        Raises
        ------
        ValueError
            If an argument is not allowed, or the estimator has no history.
        """
        models = [estimator] if name is None else {name: estimator}
        return cls.from_estimators(models, **options)

    @classmethod
    def from_estimators(
        cls,
        estimators: Any,
        *,
        y: Literal["objective", "gradient_norm", "duality_gap"] = "objective",
        x: Literal["iteration", "passes", "seconds"] = "iteration",
        reference: float | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> Self:
        """Plot the fits of several classifiers.

        Parameters
        ----------
        estimators : sequence or dict of str to estimator
            As for :meth:`from_estimator`. The keys of a dict are the labels in the
            legend.
        y : {"objective", "gradient_norm", "duality_gap"}, default="objective"
            What is drawn: the relative suboptimality, the largest entry of the gradient
            or the duality gap.
        x : {"iteration", "passes", "seconds"}, default="iteration"
            The horizontal axis; a pass is one pass over all of X.
        reference : float, default=None
            The objective that counts as the minimum; None stands for the smallest one
            of each fit.
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **line_kw : dict
            Options of every line, as for ``Axes.plot``.

        Returns
        -------
        display : ConvergenceDisplay

        Raises
        ------
        ValueError
            If an argument is not allowed, or an estimator has no history.
        """
        is_finite = is_number(reference) and np.isfinite(reference)
        if not (reference is None or is_finite):
            raise ValueError(
                f"reference must be a finite number or None; got {reference!r}."
            )
        display = cls(histories=_histories(estimators), reference=reference)
        return display.plot(ax, y=y, x=x, **line_kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        y: Literal["objective", "gradient_norm", "duality_gap"] = "objective",
        x: Literal["iteration", "passes", "seconds"] = "iteration",
        **line_kw: Any,
    ) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        y : {"objective", "gradient_norm", "duality_gap"}, default="objective"
        x : {"iteration", "passes", "seconds"}, default="iteration"
        **line_kw : dict
            Options of every line, as for ``Axes.plot``.

        Returns
        -------
        self : object
        """
        for name, value, allowed in (
            ("y", y, list(_Y_LABELS)),
            ("x", x, list(_X_LABELS)),
        ):
            if value not in allowed:
                raise ValueError(
                    f"{name} must be one of {allowed}; got {value!r}."
                    f"{did_you_mean(value, allowed)}"
                )
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        self.lines_, self.stage_lines_, self.gap_lines_ = [], [], []
        for label, history in self.histories.items():
            self._draw_fit(label, history, x, y, line_kw)
        self.ax_.set(xlabel=_X_LABELS[x], ylabel=_Y_LABELS[y], yscale="log")
        if x == "iteration":
            self.ax_.xaxis.get_major_locator().set_params(integer=True)
        self.ax_.legend(fontsize="small")
        return self

    def _draw_fit(self, label, history, x, y, line_kw):
        """Draw the lines of one fit: of its final stage, of others, and of its gap."""
        values, unit, stage = history[y], 1.0, history["stage"]
        is_final = stage == "final"
        if y == "objective":
            values, unit = _relative(values, is_final, self.reference)
        style = {"label": label, "marker": ".", **line_kw}
        line = self._draw(history[x], np.where(is_final, values, np.nan), **style)
        self.lines_.append(line)
        style |= {"color": line.get_color(), "linestyle": "--"}
        for name in dict.fromkeys(stage[~is_final].tolist()):
            of_stage = np.where(stage == name, values, np.nan)
            if _is_shown(of_stage).any():
                style["label"] = f"{label}, {name}"
                self.stage_lines_.append(self._draw(history[x], of_stage, **style))
        gaps = history["duality_gap"] / unit
        if y == "objective" and _is_shown(gaps).any():
            style = {"color": line.get_color(), "linestyle": ":", "marker": "o"}
            style["label"] = f"{label}, duality gap"
            self.gap_lines_.append(self._draw(history[x], gaps, **style))

    def _draw(self, x, values, **style):
        shown = _is_shown(values)
        return self.ax_.plot(x[shown], values[shown], **style)[0]


def _relative(objective, is_final, reference):
    """The suboptimality in units of the reference, and this unit."""
    best = np.nanmin(objective[is_final]) if reference is None else reference
    # If the objective is zero, the suboptimality is absolute.
    unit = abs(best) or 1.0
    return (objective - best) / unit, unit


def _is_shown(values):
    """Whether numbers are finite and positive, so that a logarithmic axis has them."""
    return np.isfinite(values) & (values > 0)


def _histories(estimators):
    """The history of each classifier by its label."""
    if isinstance(estimators, Mappable):
        pairs = [(label, _classifier(model)) for label, model in estimators.items()]
    elif hasattr(estimators, "fit") or not np.iterable(estimators):
        raise ValueError(
            "estimators must be a sequence of fitted classifiers or a dict of them by "
            f"label; got {estimators!r}."
        )
    else:
        models = [_classifier(model) for model in estimators]
        pairs = [
            (f"{type(model).__name__}, {model.solver_}", model) for model in models
        ]
    if not pairs:
        raise ValueError("estimators must hold at least one classifier, got none.")
    histories = {label: model.history_ for label, model in pairs}
    if len(histories) < len(pairs):
        raise ValueError(
            "Two classifiers have the same class and solver: give a dict of estimators "
            "by label."
        )
    return histories


def _classifier(estimator):
    """The fitted classifier that an estimator is or holds."""
    model = last_step(estimator)
    if not hasattr(model, "history_"):
        raise ValueError(
            "estimator must be a fitted classifier of skprob, or a pipeline or search "
            f"that holds one; {estimator!r} has no history_."
        )
    return model
