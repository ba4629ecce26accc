"""The coefficients along a path over C."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline

from .._utils.checks import as_real, is_number
from .._utils.fitted import names_at_last_step
from .._utils.names import did_you_mean
from .._utils.typing import Array, ArrayLike, Axes
from ._input import check_count
from ._matplotlib import axes_for, legend_below, text_of

# Style of the lines of features without a name in the legend.
_OTHERS = {"color": "0.75", "linewidth": 0.8, "zorder": 1}
# Names of the chosen value of a search and, with an "s" appended, of all its values.
_SEARCHED = ("alpha", "noise")


class PathDisplay:
    """Coefficients against C, feature by feature.

    With more than two classes a line is the Euclidean norm of the coefficients of a
    feature over the classes, or with `target` its coefficient for one class. With two
    classes it is the coefficient for the second class. A feature is in the model where
    its line is not zero. The features that enter first, from the left, have colours and
    names.

    Use :meth:`from_estimator` or :meth:`from_path` to make one.

    Parameters
    ----------
    Cs : ndarray of shape (n_Cs,)
        Finite and increasing.
    coefs : ndarray of shape (n_Cs, M, n_features)
        Coefficients at each C; M is 1 for two classes.
    feature_names : list of str
        Names of the features, in the order of the last axis of `coefs`.
    classes : ndarray of shape (n_classes,)
        Names of the classes.
    C : float or None, default=None
        The chosen C, which a vertical line marks.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the lines. This attribute and the next four are set by
        :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : dict of str to matplotlib Line2D
        The line of each feature that has a coefficient at some C.
    named_ : list of str
        The features in the legend: those that enter first.
    C_line_ : matplotlib Line2D or None
        The line of the chosen C.

    See Also
    --------
    skprob.linear_model.EntmaxClassifierCV : ``coefs_paths_`` of a search.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from skprob import EntmaxClassifierCV
    >>> from skprob.inspection import PathDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = EntmaxClassifierCV([1.5], l1_ratios=[0.9]).fit(X, y)
    >>> display = PathDisplay.from_estimator(model)
    >>> display.named_[:2]
    ['petal length (cm)', 'petal width (cm)']
    >>> display.ax_.get_ylabel()
    'norm of the coefficients'
    """

    def __init__(
        self,
        *,
        Cs: Array,
        coefs: Array,
        feature_names: list[str],
        classes: Array,
        C: float | None = None,
    ) -> None:
        self.Cs = Cs
        self.coefs = coefs
        self.feature_names = feature_names
        self.classes = classes
        self.C = C

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: ArrayLike | None = None,
        target: Any = None,
        n_named: int = 8,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> Self:
        """Plot the path of a search.

        The path is that of the chosen mapping and l1_ratio. A coefficient is the median
        over the folds, which is zero where it is zero in most folds.

        Parameters
        ----------
        estimator : estimator
            A fitted :class:`~skprob.linear_model.EntmaxClassifierCV` or
            :class:`~skprob.linear_model.PerturbMaxClassifierCV`; also a pipeline that
            ends with one.
        feature_names : array-like of shape (n_features,), default=None
            None stands for those that were seen in ``fit``, or for x0, x1 and so on.
        target : object, default=None
            The class whose coefficients are drawn. None stands for the norms over the
            classes or, with two classes, for the second class.
        n_named : int, default=8
            Number of features in the legend.
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **line_kw : dict
            Options of the lines of these features, as for ``Axes.plot``.

        Returns
        -------
        display : PathDisplay

        Raises
        ------
        ValueError
            If an argument is not allowed, or the estimator has no path.
        """
        model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
        if not hasattr(model, "coefs_paths_") or not hasattr(model, "C_"):
            raise ValueError(
                "estimator must be a fitted EntmaxClassifierCV or "
                "PerturbMaxClassifierCV, or a pipeline that ends with one; "
                f"{estimator!r} has no path. Use PathDisplay.from_path for "
                "coefficients of other fits."
            )
        if feature_names is None:
            feature_names = names_at_last_step(estimator)
        place = _chosen_path(model)
        return cls.from_path(
            model.Cs_[place],
            np.median(model.coefs_paths_[:, *place], axis=0),
            feature_names=feature_names,
            classes=model.classes_,
            C=model.C_,
            target=target,
            n_named=n_named,
            ax=ax,
            **line_kw,
        )

    @classmethod
    def from_path(
        cls,
        Cs: ArrayLike,
        coefs: ArrayLike,
        *,
        feature_names: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        C: float | None = None,
        target: Any = None,
        n_named: int = 8,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> Self:
        """Plot the coefficients of several fits.

        Parameters
        ----------
        Cs : array-like of shape (n_Cs,)
            The C of each fit, positive. Infinite ones are not drawn.
        coefs : array-like of shape (n_Cs, M, n_features)
            The ``coef_`` of each fit.
        feature_names : array-like of shape (n_features,), default=None
            None stands for x0, x1 and so on.
        classes : array-like of shape (n_classes,), default=None
            The labels; None stands for 0, 1 and so on.
        C : float, default=None
            The chosen C; None marks none.
        target : object, default=None
            As for :meth:`from_estimator`, as are the next arguments.
        n_named : int, default=8
            Number of features in the legend.
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **line_kw : dict
            Options of the lines of these features, as for ``Axes.plot``.

        Returns
        -------
        display : PathDisplay

        Raises
        ------
        ValueError
            If an argument is not allowed.

        Examples
        --------
        The path of all rows, each fit started from the one before:

        >>> import numpy as np
        >>> from sklearn.datasets import load_iris
        >>> from skprob import SparsemaxClassifier
        >>> from skprob.inspection import PathDisplay
        >>> X, y = load_iris(return_X_y=True)
        >>> model = SparsemaxClassifier(l1_ratio=1, warm_start=True)
        >>> Cs = np.logspace(-2, 1, 10)
        >>> coefs = [model.set_params(C=C).fit(X, y).coef_ for C in Cs]
        >>> PathDisplay.from_path(Cs, coefs).named_[0]
        'x2'
        """
        Cs, coefs = _checked_path(Cs, coefs)
        n_outputs, n_features = coefs.shape[1:]
        names = [f"x{j}" for j in range(n_features)]
        if feature_names is not None:
            names = [str(name) for name in np.atleast_1d(feature_names)]
        if len(set(names)) != n_features or len(names) != n_features:
            raise ValueError(
                f"feature_names must be {n_features} different names, one for each "
                f"feature; got {feature_names!r}."
            )
        # Two classes have one row of coefficients.
        n_classes = max(n_outputs, 2)
        classes = np.arange(n_classes) if classes is None else np.asarray(classes)
        if classes.shape != (n_classes,):
            raise ValueError(
                f"classes must be {n_classes} labels for coefs with M={n_outputs}; got "
                f"{classes.tolist()!r}."
            )
        if C is not None and not (is_number(C) and C > 0):
            raise ValueError(f"C must be a positive number or None; got {C!r}.")
        display = cls(Cs=Cs, coefs=coefs, feature_names=names, classes=classes, C=C)
        return display.plot(ax, target=target, n_named=n_named, **line_kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        target: Any = None,
        n_named: int = 8,
        **line_kw: Any,
    ) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        target : object, default=None
            The class whose coefficients are drawn. None stands for the norms over the
            classes or, with two classes, for the second class.
        n_named : int, default=8
            Number of features in the legend.
        **line_kw : dict
            Options of the lines of these features, as for ``Axes.plot``.

        Returns
        -------
        self : object
        """
        check_count("n_named", n_named, at_least=0)
        values, ylabel = self._values(target)
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        self.ax_.axhline(0, color="0.3", linewidth=0.8, zorder=0)
        order = _order_of_entry(values)
        self.named_ = [self.feature_names[j] for j in order[:n_named]]
        self.lines_ = {}
        for rank, j in enumerate(order):
            name = self.feature_names[j]
            style = dict(_OTHERS)
            if rank < n_named:
                # Ten colours of the cycle, solid and then dashed.
                dashes = ["-", "--", ":"][rank // 10 % 3]
                style = {"color": f"C{rank % 10}", "linestyle": dashes}
                style |= {"label": text_of(name), **line_kw}
            if len(self.Cs) == 1:
                style = {"marker": "."} | style
            (self.lines_[name],) = self.ax_.plot(self.Cs, values[:, j], **style)
        self.C_line_ = None
        if self.C is not None and np.isfinite(self.C):
            style = {"color": "black", "linestyle": "-.", "linewidth": 1}
            label = f"chosen C = {self.C:.3g}"
            self.C_line_ = self.ax_.axvline(self.C, label=label, **style)
        self.ax_.set(xlabel="C", ylabel=ylabel, xscale="log")
        if self.named_ or self.C_line_ is not None:
            legend_below(self.ax_)
        return self

    def _values(self, target):
        """Values that are drawn, (n_Cs, n_features), and the label of their axis."""
        is_pair, classes = self.coefs.shape[1] == 1, self.classes.tolist()
        if target is None:
            if is_pair:
                return self.coefs[:, 0], f"coefficient for {text_of(classes[-1])}"
            return np.linalg.norm(self.coefs, axis=1), "norm of the coefficients"
        if target not in classes:
            raise ValueError(
                f"target must be one of the classes {classes[:10]} or None; got "
                f"{target!r}."
                f"{did_you_mean(target, [c for c in classes if isinstance(c, str)])}"
            )
        number = classes.index(target)
        if is_pair:
            # The coefficients are those of the second class less those of the first.
            values = (2 * number - 1) * self.coefs[:, 0]
        else:
            values = self.coefs[:, number]
        return values, f"coefficient for {text_of(target)}"


def _checked_path(Cs, coefs):
    """Increasing finite Cs (n_Cs,), and the coefficients (n_Cs, M, n_features)."""
    Cs, coefs = as_real("Cs", Cs), as_real("coefs", coefs)
    if Cs.ndim != 1 or not (Cs > 0).all():
        raise ValueError(f"Cs must be a list of positive numbers; got {Cs!r}.")
    if coefs.ndim != 3 or len(coefs) != len(Cs) or 0 in coefs.shape:
        raise ValueError(
            f"coefs must have the shape (n_Cs, M, n_features) with n_Cs={len(Cs)}, one "
            f"coef_ for each C; got an array of shape {coefs.shape}."
        )
    if not np.isfinite(coefs).all():
        raise ValueError("coefs must be finite; got NaN or infinity.")
    order = np.argsort(Cs)[: np.count_nonzero(np.isfinite(Cs))]
    if len(order) == 0:
        raise ValueError("Cs must hold a finite number; all are infinite.")
    return Cs[order], coefs[order]


def _order_of_entry(values):
    """Numbers of the features that enter, the first ones first.

    Features that enter at the same C are in the order of their coefficients there, from
    the largest.
    """
    is_in = values != 0
    entering = np.flatnonzero(is_in.any(axis=0))
    first = is_in[:, entering].argmax(axis=0)
    return entering[np.lexsort((-np.abs(values[first, entering]), first))]


def _chosen_path(model):
    """Place of the chosen value, and of the chosen l1_ratio, in a search's grid."""
    (name,) = (each for each in _SEARCHED if hasattr(model, f"{each}s_"))
    chosen = getattr(model, f"{name}_")
    values = list(getattr(model, f"{name}s_"))
    place = [next(i for i, v in enumerate(values) if v is chosen or v == chosen)]
    if hasattr(model, "l1_ratios_"):
        place.append(model.l1_ratios_.tolist().index(model.l1_ratio_))
    return tuple(place)
