"""scikit-learn's checks: all with default parameters, some with other parameters."""

import warnings
from functools import cache
from unittest import SkipTest

import pytest
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import (
    estimator_checks_generator,
    parametrize_with_checks,
)

import skprob
import skprob.attention
from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)

from .estimators import DEFAULTS, VARIANTS
from .versions import need_cuda

#: Checks that a mapping, a loss or a parameter can fail.
OF_THE_MODEL = {
    "check_class_weight_classifiers",
    "check_classifiers_classes",
    "check_classifiers_multilabel_output_format_predict_proba",
    "check_classifiers_train",
    "check_decision_proba_consistency",
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
#: The check of label sets that probabilities of exactly 0 or 1 cannot pass.
INSIDE = "check_classifiers_multilabel_output_format_predict_proba"


@cache
def _data():
    X, y = make_multilabel_classification(
        100, n_features=2, n_classes=5, n_labels=3, length=50, random_state=0
    )
    return scale(X), y


def _has_zeros(estimator):
    """Whether a probability of the check of label sets is exactly 0."""
    X, y = _data()
    # Probabilities do not depend on the threshold, whose choice takes most of a search.
    model = clone(estimator)
    if "threshold" in model.get_params():
        model.set_params(threshold=0.2)
    with warnings.catch_warnings(action="ignore"):
        model.fit(X[:-25], y[:-25])
        return not (model.predict_proba(X[-25:]) > 0).all()


def _checks_of(estimators, names):
    """Estimators with each of the checks of these names.

    Double precision that cannot be written to is left out: the other two runs of the
    check are of arrays in double precision, and of read-only ones in single precision.
    """
    return [
        case
        for estimator in estimators
        for case in estimator_checks_generator(estimator)
        if case[1].func.__name__ in names
        and case[1].keywords != {"readonly_memmap": True}
    ]


def _id(value):
    """Name of an estimator, or of a check with its parameters."""
    if not hasattr(value, "func"):
        return repr(value).replace(" ", "")
    given = ",".join(f"{k}={v}" for k, v in value.keywords.items())
    return f"{value.func.__name__}({given})" if given else value.func.__name__


def run(check, estimator):
    if ("torch", "cuda") in _places(check):
        # scikit-learn asks whether torch was built for a GPU, not whether there is one.
        need_cuda()
    try:
        check(estimator)
    except AssertionError as error:
        is_expected = _name(check) == INSIDE and "not strictly ordered" in str(error)
        if not (is_expected and _has_zeros(estimator)):
            raise
    except SkipTest as skip:
        # Other libraries than those that the tests need may be missing.
        is_needed = {name for name, _ in _places(check)} <= {
            "numpy",
            "array_api_strict",
        }
        has_scores = hasattr(estimator, "decision_function")
        if is_needed and (has_scores or "decision_function" not in str(skip)):
            pytest.fail(f"No check may be skipped: {skip}")
        pytest.skip(str(skip))


def _name(check):
    return getattr(check, "func", check).__name__


def _places(check):
    """The libraries of arrays and their devices, by name, that a check is about."""
    given = getattr(check, "keywords", {})
    places = [given.get("X_ns_and_device"), given.get("other_ns_and_device")]
    libraries = {(place.xp, place.device) for place in places if place is not None}
    if "array_namespace" in given:
        libraries.add((given["array_namespace"], given.get("device_name")))
    return libraries


@pytest.mark.filterwarnings("ignore:.* rows have no label:UserWarning")
# A check of scikit-learn 1.7 has too few rows for five folds.
@pytest.mark.filterwarnings("ignore:.* y has only 4 members:UserWarning")
@parametrize_with_checks(DEFAULTS)
def test_every_check_of_the_defaults(estimator, check):
    run(check, estimator)


@pytest.mark.filterwarnings("ignore:.* rows have no label:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "check"), _checks_of(VARIANTS, OF_THE_MODEL), ids=_id
)
def test_checks_that_parameters_can_fail(estimator, check):
    estimator = clone(estimator)
    if estimator.similarity == "cosine" and "weight_equivalence" in _name(check):
        # Not convex: rounding leads L-BFGS along another path, to a point nearby.
        estimator.set_params(solver="newton-cg", tol=1e-9)
    run(check, estimator)


def test_the_checks_are_known():
    checks = estimator_checks_generator(LinearClassifier())
    assert {_name(check) for _, check in checks} >= OF_THE_MODEL


def test_every_public_estimator_is_checked():
    checked = {type(estimator).__name__ for estimator in DEFAULTS}
    public = {*skprob.__all__, *skprob.attention.__all__}
    named = {name for name in public if name.endswith(("Classifier", "ClassifierCV"))}
    assert named <= checked
    named |= {"ConformalSets"}
    assert named <= checked
    for estimator in DEFAULTS:
        required = [estimator.estimator] if hasattr(estimator, "estimator") else []
        assert estimator.get_params() == type(estimator)(*required).get_params()


def test_only_sparse_mappings_have_zeros():
    for estimator in SparsemaxClassifier(), EntmaxClassifier():
        assert _has_zeros(estimator)
    for estimator in SoftmaxClassifier(), EntmaxClassifier(alpha=1):
        assert not _has_zeros(estimator)
