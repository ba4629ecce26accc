"""Checks of thresholds and rules, and the thresholds that need no rows."""

from numbers import Real

import numpy as np

from .._utils.arrays import to_numpy
from .._utils.checks import order_of, series_in_order
from ..decision import RULES, DecisionRule, LeastCost, TopK

#: Names of thresholds that are allowed.
THRESHOLD_NAMES = ("auto", "cv", "support", *RULES)


def check_threshold(threshold, classes):
    """The checked threshold: a fitted rule, a cut, or an array of cuts.

    A pandas Series of cuts is matched with the classes by name.
    """
    n_classes = classes.shape[0]
    if isinstance(threshold, LeastCost):
        checked_rule(threshold, None, "label_set")
    if isinstance(threshold, TopK):
        is_known = getattr(threshold, "n_labels_", None) == n_classes
        return threshold if is_known else threshold.for_labels(n_classes)
    if isinstance(threshold, DecisionRule):
        if not hasattr(threshold, "n_labels_"):
            raise ValueError(
                "threshold must be a fitted rule, a number or one for each of the "
                f"{n_classes} labels; got {threshold!r}, which is not fitted."
            )
        if threshold.n_labels_ != n_classes:
            raise ValueError(
                f"threshold must be a rule that was fitted to {n_classes} labels; got "
                f"{threshold!r}, of {threshold.n_labels_}."
            )
        return threshold
    threshold = series_in_order("threshold", threshold, classes)
    try:
        cuts = np.asarray(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.full(1, np.nan)
    if cuts.ndim and cuts.shape != (n_classes,):
        raise ValueError(
            f"threshold must be one number or one for each of the {n_classes} labels; "
            f"got {threshold!r}, of shape {cuts.shape}."
        )
    good = (cuts >= 0) & (cuts < 1)
    if not good.all():
        where = f", at label {np.argmin(good)}" if cuts.ndim else ""
        raise ValueError(
            "threshold must be in [0, 1), a number or one for each label; got "
            f"{threshold!r}{where}."
        )
    return cuts if cuts.ndim else float(cuts)


def check_labels_of_rule(threshold, classes):
    """Raise where a rule was fitted to labels in another order than the classes."""
    names = getattr(threshold, "label_names_", None)
    if names is None:
        return
    classes = to_numpy(classes).tolist()
    order = order_of(names.tolist(), classes, are_labels=False)
    if order != list(range(len(names))):
        raise ValueError(
            f"threshold must be a rule that was fitted to the labels {classes[:10]}, "
            f"in this order; got {threshold!r}, which was fitted to "
            f"{names.tolist()[:10]}."
        )


def checked_rule(rule, classes, target_type):
    """A :class:`~skprob.decision.LeastCost` for these classes of a type of target."""
    if target_type != "class":
        raise ValueError(
            f"threshold={rule!r} is for class labels, of which each row has one; got "
            f"{target_type=}."
        )
    return rule.for_classes(to_numpy(classes))


def check_no_threshold(threshold, target_type, n_classes):
    """Raise for a threshold of label sets where the target is of another type.

    For class labels the error says how to get what was probably meant: an array may be
    a matrix of costs, a number for two classes a cut of the probability of the second.
    """
    is_class, hint = target_type == "class", ""
    is_number = isinstance(threshold, Real)
    if is_class and is_number and n_classes == 2:
        hint = (
            " To predict the second of two classes where its probability is greater "
            f"than {threshold:g}, give threshold=LeastCost([[0, {threshold:g}], "
            f"[{1 - threshold:g}, 0]]), of skprob.decision."
        )
    elif is_class and isinstance(threshold, TopK):
        hint = (
            " For the best classes of each row, call its method predict with the "
            "result of predict_proba."
        )
    elif is_class and not isinstance(threshold, str | DecisionRule | Real):
        hint = (
            " For a matrix of costs, give threshold=LeastCost(costs), of "
            "skprob.decision."
        )
    if is_number:
        got = f"the number {threshold:g}"
    elif isinstance(threshold, str | DecisionRule):
        got = repr(threshold)
    else:
        got = f"an array of shape {np.shape(threshold)}"
    allowed = "a LeastCost for class labels, or 'auto'"
    if not is_class:
        allowed = f"'auto' for {target_type=}"
    raise ValueError(
        f"threshold must be {allowed}; got {got}, which is for label sets.{hint}"
    )


def is_fitted_to_rows(threshold):
    """Whether a threshold is fitted to probabilities and labels of rows."""
    is_rule = isinstance(threshold, str | DecisionRule)
    return is_rule and not isinstance(threshold, TopK) and threshold != "support"


def known_threshold(threshold, classes):
    """A checked threshold that needs no rows, as a number or a rule."""
    is_support = isinstance(threshold, str) and threshold == "support"
    return 0.0 if is_support else check_threshold(threshold, classes)
