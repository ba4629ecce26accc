"""The label of least expected cost, against every label in turn."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob.decision import LeastCost

P = np.random.default_rng(0).dirichlet([1, 1, 1], size=50)
COSTS = np.array([[0.0, 1.0, 1.5], [2.0, -0.5, 3.0], [3.0, 2.5, 0.0]])
NAMES = np.array(["a", "b", "c"])


def least(p, abstain=np.inf):
    """Column by column, with -1 where all cost more."""
    expected = [sum(p[i] * COSTS[i, j] for i in range(3)) for j in range(3)]
    best = min(range(3), key=expected.__getitem__)
    return best if expected[best] <= abstain else -1


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_no_label_costs_less(container):
    rule, expected = LeastCost(COSTS), np.array([least(p) for p in P])
    assert len(set(expected)) == 3
    assert_array_equal(rule.predict(container(P)), expected)
    labels = rule.predict(container(P), NAMES)
    assert_array_equal(labels, NAMES[expected])
    assert labels.dtype == NAMES.dtype
    assert_allclose(rule.expected_costs(container(P)), P @ COSTS)


@pytest.mark.parametrize(
    ("classes", "label", "name", "kind"),
    [
        (np.array([3, 5, 9]), "auto", -1, "i"),
        (np.array([3, 5, 9], np.uint8), "auto", -1, "i"),
        (np.array([3.0, 5.0, 9.0]), "auto", -1.0, "f"),
        (NAMES, "auto", None, "O"),
        (NAMES, "ask someone", "ask someone", "U"),
        (NAMES.astype(object), "ask", "ask", "O"),
        (np.array([3, 5, 9]), None, None, "O"),
        (np.array([3, 5, 9]), 0, 0, "i"),
    ],
)
def test_no_decision_where_every_label_costs_more(classes, label, name, kind):
    predicted = LeastCost(COSTS, 0.6, label).predict(P, classes)
    expected = np.array([least(p, 0.6) for p in P])
    assert 5 < np.count_nonzero(expected < 0) < 45
    assert predicted.dtype.kind == kind
    assert predicted.tolist() == [name if k < 0 else classes[k] for k in expected]


def test_a_tie_with_asking_is_decided():
    assert LeastCost([[0, 1], [1, 0]], abstain=0.5).predict([[0.5, 0.5]]) == [0]


def test_frames_are_lined_up_by_name():
    order = [2, 0, 1]
    frame = pd.DataFrame(COSTS, index=NAMES, columns=NAMES)
    shuffled = frame.iloc[[1, 2, 0], order]
    expected = LeastCost(COSTS).predict(P, NAMES)
    assert_array_equal(LeastCost(shuffled).predict(P, NAMES), expected)
    p = pd.DataFrame(P, columns=NAMES)[NAMES[order]]
    assert_array_equal(LeastCost(shuffled).predict(p), expected)
    assert_array_equal(LeastCost(shuffled).predict(p, NAMES), expected)
    # Without names the probabilities are in the order of the columns of the costs.
    assert_array_equal(LeastCost(shuffled).predict(P[:, order]), expected)


@pytest.mark.parametrize(
    ("parameters", "arguments", "message"),
    [
        ({"costs": COSTS[:2]}, (P,), r"costs must be a matrix .* \(3, 3\).* \(2, 3\)"),
        ({"costs": COSTS[0]}, (P,), r"costs must be a matrix .*got shape \(3,\)"),
        (
            {"costs": np.full((3, 3), np.inf)},
            (P,),
            "costs must be finite; got .* in row 0",
        ),
        ({"costs": [["a"] * 3] * 3}, (P,), "costs must be real numbers"),
        ({"costs": 3.0}, (P,), "'costs' parameter"),
        ({"abstain": np.nan}, (P,), "'abstain' parameter"),
        ({}, (2 * P,), "probabilities must be rows .* sum to one"),
        ({}, (P, NAMES[:2]), "a column for each of the 2 classes; got 3"),
        ({"abstain": 1, "abstain_label": "b"}, (P, NAMES), "abstain_label must not be"),
        ({"abstain": 1, "abstain_label": [1]}, (P,), r"a single label; got \[1\]"),
        ({"abstain": 1, "abstain_label": np.ones(2)}, (P,), "a single label; got"),
        ({}, (P, ["a", "b", "a"]), "classes must be distinct labels"),
        ({}, (P, [["a"], ["b"], ["c"]]), "classes must be distinct labels of shape"),
        (
            {"costs": COSTS * 1e39},
            (P.astype(np.float32),),
            r"costs must be finite .* float32; got numbers from -5e\+38 to 3e\+39",
        ),
        (
            {"costs": pd.DataFrame(COSTS, columns=["a", "b", "d"])},
            (P, NAMES),
            r"costs must have the columns .*missing: \['c'\], unexpected: \['d'\]",
        ),
        (
            {"costs": pd.DataFrame(COSTS, ["a", "b", "d"], NAMES)},
            (P, NAMES),
            r"costs must have the rows .*missing: \['c'\].* Rename the rows, or give",
        ),
        (
            {"costs": pd.DataFrame(COSTS, ["a", "b", "a"], NAMES)},
            (P, NAMES),
            r"costs must have rows with distinct names; got \['a'\] more than once",
        ),
    ],
)
def test_errors_name_the_argument(parameters, arguments, message):
    rule = LeastCost(**{"costs": COSTS, **parameters})
    with pytest.raises(ValueError, match=message):
        rule.predict(*arguments)


def test_only_available_classes_are_chosen():
    """The class of least cost among them, or no decision where all cost too much."""
    names = np.array([4, 7, 9])
    rule = LeastCost([[0, 1, 3], [2, 0, 3], [1, 1, 0]], abstain=0.8).for_classes(names)
    p = np.array([[0.6, 0.4, 0.0], [0.6, 0.4, 0.0], [0.1, 0.9, 0.0], [0.1, 0.0, 0.9]])
    available = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
    # Costs of a row: [.8, .6, 3], [.8, -, 3], [1.8, .1, -] and [-, 1, .3].
    assert rule.decide(p, names, available).tolist() == [7, 4, 7, 9]
    available = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 0]], dtype=bool)
    assert rule.decide(p, names, available).tolist() == [-1, 7, -1, -1]
