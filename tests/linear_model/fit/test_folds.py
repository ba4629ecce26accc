"""Probabilities of left-out rows, by which thresholds of label sets are chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from skprob import SigmoidClassifier
from skprob.decision import LabelCuts
from skprob.linear_model.fit import SeparateFolds

from ..data_sets import label_sets


class Recorded(LabelCuts):
    """Cuts that keep the probabilities they were chosen by."""

    seen: list = []

    def fit_sample(self, sample):
        self.seen.append(np.vstack(list(sample.blocks)))
        return super().fit_sample(sample)


def wide_label_sets():
    rng = np.random.default_rng(0)
    X = sparse.random_array((220, 400), density=0.04, rng=rng, format="csr")
    noise = rng.logistic(size=(220, 4))
    scores = 3 * X @ rng.normal(size=(400, 4)) + noise
    Y = (scores > 0.3).astype(int)
    # Where a row has none, folds are drawn in another way.
    Y[~Y.any(axis=1), 0] = 1
    return X, Y


def test_models_of_folds_have_not_seen_the_rows():
    """Beside one logistic regression for each label and fold, by scikit-learn."""
    X, Y = wide_label_sets()
    expected = []
    for train, test in KFold(3, shuffle=True, random_state=0).split(Y):
        singles = [
            LogisticRegression(tol=1e-9, max_iter=5000).fit(X[train], y[train])
            for y in Y.T
        ]
        expected.append([m.predict_proba(X[test])[:, 1] for m in singles])
    expected = np.hstack(expected).T
    order = np.concatenate(
        [test for _, test in KFold(3, shuffle=True, random_state=0).split(Y)]
    )
    for tol, within in (1e-4, 0.01), (1e-7, 2e-5):
        Recorded.seen.clear()
        model = SigmoidClassifier(C=1.0, tol=tol, threshold=Recorded()).fit(X, Y)
        assert len(Recorded.seen) == 1
        assert_allclose(Recorded.seen[0], expected, atol=within)
        # The start of the folds is further from their solutions.
        assert np.abs(model.predict_proba(X[order]) - expected).max() > 0.1


@pytest.mark.parametrize("n_columns", [3, 60])
def test_little_data_leave_out_one_row_without_fits(n_columns, monkeypatch):
    """Beside one logistic regression for each label without each row."""
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(30, n_columns)), rng.logistic(size=(30, 2))
    Y = (X[:, :2] + 0.5 * noise > 0).astype(float)
    weight = np.where(np.arange(30) % 9 == 1, 0.0, 1.0)
    Y[5:12, 0] = np.nan
    monkeypatch.setattr(SeparateFolds, "models", None)
    Recorded.seen.clear()
    model = SigmoidClassifier(C=0.2, threshold=Recorded())
    model.fit(X, Y, sample_weight=weight)
    rows = np.flatnonzero(weight)
    expected = np.zeros((len(rows), 2))
    for k, label in enumerate(Y.T):
        is_known = ~np.isnan(label)
        for i, row in enumerate(rows):
            others = (weight > 0) & is_known & (np.arange(30) != row)
            single = LogisticRegression(C=0.2, tol=1e-8).fit(X[others], label[others])
            expected[i, k] = single.predict_proba(X[[row]])[0, 1]
    (predictions,) = Recorded.seen
    assert_allclose(predictions, expected, atol=0.02)
    in_sample = model.predict_proba(X[rows])
    assert np.abs(in_sample - expected).max() > 0.1


def test_left_out_rows_have_their_offsets():
    X, Y = label_sets()
    X, Y, offset = X[:30], Y[:30], np.random.default_rng(0).normal(size=(30, 4))
    Recorded.seen.clear()
    model = SigmoidClassifier(C=0.1, tol=1e-8, threshold=Recorded())
    model.fit(X, Y, offset=offset)
    single, (predictions,) = clone(model).set_params(threshold=0.5), Recorded.seen
    for i in range(30):
        others = np.arange(30) != i
        single.fit(X[others], Y[others], offset=offset[others])
        expected = single.predict_proba(X[[i]], offset=offset[[i]])
        assert_allclose(predictions[[i]], expected, atol=0.01)
