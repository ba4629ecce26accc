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


@pytest.fixture(scope="module")
def irises():
    """Features and labels of 50 irises, and numbers of the rows of one fold."""
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    return X, y, next(StratifiedKFold(2).split(X, y))


# A fit may stop at max_iter or at a kink, and says so.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("classifier", "grid"), SEARCHES.values(), ids=SEARCHES)
def test_a_search_finds_what_a_loop_by_hand_finds(classifier, grid, irises):
    assert grid, "The parameter needs values to search over, in tests/estimators.py."
    X, y, (train, test) = irises
    # Both take the same steps: that they arrive at a minimum is tested elsewhere. Eight
    # leave the first stage of sparse softmax, from where `outside` matters.
    classifier = clone(classifier).set_params(max_iter=8)
    pipeline = make_pipeline(StandardScaler(), classifier)
    step = pipeline.steps[-1][0]
    grid = {f"{step}__{name}": values for name, values in grid.items()}
    # A refit would be one more fit with some of these parameters.
    search = GridSearchCV(
        pipeline, grid, scoring=BrierScorer(), cv=[(train, test)], refit=False
    ).fit(X, y)
    tried = search.cv_results_["params"]
    models = [clone(pipeline).set_params(**p).fit(X[train], y[train]) for p in tried]
    probabilities = [model.predict_proba(X[test]) for model in models]
    target = np.eye(3)[y[test]]
    by_hand = [-np.square(p - target).sum(axis=1).mean() for p in probabilities]
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], by_hand, rtol=1e-9
    )
    assert search.best_params_ == tried[np.argmax(by_hand)]
    for model, params in zip(models, tried, strict=True):
        kept = model.get_params()
        assert all(kept[name] == value for name, value in params.items())
    # No parameter is taken and then ignored.
    for i, p in enumerate(probabilities):
        for q in probabilities[:i]:
            assert np.abs(p - q).max() > 1e-6
