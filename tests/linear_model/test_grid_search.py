"""Every parameter of every classifier, and of every mapping, in a grid search."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob.metrics import BrierScorer

from ..estimators import SEARCHES

FOLDS = StratifiedKFold(2)


@pytest.fixture(scope="module")
def irises():
    X, y = load_iris(return_X_y=True)
    return X[::3], y[::3]


def brier_by_hand(model, X, y):
    """Mean Brier score over the folds, and the probabilities of all test rows."""
    scores, probabilities = [], []
    for train, test in FOLDS.split(X, y):
        p = clone(model).fit(X[train], y[train]).predict_proba(X[test])
        scores.append(-np.square(p - np.eye(3)[y[test]]).sum(axis=1).mean())
        probabilities.append(p)
    return np.mean(scores), np.vstack(probabilities)


# A fit may stop at max_iter or at a kink, and says so.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("classifier", "grid"), SEARCHES.values(), ids=SEARCHES)
def test_a_search_finds_what_a_loop_by_hand_finds(classifier, grid, irises):
    assert grid, "The parameter needs values to search over, in tests/estimators.py."
    X, y = irises
    # Both take the same steps: that they arrive at a minimum is tested elsewhere. Eight
    # leave the first stage of sparse softmax, from where `outside` matters.
    classifier = clone(classifier).set_params(max_iter=8)
    pipeline = make_pipeline(StandardScaler(), classifier)
    step = pipeline.steps[-1][0]
    grid = {f"{step}__{name}": values for name, values in grid.items()}
    search = GridSearchCV(pipeline, grid, scoring=BrierScorer(), cv=FOLDS).fit(X, y)
    tried = search.cv_results_["params"]
    by_hand, probabilities = zip(
        *(brier_by_hand(clone(pipeline).set_params(**p), X, y) for p in tried),
        strict=True,
    )
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], by_hand, rtol=1e-9
    )
    assert search.best_params_ == tried[np.argmax(by_hand)]
    chosen = search.best_estimator_.get_params()
    assert all(chosen[name] == value for name, value in search.best_params_.items())
    # No parameter is taken and then ignored.
    for i, p in enumerate(probabilities):
        for q in probabilities[:i]:
            assert np.abs(p - q).max() > 1e-6
