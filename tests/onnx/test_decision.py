"""Each rule as a graph chooses the sets that the rule chooses."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

from skprob.decision import (
    CommonCut,
    ExampleF1,
    LabelCuts,
    MetaLabeler,
    StackedLabels,
    TopK,
)
from skprob.onnx._decision import label_sets
from skprob.onnx._function import _Nodes
from skprob.onnx._graph import Graph

from .running import onnxruntime

N_LABELS = 5


def sets_by_graph(rule, p, X):
    """The sets of a graph whose inputs are the probabilities and the features."""
    from onnx import TensorProto, helper

    nodes = _Nodes()
    graph = Graph(nodes, nodes)
    tensors = [graph.input(SimpleNamespace(full_name=name)) for name in ("p", "X")]
    graph.output(label_sets(rule, *tensors), SimpleNamespace(full_name="sets"))
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.DOUBLE, ["n", array.shape[1]])
        for name, array in (("p", p), ("X", X))
    ]
    output = helper.make_tensor_value_info("sets", TensorProto.INT64, ["n", N_LABELS])
    model = helper.make_model(
        helper.make_graph(nodes.nodes, "rule", inputs, [output], nodes.constants),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
    )
    running = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return running.run(None, {"p": p, "X": X})[0]


def data(polytope, has_empty):
    """Probabilities with zeros, features that predict sizes, and label sets."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    marginals = rng.beta(1, 2, size=(300, N_LABELS)) * (rng.random((300, 1)) + 0.2)
    marginals[rng.random(marginals.shape) < 0.2] = 0
    Y = (rng.random(marginals.shape) < marginals).astype(int)
    size = 1 + (X[:, 0] > 0)
    Y[:, 0] |= size > 1
    if not has_empty:
        is_empty = ~Y.any(axis=1)
        Y[is_empty, rng.integers(1, N_LABELS, is_empty.sum())] = 1
    if polytope == "simplex":
        total = marginals.sum(axis=1, keepdims=True)
        marginals /= np.where(total > 0, total, 1) * (1.25 if has_empty else 1)
    return marginals, X, Y


@pytest.mark.parametrize("has_empty", [True, False])
@pytest.mark.parametrize("polytope", ["simplex", "cube"])
@pytest.mark.parametrize(
    "rule",
    [
        CommonCut(),
        CommonCut("marginal"),
        LabelCuts(),
        LabelCuts(shrinkage=0, scale="marginal"),
        ExampleF1(),
        MetaLabeler(),
        StackedLabels(),
        StackedLabels(MetaLabeler()),
        TopK(2),
    ],
    ids=str,
)
def test_sets_are_those_of_the_rule(rule, polytope, has_empty):
    p, X, Y = data(polytope, has_empty)
    rule = clone(rule).fit(p, Y, X=X, polytope=polytope)
    assert rule.may_be_empty_ == has_empty
    # Rows of zeros, of tiny numbers, with ties, and beyond the sizes of the fit.
    rows = [0 * p[:20], 1e-9 * p[:20], p[:20].round(1), np.minimum(3 * p[:20], 1), p]
    p = np.vstack(rows)
    X = np.vstack([3 * X[:80], X])
    sets = sets_by_graph(rule, p, X)
    np.testing.assert_array_equal(sets, rule.predict(p, X))
    assert (sets.sum(axis=1) > 0).all() or has_empty


def test_cuts_of_zero_and_estimates_below_zero():
    """The nearest cut has the largest probability; negative estimates keep an order."""
    p, X, Y = data("cube", has_empty=False)
    cuts = LabelCuts().fit(p, Y, polytope="cube")
    cuts.cuts_ = np.array([0.0, 0.5, 0.9, 0.9, 0.9])
    stacked = StackedLabels(TopK(1)).fit(p, Y, polytope="cube")
    stacked.coef_, stacked.intercept_ = np.zeros((5, 5)), -np.ones(5)
    rows = np.vstack([p / 3, np.zeros((1, 5))])
    X = np.vstack([X, X[:1]])
    for rule in cuts, stacked:
        np.testing.assert_array_equal(sets_by_graph(rule, rows, X), rule.predict(rows))
