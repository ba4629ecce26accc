"""scikit-learn's checks: for each class, and for parameters, those that it can fail."""

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

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)

from .estimators import CLASSES, VARIANTS

#: What a mapping, a loss or a parameter of the model can fail.
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
#: What else a class can fail that has a constructor, a mapping and a loss of its own.
#: All other checks see what the methods do with their input.
OF_THE_CLASS = OF_THE_MODEL | {
    "check_dict_unchanged",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_dont_overwrite_parameters",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_non_transformer_estimators_n_iter",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}
METHODS = [
    *("fit", "score", "predict"),
    *("predict_proba", "predict_log_proba", "decision_function"),
]


def _shares_its_methods(model):
    """Whether what it does with its input is what another class does."""
    return model.similarity == "dot" and any(
        all(getattr(type(model), m) is getattr(other, m) for m in METHODS)
        for other in (LinearClassifier, EntmaxClassifierCV)
        if type(model) is not other
    )


@cache
def _data():
    X, y = make_multilabel_classification(
        100, n_features=2, n_classes=5, n_labels=3, length=50, random_state=0
    )
    return scale(X), y


def _expected_failures(estimator):
    """The one check that exact zeros contradict, where its data meet any."""
    X, y = _data()
    with warnings.catch_warnings(action="ignore"):
        model = clone(estimator).fit(X[:-25], y[:-25])
    if not model.mapping_.has_zeros or (model.predict_proba(X[-25:]) > 0).all():
        return {}
    return {
        "check_classifiers_multilabel_output_format_predict_proba": (
            "probabilities of label sets must lie strictly inside (0, 1) there"
        )
    }


def _checks_of(estimators, names):
    """Estimators with each of the checks of these names."""
    return [
        case
        for estimator in estimators
        for case in estimator_checks_generator(
            estimator,
            expected_failed_checks=_expected_failures(estimator),
            # Probabilities of exactly 0 or 1, which scikit-learn does not expect of
            # label sets: run all the same, and an error if they should pass.
            mark="xfail",
        )
        if getattr(case, "values", case)[1].func.__name__ in names
    ]


def _id(value):
    """Of an estimator or of a check with its parameters."""
    if not hasattr(value, "func"):
        return repr(value).replace(" ", "")
    given = ",".join(f"{k}={v}" for k, v in value.keywords.items())
    return f"{value.func.__name__}({given})" if given else value.func.__name__


def run(check, estimator):
    name = getattr(check, "func", check).__name__
    if estimator.similarity == "cosine" and "weight_equivalence" in name:
        # Not convex: rounding leads L-BFGS along another path, to a point nearby.
        estimator = clone(estimator).set_params(solver="newton-cg", tol=1e-9)
    try:
        check(estimator)
    except SkipTest as skip:
        # Other libraries than those that the tests need may be missing.
        if _libraries(check) <= {"numpy", "array_api_strict"}:
            pytest.fail(f"No check may be skipped: {skip}")
        pytest.skip(str(skip))


def _libraries(check):
    """The libraries of arrays, by name, that a check is about."""
    given = check.keywords
    pair = given.get("X_ns_and_device"), given.get("other_ns_and_device")
    named = {place.xp for place in pair if place is not None}
    return named | ({given["array_namespace"]} if "array_namespace" in given else set())


SHARING = [model for model in CLASSES if _shares_its_methods(model)]
OTHERS = [model for model in CLASSES if not _shares_its_methods(model)]


@pytest.mark.filterwarnings("ignore:.* rows have no label:UserWarning")
@parametrize_with_checks(OTHERS, expected_failed_checks=_expected_failures)
def test_every_check(estimator, check):
    run(check, estimator)


@pytest.mark.filterwarnings("ignore:.* rows have no label:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    _checks_of(SHARING, OF_THE_CLASS) + _checks_of(VARIANTS, OF_THE_MODEL),
    ids=_id,
)
def test_check_that_can_fail(estimator, check):
    run(check, clone(estimator))


def test_the_checks_are_known():
    checks = estimator_checks_generator(LinearClassifier())
    assert {check.func.__name__ for _, check in checks} >= OF_THE_CLASS
    others = {type(model).__name__ for model in OTHERS}
    assert others >= {"LinearClassifier", "AMSoftmaxClassifier", "EntmaxClassifierCV"}


def test_only_sparse_mappings_are_excused():
    for estimator in SparsemaxClassifier(), EntmaxClassifier():
        assert _expected_failures(estimator)
    for estimator in SoftmaxClassifier(), EntmaxClassifier(alpha=1):
        assert not _expected_failures(estimator)
