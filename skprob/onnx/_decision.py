"""Decision rules as nodes of a graph: from probabilities to label sets."""

import numpy as np

from ..decision import (
    CommonCut,
    DecisionRule,
    ExampleF1,
    LabelCuts,
    MetaLabeler,
    StackedLabels,
    TopK,
)


def label_sets(threshold, probabilities, X):
    """The label sets of a fitted threshold, as a 0/1 tensor.

    Parameters
    ----------
    threshold : float, array-like of shape (n_labels,) or DecisionRule
        The attribute ``threshold_`` of a classifier.
    probabilities : Tensor of shape (n_samples, n_labels)
    X : Tensor of shape (n_samples, n_features)
        Features, from which a rule may compute the expected size of a set.

    Returns
    -------
    sets : Tensor of int64 of shape (n_samples, n_labels)

    Raises
    ------
    NotImplementedError
        If the rule has no converter.
    """
    if not isinstance(threshold, DecisionRule):
        return (probabilities > threshold).astype(np.int64)
    rule, size = threshold, getattr(threshold, "expected_size_", None)
    converter = _CONVERTERS.get(type(rule))
    if converter is None:
        raise NotImplementedError(
            f"The decision rule {rule!r} has no ONNX converter. Those that have one "
            f"are {', '.join(sorted(cls.__name__ for cls in _CONVERTERS))}."
        )
    marginals = probabilities
    if size is not None:
        coef = np.asarray(size.coef, np.float64)[:, None]
        sizes = (X @ coef + size.intercept).clip(size.least, size.most)
        marginals = probabilities * sizes
    return converter(rule, probabilities, marginals)


def _common_cut(rule, probabilities, marginals):
    return _above(np.full(rule.n_labels_, rule.cut_), rule, marginals)


def _label_cuts(rule, probabilities, marginals):
    return _above(rule.cuts_, rule, marginals)


def _above(cuts, rule, marginals):
    chosen = (marginals > cuts).astype(np.int64)
    if rule.may_be_empty_:
        return chosen
    tiny = np.finfo(np.float64).tiny
    nearest = (marginals / np.maximum(cuts, tiny)).argmax()
    is_empty = (chosen.max() < 1).astype(np.int64)
    return chosen.put(nearest, chosen.take(nearest).maximum(is_empty))


def _example_f1(rule, probabilities, marginals):
    ordered, columns = marginals.largest(rule.n_labels_)
    number = np.arange(1.0, rule.n_labels_ + 1)
    f1 = ordered.cumsum() * 2 / (marginals.sum() + number)
    best = f1.argmax() + 1
    if rule.may_be_empty_:
        empty = (1 - marginals).maximum(0).prod()
        if rule.has_none_:
            empty = (1 - probabilities.sum()).maximum(0)
        best = (best * 0).where(empty > f1.max(), best)
    return _first(best, columns, rule)


def _meta_labeler(rule, probabilities, marginals):
    _, columns = marginals.largest(rule.n_labels_)
    number = marginals.sum().round().astype(np.int64)
    return _first(number if rule.may_be_empty_ else number.maximum(1), columns, rule)


def _stacked_labels(rule, probabilities, marginals):
    corrected = probabilities @ rule.coef_ + rule.intercept_
    corrected = corrected.maximum(probabilities * rule.least_)
    # The corrected estimates are marginals, for which a rule needs no features.
    return label_sets(rule.rule_, corrected, X=None)


def _top_k(rule, probabilities, marginals):
    _, columns = probabilities.largest(rule.n_labels_)
    number = columns.columns([0]) * 0 + min(rule.k, rule.n_labels_)
    return _first(number, columns, rule)


def _first(number, columns, rule):
    """The indicator of the first `number` of the `columns` of each row."""
    place = np.arange(rule.n_labels_)
    return (columns * 0).put(columns, (number > place).astype(np.int64))


_CONVERTERS = {
    CommonCut: _common_cut,
    LabelCuts: _label_cuts,
    ExampleF1: _example_f1,
    MetaLabeler: _meta_labeler,
    StackedLabels: _stacked_labels,
    TopK: _top_k,
}
