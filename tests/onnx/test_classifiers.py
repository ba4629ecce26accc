"""Every classifier, converted to ONNX, predicts what it did before."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_wine, make_multilabel_classification
from sklearn.ensemble import BaggingClassifier, StackingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
    TaylorSoftmaxClassifier,
)
from skprob.decision import (
    CommonCut,
    DecisionRule,
    ExampleF1,
    LabelCuts,
    LeastCost,
    StackedLabels,
    TopK,
)
from skprob.mappings import SkewNormal
from skprob.onnx import register_classifier

from .running import assert_same, run, run_session, session

WINE = load_wine(return_X_y=True)


def fitted(model, X, y):
    """Well enough: the best coefficients are no easier to convert."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).set_params(max_iter=5).fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        # test_mappings.py has the other values of their parameters.
        SoftmaxClassifier(),
        SparsemaxClassifier(),
        EntmaxClassifier(0.5),
        EntmaxClassifier(1.7),
        TaylorSoftmaxClassifier(order=6),
        SparseSoftmaxClassifier(k=2),
        AMSoftmaxClassifier(),
        AMSoftmaxClassifier(standardize=False, constant=0),
        LinearClassifier("entropy_invariant_softmax"),
        LinearClassifier("nested_softmax"),
        LinearClassifier("sparsemax", similarity="cosine", temperature=0.2),
        EntmaxClassifier(temperature=3.0, fit_intercept=False),
        SigmoidClassifier(),
        SigmoidClassifier(2.0, temperature=0.5),
    ],
    ids=str,
)
def test_labels_of_digits_and_wine_are_those_of_the_model(model):
    # This one standardises features in the precision of X, where the graph has float64.
    rounding = 3e-6 if isinstance(model, AMSoftmaxClassifier) else 1e-6
    for load in (load_digits, load_wine):
        X, y = load(return_X_y=True)
        X, y = scale(X).astype(np.float32)[:400], y[:400]
        assert_same(fitted(model, X.astype(float), y), X, rounding)
    # Two classes, which share a row of coefficients.
    assert_same(fitted(model, X.astype(float), y > 0), X, rounding)


@pytest.mark.parametrize("alpha", [1.0, 1.5, 2.0])
def test_rows_in_which_all_marginals_are_zero(alpha):
    X, y = WINE
    X = scale(X)
    model = SigmoidClassifier(alpha).fit(X, y)
    model.intercept_ = model.intercept_ - (800 if alpha == 1 else 3)
    assert (model.mapping_(model.decision_function(X)) == 0).all(axis=1).any()
    assert_same(model, X.astype(np.float32))


def label_sets(allow_unlabeled):
    X, Y = make_multilabel_classification(
        200, n_classes=6, allow_unlabeled=allow_unlabeled, random_state=0
    )
    return scale(X), Y


@pytest.mark.parametrize("model", [SparsemaxClassifier(), SigmoidClassifier()], ids=str)
def test_label_sets_by_every_rule(model):
    X, Y = label_sets(allow_unlabeled=True)
    model = clone(model).set_params(threshold=0.1).fit(X, Y)
    X = X.astype(np.float32)
    sets = []
    for threshold in (
        *("support", 0.3, np.linspace(0.1, 0.4, 6)),
        *("common_cut", "label_cuts", "example_f1", "meta_labeler", "stacked_labels"),
        CommonCut("marginal"),
        LabelCuts(shrinkage=0, scale="marginal"),
        StackedLabels(ExampleF1()),
        TopK(2),
        TopK(9),
    ):
        model.set_threshold(threshold, X, Y)
        assert_same(model, X)
        assert_rows_with_nan_are_marked(session(model, X), X)
        sets.append(model.predict(X).tobytes())
    # The rules predict different sets.
    assert len(set(sets)) >= 5


def assert_rows_with_nan_are_marked(running, X):
    """Their labels are -1, their probabilities NaN, and other rows do not change."""
    with_nan = X.copy()
    with_nan[::5, 3] = np.nan
    with_nan[1::5, 0] = np.inf
    is_wrong = ~np.isfinite(with_nan).all(axis=1)
    sets, p = run_session(running, with_nan)
    assert (sets[is_wrong] == -1).all()
    assert np.isnan(p[is_wrong]).all()
    expected = run_session(running, X)
    np.testing.assert_array_equal(sets[~is_wrong], expected[0][~is_wrong])
    np.testing.assert_array_equal(p[~is_wrong], expected[1][~is_wrong])


@pytest.mark.parametrize(
    "model",
    [
        TaylorSoftmaxClassifier(),
        EntmaxClassifier(similarity="cosine"),
        *(SigmoidClassifier(alpha) for alpha in (1.3, 2.0, 4.0)),
    ],
    ids=str,
)
def test_label_sets_of_other_mappings(model):
    X, Y = label_sets(allow_unlabeled=False)
    assert_same(fitted(model, X, Y), X.astype(np.float32))


def test_the_similarity_is_that_of_the_fit():
    X, y = WINE
    for model, other in (
        (EntmaxClassifier(similarity="cosine"), "dot"),
        (EntmaxClassifier(), "cosine"),
    ):
        model.fit(scale(X), y).set_params(similarity=other)
        assert_same(model, scale(X).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cosines_of_rows_of_any_size_and_of_zeros(dtype):
    X, y = WINE
    model = EntmaxClassifier(similarity="cosine").fit(scale(X), y)
    X, size = scale(X)[::9], np.finfo(dtype).max ** 0.9
    rows = np.vstack([X / size, 0 * X, X, size / 100 * X]).astype(dtype)
    assert_same(model, rows)


def test_small_probabilities_stay_in_the_support_in_float32():
    """A number below the range of float32 is its smallest normal number."""
    model = EntmaxClassifier(alpha=1.05, C=1.0).fit([[-1.0], [1.0]], [0, 1])
    X = np.linspace(0, 60, 2001, dtype=np.float32)[:, None]
    p, tiny = model.predict_proba(X), np.finfo(np.float32).tiny
    is_small = (p > 0) & (p < tiny)
    assert is_small.any() and (p == 0).any()
    of_graph = run(model, X)[1]
    np.testing.assert_array_equal(of_graph > 0, p > 0)
    np.testing.assert_array_equal(of_graph[is_small], tiny)


def test_labels_where_probabilities_are_equal_are_those_of_the_scores():
    """Several labels can have marginals of one."""
    X, y = WINE
    model = SigmoidClassifier(alpha=2.0).fit(scale(X), y)
    X = (5 * scale(X)).astype(np.float32)
    p = model.predict_proba(X)
    assert (p[:, :1] < p[:, 1:]).any() and (
        np.sort(p)[:, -1] == np.sort(p)[:, -2]
    ).any()
    assert_same(model, X)


def test_features_that_the_model_standardises():
    X, y = WINE
    for constant in (0, 0.5):
        model = AMSoftmaxClassifier(constant=constant).fit(X, y)
        assert_same(model, X.astype(np.float32))


def test_fits_to_distributions_are_converted():
    X = WINE[0]
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=len(X))
    assert_same(EntmaxClassifier().fit(scale(X), q), X.astype(np.float32))


@pytest.mark.parametrize(
    "names",
    [
        np.array(["a", "bé", "c"]),
        np.array(["a", "bé", "c"], dtype=object),
        np.array([-7, 3, 40], dtype=np.int16),
        np.array([1.0, 2.0, 4.0]),
        np.array([False, True, True]),
    ],
    ids=lambda names: str(names.dtype),
)
def test_names_of_classes_are_those_of_the_model(names):
    X, y = WINE
    assert_same(SparsemaxClassifier().fit(X, names[y]), X.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_inputs_of_any_type_are_taken(dtype):
    X, y = WINE
    model = EntmaxClassifier().fit(X, y)
    assert_same(model, X.astype(dtype), 1e-15 if dtype == np.float64 else 1e-7)
    # The model itself now computes in float32, with the rounding of that.
    model.fit(X.astype(np.float32), y)
    assert_same(model, X.astype(dtype), 1e-5)


def searched(model):
    return GridSearchCV(model, {"C": [0.1, 1.0]}, cv=2)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), SparsemaxClassifier()),
        searched(TaylorSoftmaxClassifier()),
        make_pipeline(StandardScaler(), searched(SoftmaxClassifier())),
        GridSearchCV(
            make_pipeline(StandardScaler(), EntmaxClassifier()),
            {"entmaxclassifier__alpha": [1.0, 1.5]},
            cv=2,
        ),
        make_pipeline(StandardScaler(), EntmaxClassifierCV(Cs=2, cv=2)),
    ],
    ids=["pipeline", "search", "search in pipeline", "pipeline in search", "cv"],
)
def test_pipelines_and_searches_are_converted(model):
    X, y = WINE
    model.fit(scale(X), y)
    X = scale(X).astype(np.float32)
    # Pipelines of scikit-learn's compute in float32.
    assert_same(model, X, 2e-6)
    assert_same(model, X, 2e-6, options={"zipmap": False})


def test_columns_of_a_dataframe_are_inputs():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = (X - X.mean()) / X.std()
    few = X.iloc[:, :3].astype(np.float32)
    few.columns = ["a", "b", "c"]
    assert_same(EntmaxClassifier().fit(few, y), few)
    columns = make_column_transformer((StandardScaler(), ["c"]), ("passthrough", ["a"]))
    assert_same(make_pipeline(columns, EntmaxClassifier()).fit(few, y), few, 2e-6)
    assert isinstance(few, pd.DataFrame)


def test_the_number_of_rows_is_free():
    X, y = WINE
    model = SparsemaxClassifier().fit(X, y)
    running = session(model, X.astype(np.float32))
    for n_rows in (1, 7):
        labels, p = running.run(None, {"X": X[:n_rows].astype(np.float32)})
        assert labels.shape == (n_rows,)
        assert p.shape == (n_rows, 3)
    shapes = [output.shape for output in running.get_outputs()]
    assert [len(shape) for shape in shapes] == [1, 2]
    assert shapes[1][1] == 3


@pytest.mark.parametrize(
    ("model", "names", "missing"),
    [
        (SparsemaxClassifier(), np.array(["a", "bé", "c"]), ""),
        (TaylorSoftmaxClassifier(), np.array([-1, 0, 1]), np.iinfo(np.int64).min),
        (AMSoftmaxClassifier(standardize=False), np.array([1.0, 2.0, 4.0]), np.nan),
        # There is no third value.
        (
            EntmaxClassifier(3.0, similarity="cosine"),
            np.array([False, True, True]),
            False,
        ),
    ],
    ids=lambda value: str(getattr(value, "dtype", value)),
)
def test_labels_of_rows_with_nan(model, names, missing):
    X, y = WINE
    model = fitted(model, X, names[y])
    running = session(model, X)
    expected = run_session(running, X)
    with_nan = X.copy()
    with_nan[::5, 3] = np.nan
    with_nan[1::5, 0] = -np.inf
    is_wrong = ~np.isfinite(with_nan).all(axis=1)
    labels, p = run_session(running, with_nan)
    assert labels.dtype == expected[0].dtype
    np.testing.assert_array_equal(labels[is_wrong], np.full(is_wrong.sum(), missing))
    np.testing.assert_array_equal(labels[~is_wrong], expected[0][~is_wrong])
    assert np.isnan(p[is_wrong]).all()
    np.testing.assert_array_equal(p[~is_wrong], expected[1][~is_wrong])


def test_a_changed_threshold_is_converted():
    X, Y = make_multilabel_classification(60, random_state=0)
    model = SigmoidClassifier(threshold=0.5).fit(X, Y)
    model.threshold_ = 0.2
    assert_same(model, X.astype(np.float32))
    assert run(model, X.astype(np.float32))[0].mean() > Y.mean()
    names = list("abcde")
    model = SigmoidClassifier(threshold=0.5).fit(X, pd.DataFrame(Y, columns=names))
    model.threshold_ = pd.Series([0.1, 0.2, 0.3, 0.4, 0.8], index=names[::-1])
    assert_same(model, X.astype(np.float32))


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (PerturbMaxClassifier(C=0.01), r"PerturbMax\(\)"),
        (PerturbMaxClassifier("laplace"), r"PerturbMax\(noise='laplace'\)"),
        (PerturbMaxClassifier(SkewNormal(0.5)), r"SkewNormal\(skewness=0.5\)"),
        (PerturbMaxClassifier("student_t", learn_noise=True), r"StudentT\(df=[\d.]+\)"),
    ],
)
def test_perturb_max_is_refused(model, name):
    X, y = WINE
    model.fit(scale(X[:, :2]), y)
    with pytest.raises(NotImplementedError, match=f"{name}.*no ONNX converter"):
        run(model, X[:, :2])


def test_a_budget_is_refused():
    X, Y = make_multilabel_classification(60, allow_unlabeled=False, random_state=0)
    model = SigmoidClassifier(budget=(0, 5), threshold=0.5).fit(X, Y)
    with pytest.raises(NotImplementedError, match="budget must be None"):
        run(model, X)


def test_a_rule_of_the_user_is_refused():
    class Everything(DecisionRule):
        def _fit(self, sample):
            pass

        def _chosen(self, p, sizes):
            return p >= 0

    X, Y = make_multilabel_classification(60, allow_unlabeled=False, random_state=0)
    model = SparsemaxClassifier(threshold=0.1).fit(X, Y)
    model.set_threshold(Everything(), X, Y)
    with pytest.raises(NotImplementedError, match=r"Everything\(\).*no ONNX converter"):
        run(model, X)


def test_bad_use_raises_a_clear_error():
    X, y = WINE
    model = SparsemaxClassifier()
    with pytest.raises(NotFittedError, match="not fitted"):
        run(model, X)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"X must have 13 features.* have 4"):
        run(model, X[:, :4])
    with pytest.raises(ValueError, match=r"target_opset must be 18 or newer.*17"):
        run(model, X, target_opset=17)
    assert_same(model, X, target_opset=18)
    model.classes_ = np.array([(0, 1), 2, 3], dtype=object)
    with pytest.raises(NotImplementedError, match="numbers or strings"):
        run(model, X)


def test_labels_above_the_numbers_of_onnx():
    X, y = load_wine(return_X_y=True)
    model = SoftmaxClassifier().fit(X, y.astype(np.uint64) + np.uint64(2**63))
    with pytest.raises(
        NotImplementedError, match=r"at most 2\^63 - 1.*; got 9223372036"
    ):
        run(model, X)


@pytest.mark.parametrize("classes", [np.arange(3), np.array(["a", "b", "c"])], ids=str)
def test_labels_of_least_cost(classes):
    X, y = WINE
    X, y = scale(X).astype(np.float32)[:, :3], classes[y]
    costs = np.array([[0, 1, 5], [2, 0, 3], [0.5, 7, 0]])
    for rule in (
        LeastCost(costs),
        LeastCost(costs, 0.5, -1 if y.dtype == int else "?"),
    ):
        model = SoftmaxClassifier(threshold=rule).fit(X.astype(float), y)
        assert len(np.unique(model.predict(X))) > 2
        assert_same(model, X)
    model.set_threshold(LeastCost(costs, 0.5, None))
    with pytest.raises(NotImplementedError, match="abstain_label must be of the type"):
        session(model, X)


def test_a_class_that_costs_as_much_as_abstention_is_predicted():
    X, y = WINE
    rule = LeastCost(1 - np.eye(2), abstain=0.5, abstain_label=-1)
    model = SoftmaxClassifier(threshold=rule).fit(scale(X), y > 0)
    model.coef_[:], model.intercept_[:] = 0, 0
    model.classes_ = np.arange(2)
    assert_same(model, X.astype(np.float32))
    assert (run(model, X.astype(np.float32))[0] == 0).all()


@pytest.mark.parametrize(
    "ensemble",
    [
        StackingClassifier([("one", SoftmaxClassifier())], SoftmaxClassifier(), cv=2),
        BaggingClassifier(SoftmaxClassifier(), n_estimators=2, random_state=0),
        OneVsRestClassifier(SoftmaxClassifier()),
        CalibratedClassifierCV(SoftmaxClassifier(), cv=2),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
def test_ensembles_of_a_registered_class(ensemble):
    """Some of them use decision_function, by the option raw_scores."""
    register_classifier(SoftmaxClassifier)
    X, y = scale(WINE[0]), WINE[1]
    for target in (y, (y > 0).astype(int)):
        ensemble.fit(X, target)
        converted = session(ensemble, X, options={"zipmap": False})
        # The graphs of scikit-learn's ensembles take no array without rows.
        labels, p = converted.run(None, {"X": X})
        np.testing.assert_array_equal(labels, ensemble.predict(X))
        np.testing.assert_allclose(p, ensemble.predict_proba(X), atol=1e-12)


def test_a_frozen_classifier():
    X, y = scale(WINE[0]), WINE[1]
    assert_same(FrozenEstimator(SparsemaxClassifier().fit(X, y)), X, 1e-12)


@pytest.mark.parametrize(
    "model", [SparsemaxClassifier(), TaylorSoftmaxClassifier(), SigmoidClassifier()]
)
def test_raw_scores_are_those_of_decision_function(model):
    X, y = scale(WINE[0]), WINE[1]
    sets = label_sets(allow_unlabeled=True)
    for rows, target in ((X, y), (X, y > 0), sets):
        model.fit(rows, target)
        labels, scores = run(model, rows, options={"raw_scores": True})
        np.testing.assert_array_equal(labels, model.predict(rows))
        expected = model.decision_function(rows)
        if expected.ndim == 1:
            expected = np.column_stack([-expected, expected])
        np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


def test_only_classifiers_are_registered():
    for wrong in (SoftmaxClassifier(), StandardScaler, "SoftmaxClassifier"):
        with pytest.raises(TypeError, match="classifier must be a class of linear"):
            register_classifier(wrong)
