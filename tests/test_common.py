"""scikit-learn's own checks, over every classifier with every mapping."""

import warnings
from unittest import SkipTest

import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from .estimators import CHECKED


def _expected_failures(estimator):
    """The one check that exact zeros contradict, where its data meet any."""
    X, y = make_multilabel_classification(
        100, n_features=2, n_classes=5, n_labels=3, length=50, random_state=0
    )
    X = scale(X)
    with warnings.catch_warnings(action="ignore"):
        model = clone(estimator).fit(X[:-25], y[:-25])
    if not model.mapping_.has_zeros or (model.predict_proba(X[-25:]) > 0).all():
        return {}
    return {
        "check_classifiers_multilabel_output_format_predict_proba": (
            "probabilities of label sets must lie strictly inside (0, 1) there"
        )
    }


@pytest.mark.filterwarnings("ignore:.* rows have no label:UserWarning")
@parametrize_with_checks(
    list(CHECKED.values()), expected_failed_checks=_expected_failures
)
def test_check_of_scikit_learn(estimator, check):
    try:
        check(estimator)
    except SkipTest as skip:
        pytest.fail(f"No check may be skipped: {skip}")


def test_only_sparse_mappings_are_excused():
    excused = {name for name, model in CHECKED.items() if _expected_failures(model)}
    assert {"SparsemaxClassifier()", "EntmaxClassifier()"} <= excused
    assert not {"SoftmaxClassifier()", "TaylorSoftmaxClassifier()"} & excused
    assert "EntmaxClassifier(alpha=1)" not in excused
