"""Label sets of which some entries are not known."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification

from skprob import SigmoidClassifier
from skprob.decision import ConformalSets
from skprob.metrics import set_coverage


def hidden_sets(n_samples=600):
    X, Y = make_multilabel_classification(n_samples, n_classes=4, random_state=0)
    hidden = np.random.default_rng(0).random(Y.shape) < 0.3
    return X, Y, np.where(hidden, np.nan, Y)


@pytest.mark.parametrize(
    ("score_function", "by"), [("entmax", "class"), ("threshold", None)]
)
def test_labels_that_are_not_known_are_not_calibrated(score_function, by):
    """NaN was refused, although the classifier takes it."""
    X, Y, known = hidden_sets()
    inner = SigmoidClassifier(C=0.1).fit(X[:200], known[:200])
    model = ConformalSets(inner, cv="prefit", by=by, score_function=score_function)
    given = known[200:400]
    expected = clone(model).set_params(estimator=inner)
    expected.fit(X[200:400], np.nan_to_num(given))
    names = list("dabc")
    frame = pd.DataFrame(given, columns=names)
    for y in (given, given.tolist(), frame, frame.astype("Int64")):
        model.fit(X[200:400], y)
        assert_array_equal(model.quantile_, expected.quantile_)
    if by is None and score_function == "threshold":
        p, is_true = inner.predict_proba(X[200:400]), given == 1
        scores = np.where(p == p.max(axis=1, keepdims=True), 0, 1 - p)[is_true]
        # A row counts once, whatever the number of its known labels.
        n_true = is_true.sum(axis=1)
        weight = (1 / np.maximum(n_true, 1))[np.nonzero(is_true)[0]]
        order = np.argsort(scores)
        rank = 0.9 * (np.count_nonzero(n_true) + 1)
        position = np.searchsorted(weight[order].cumsum(), rank - 1e-9)
        assert model.quantile_ == pytest.approx(scores[order][position])
    folds = ConformalSets(SigmoidClassifier(C=0.1), by=by, cv=3)
    sets = folds.fit(X[:400], known[:400]).predict_set(X[400:])
    assert 0.85 < set_coverage(Y[400:], sets) < 0.99


def test_shares_with_gaps_are_no_label_sets():
    X, _, known = hidden_sets(50)
    with pytest.raises(ValueError, match=r"y must be labels .* or a 0/1 indicator"):
        ConformalSets(SigmoidClassifier()).fit(X, known * 0.5)


def test_labels_have_no_gaps():
    X, _, known = hidden_sets(50)
    for y in (known[:, 0], known[:, :1]):
        with pytest.raises(ValueError, match="y contains NaN"):
            ConformalSets(SigmoidClassifier()).fit(X, y)
