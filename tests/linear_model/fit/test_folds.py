"""Folds of wide label sets, whose fits start from the solution of all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from skprob import SigmoidClassifier
from skprob.decision import LabelCuts


class Recorded(LabelCuts):
    """Cuts that keep the probabilities they were chosen by."""

    seen: list = []

    def fit_sample(self, sample):
        self.seen.append(np.vstack(list(sample.blocks)))
        return super().fit_sample(sample)


def wide_label_sets():
    rng = np.random.default_rng(0)
    X = sparse.random_array((150, 400), density=0.04, rng=rng, format="csr")
    noise = rng.logistic(size=(150, 4))
    scores = 3 * X @ rng.normal(size=(400, 4)) + noise
    Y = (scores > 0.3).astype(int)
    # Where a row has none, folds are drawn in another way.
    Y[~Y.any(axis=1), 0] = 1
    return X, Y


@pytest.mark.parametrize(("tol", "within"), [(1e-4, 0.01), (1e-7, 2e-5)])
def test_models_of_folds_have_not_seen_the_rows(tol, within):
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
    Recorded.seen.clear()
    model = SigmoidClassifier(C=1.0, tol=tol, threshold=Recorded()).fit(X, Y)
    assert len(Recorded.seen) == 1
    assert_allclose(Recorded.seen[0], expected, atol=within)
    # What the folds are started from is further away.
    order = np.concatenate(
        [test for _, test in KFold(3, shuffle=True, random_state=0).split(Y)]
    )
    assert np.abs(model.predict_proba(X[order]) - expected).max() > 0.1
