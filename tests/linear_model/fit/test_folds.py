"""Probabilities of left-out rows, by which thresholds of label sets are chosen."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

from skprob import EntmaxClassifier, SigmoidClassifier, SoftmaxClassifier
from skprob.decision import LabelCuts
from skprob.linear_model.fit import SeparateFolds, _folds

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
    # The start of the folds is further from their solutions.
    order = np.concatenate(
        [test for _, test in KFold(3, shuffle=True, random_state=0).split(Y)]
    )
    assert np.abs(model.predict_proba(X[order]) - expected).max() > 0.1


COUPLED = {
    "softmax": SoftmaxClassifier(max_iter=10_000),
    "1.5-entmax": EntmaxClassifier(1.5, max_iter=10_000),
}


def correlated_label_sets(n_rows, n_labels=8):
    """Wide sparse rows with one to three of the labels, by the same teacher."""
    teacher = np.random.default_rng(1).normal(size=(600, n_labels))
    rng = np.random.default_rng(n_rows)
    X = sparse.random_array((n_rows, 600), density=0.05, rng=rng, format="csr")
    scores = X @ teacher / 1.5 + rng.gumbel(size=(n_rows, n_labels))
    Y = (scores > np.sort(scores, axis=1)[:, [-4]]) & (scores > 0.8)
    Y[np.arange(n_rows), scores.argmax(axis=1)] = True
    return X, Y.astype(int)


def out_of_fold_by_refits(model, X, Y):
    """Probabilities of left-out rows by fits from zero, and the rows' numbers."""
    blocks, numbers = [], []
    single = clone(model).set_params(threshold=0.1, tol=1e-9)
    for train, test in KFold(3, shuffle=True, random_state=0).split(Y):
        blocks.append(single.fit(X[train], Y[train]).predict_proba(X[test]))
        numbers.append(test)
    return np.vstack(blocks), np.concatenate(numbers)


@pytest.mark.parametrize(
    ("name", "C"), [("softmax", 1.0), ("softmax", 100.0), ("1.5-entmax", 1.0)]
)
def test_loose_fits_to_folds_choose_the_cuts_of_exact_fits(name, C, monkeypatch):
    X, Y = correlated_label_sets(240)
    X_new, Y_new = correlated_label_sets(2000)
    model = clone(COUPLED[name]).set_params(C=C)
    expected, rows = out_of_fold_by_refits(model, X, Y)
    Recorded.seen.clear()
    # Fits to folds from zero would call it.
    monkeypatch.setattr(_folds, "fit_to_rows", None)
    model.set_params(threshold=Recorded()).fit(X, Y)
    (loose,) = Recorded.seen
    # Share of the influence of the left-out rows that is left, and distances.
    left, influence = loose - expected, model.predict_proba(X[rows]) - expected
    assert np.linalg.norm(left) < 0.35 * np.linalg.norm(influence)
    assert abs((left * influence).sum()) < 0.12 * (influence**2).sum()
    exact = LabelCuts().fit(expected, Y[rows], polytope="simplex")
    by_exact = exact.predict(model.predict_proba(X_new))
    scores = [
        f1_score(Y_new, sets, average="micro")
        for sets in (model.predict(X_new), by_exact)
    ]
    assert scores[0] > scores[1] - 0.01


@pytest.mark.parametrize("name", COUPLED)
def test_fits_to_folds_are_as_tight_as_the_tolerance(name):
    X, Y = correlated_label_sets(150)
    model = clone(COUPLED[name]).set_params(C=1.0, tol=1e-8, threshold=Recorded())
    expected, _ = out_of_fold_by_refits(model, X, Y)
    Recorded.seen.clear()
    model.fit(X, Y)
    assert_allclose(Recorded.seen[0], expected, atol=1e-4)


def test_a_fold_without_unlabelled_rows_has_another_shape():
    """The only row without a label is left out by one of the folds."""
    X, Y = correlated_label_sets(90)
    Y[0] = 0
    Recorded.seen.clear()
    model = SoftmaxClassifier(C=1.0, threshold=Recorded()).fit(X, Y)
    assert model.has_none_class_
    (predictions,) = Recorded.seen
    assert predictions.shape == Y.shape
    assert np.isfinite(predictions).all()


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
