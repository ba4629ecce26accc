"""Classifiers find the same from arrays of other libraries as from NumPy's."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize, special, stats
from sklearn import clone, config_context
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifier,
    PerturbMaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    TaylorSoftmaxClassifier,
)
from skprob._utils.arrays import column_sums, to_numpy
from skprob.attention import AttentionClassifier
from skprob.data import _array_api as array_design
from skprob.data import as_design
from skprob.decision import ConformalSets
from skprob.linear_model.fit import _chosen_C
from skprob.losses import (
    AccuracyLoss,
    FenchelYoungLoss,
    GradientFieldLoss,
    InfimumLoss,
    LogLoss,
    MarginLoss,
    SparseSoftmaxLoss,
)
from skprob.mappings import (
    Entmax,
    EntropyInvariantSoftmax,
    NormalizedMapping,
    PerturbMax,
    Sigmoid,
    Softmax,
    Sparsemax,
    SparseSoftmax,
    TaylorSoftmax,
    Temperature,
    ThresholdMapping,
)
from skprob.metrics import BrierScorer, brier_loss, fenchel_young_loss
from skprob.objective import LinearObjective, split_rows
from skprob.objective.left_out import _leave_one_out
from skprob.targets import DenseTarget, LabelTarget, SmoothedTarget, target_like

from ..estimators import CLASSIFIERS

RNG = np.random.default_rng(0)
X = scale(load_iris().data)
Y = load_iris().target
WEIGHT = RNG.uniform(0.5, 2, size=len(Y))
SETS = (X @ RNG.normal(size=(4, 5)) + RNG.normal(size=(len(X), 5)) > 0).astype(int)
SETS[SETS.sum(axis=1) == 0, 0] = 1
SHARES = np.exp(X @ RNG.normal(size=(4, 3)))
SHARES /= SHARES.sum(axis=1, keepdims=True)


def assert_same(model, X, y, library, numpy, atol=1e-6, weight=None, **fit):
    """The same model, of the library's arrays, with the same predictions."""
    with config_context(array_api_dispatch=False):
        in_numpy = clone(model).set_params(tol=1e-9).fit(X, y, weight, **fit)
    given = library.array(X), library.array(y)
    sample_weight = None if weight is None else library.array(weight)
    in_library = clone(model).set_params(tol=1e-9)
    in_library.fit(*given, sample_weight, **fit)
    for name in ("coef_", "intercept_"):
        assert library.holds(getattr(in_library, name), "float64")
        expected = getattr(in_numpy, name)
        assert_allclose(
            numpy(getattr(in_library, name)), expected, rtol=1e-6, atol=atol
        )
    for name in ("predict_proba", "predict_log_proba", "decision_function", "predict"):
        predictions = getattr(in_library, name)(given[0])
        assert library.holds(predictions), name
        expected = getattr(in_numpy, name)(X)
        assert tuple(predictions.shape) == expected.shape
        # A probability that is hardly there has any logarithm.
        near = slice(None) if name != "predict_log_proba" else expected > -10
        assert_allclose(numpy(predictions)[near], expected[near], atol=10 * atol)
    assert in_library.score(*given) == pytest.approx(in_numpy.score(X, y), abs=1e-9)
    assert in_library.objective_ == pytest.approx(in_numpy.objective_, abs=1e-9)
    return in_library


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (SoftmaxClassifier(), 2),
        (SoftmaxClassifier(), 3),
        (SoftmaxClassifier(solver="lbfgs", class_weight="balanced"), 3),
        (SparsemaxClassifier(margin=0.2, label_smoothing=0.1), 3),
        (EntmaxClassifier(1.25, temperature=0.5, fit_intercept=False), 2),
        (EntmaxClassifier(solver="newton-cg"), 3),
        (EntmaxClassifier(2.5, solver="lbfgs"), 2),
        (LinearClassifier(EntropyInvariantSoftmax()), 3),
        (LinearClassifier("softmax", AccuracyLoss(), C=0.1), 2),
        # test_each_model_fits_or_refuses_as_its_tag_says has the other classes.
        (PerturbMaxClassifier("gumbel", 0.5), 3),
        (PerturbMaxClassifier("gumbel", loss="log"), 3),
        (LinearClassifier(PerturbMax("gumbel"), similarity="cosine"), 3),
        (SigmoidClassifier(), 2),
        (SigmoidClassifier(), 3),
        (SigmoidClassifier(2.0), 3),
    ],
    ids=lambda value: repr(value)[:50],
)
def test_fits_to_labels_are_those_of_numpy(model, n_classes, library, numpy):
    y = np.minimum(Y, n_classes - 1)
    in_library = assert_same(model, X, y, library, numpy, weight=WEIGHT)
    assert library.holds(in_library.classes_, "int64")
    assert numpy(in_library.predict(library.array(X))).dtype == np.int64


def test_labels_with_all_marginals_zero(library, numpy):
    in_numpy, in_library = SigmoidClassifier(2.0).fit(X, Y), SigmoidClassifier(2.0)
    in_library.fit(library.array(X), Y)
    in_numpy.intercept_, in_library.intercept_ = (
        in_numpy.intercept_ - 3,
        in_library.intercept_ - 3,
    )
    assert (in_numpy.mapping_(in_numpy.decision_function(X)) == 0).all(axis=1).any()
    for name in ("predict_proba", "predict_log_proba"):
        predictions = getattr(in_library, name)(library.array(X))
        assert library.holds(predictions), name
        assert_allclose(numpy(predictions), getattr(in_numpy, name)(X), atol=1e-6)


LOSSES = [
    *(
        SparseSoftmaxLoss(SparseSoftmax(2), outside=outside)
        for outside in ("published", "add", "grow", "full", "skip")
    ),
    SparseSoftmaxLoss(Temperature(SparseSoftmax(2), 0.5)),
    SparseSoftmaxLoss(Temperature(SparseSoftmax(2), 2.0), outside="grow"),
    LogLoss(Sparsemax()),
    LogLoss(TaylorSoftmax()),
    LogLoss(Entmax(1.3), epsilon=0.01),
    AccuracyLoss(Entmax()),
    MarginLoss(FenchelYoungLoss(Sparsemax()), margin=0.5),
    MarginLoss(FenchelYoungLoss(Sparsemax()), abs(np.subtract.outer(*[range(6)] * 2))),
    FenchelYoungLoss(EntropyInvariantSoftmax()),
    FenchelYoungLoss(Sigmoid()),
    InfimumLoss(Entmax()),
]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_are_those_of_numpy(loss, library, numpy):
    scores = 2 * np.random.default_rng(0).normal(size=(40, 6))
    target = SmoothedTarget(LabelTarget(np.arange(40) % 6, 6), 0.1)
    if isinstance(loss, SparseSoftmaxLoss):  # A row is outside by its label.
        target = target.target
    if isinstance(loss, InfimumLoss):  # A row has one to six candidates.
        rows = np.tril(np.ones((6, 6)))[np.arange(40) % 6]
        target = DenseTarget(rows / rows.sum(axis=1, keepdims=True))
    in_library = target_like(target, library.array(scores))
    assert library.holds(in_library.values, "float64")
    expected = loss.linearize(scores.copy(), target)
    linear = loss.linearize(library.array(scores), in_library)
    assert_allclose(numpy(linear.values), expected.values, atol=1e-12)
    assert_allclose(numpy(linear.gradient), expected.gradient, atol=1e-12)
    direction = np.random.default_rng(1).normal(size=scores.shape)
    assert_allclose(
        numpy(linear.hessian_product(library.array(direction))),
        expected.hessian_product(direction.copy()),
        atol=1e-12,
    )
    assert_allclose(
        numpy(linear.hessian_diagonal()), expected.hessian_diagonal(), atol=1e-12
    )
    assert_allclose(
        numpy(loss.evaluate(library.array(scores), in_library)[1]),
        loss.evaluate(scores.copy(), target)[1],
        atol=1e-12,
    )


@pytest.mark.parametrize(
    "model",
    [
        SoftmaxClassifier(threshold=0.2),
        SigmoidClassifier(threshold=[0.3, 0.5, 0.5, 0.4, 0.2]),
        SigmoidClassifier(alpha=1.5, threshold="auto"),
        SparsemaxClassifier(threshold="support"),
    ],
    ids=repr,
)
def test_fits_to_label_sets_are_those_of_numpy(model, library, numpy):
    in_library = assert_same(model, X, SETS, library, numpy)
    assert numpy(in_library.predict(library.array(X))).dtype == np.int64
    sparse = in_library.set_params(sparse_output=True).predict(library.array(X))
    assert_array_equal(
        sparse.toarray(),
        numpy(in_library.set_params(sparse_output=False).predict(library.array(X))),
    )
    in_library.set_threshold("cv", library.array(X), library.array(SETS))
    assert library.holds(in_library.predict(library.array(X)))


def test_rows_without_a_label_are_those_of_numpy(library, numpy):
    sets = SETS.copy()
    sets[::7] = 0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* rows have no label")
        assert_same(SoftmaxClassifier(threshold=0.3), X, sets, library, numpy)


def test_fits_to_distributions_are_those_of_numpy(library, numpy):
    assert_same(EntmaxClassifier(), X, SHARES, library, numpy)


@pytest.mark.parametrize("mapping", ["entmax", EntropyInvariantSoftmax()], ids=repr)
def test_fits_with_choice_sets_are_those_of_numpy(mapping, library, numpy):
    available = np.random.default_rng(3).random((len(Y), 3)) < 0.6
    available[np.arange(len(Y)), Y] = True
    model = LinearClassifier(mapping, tol=1e-9)
    with config_context(array_api_dispatch=False):
        in_numpy = clone(model).fit(X, Y, available=available)
    for given in (available, library.array(available)):
        in_library = clone(model).fit(
            library.array(X), library.array(Y), available=given
        )
        assert_allclose(numpy(in_library.coef_), in_numpy.coef_, rtol=1e-6, atol=1e-7)
        p = in_library.predict_proba(library.array(X), available=given)
        assert library.holds(p, "float64")
        expected = in_numpy.predict_proba(X, available=available)
        assert_allclose(numpy(p), expected, atol=1e-7)


def test_fits_of_many_columns_and_blocks_are_those_of_numpy(
    library, numpy, monkeypatch
):
    """Conjugate gradients with Gram matrices of some rows; several blocks."""
    X, y = make_classification(
        900, 40, n_informative=20, n_classes=4, random_state=0, shift=3.0
    )
    X[:, 0] = 7.0  # Constant.
    for model in (SoftmaxClassifier(), SparsemaxClassifier()):
        assert_same(model, X, y, library, numpy)
        with monkeypatch.context() as context:
            context.setattr(array_design, "_MOST_NUMBERS", 11_000)
            in_library = assert_same(model, X, y, library, numpy)
        assert in_library.solver_ == "newton-cg"


def test_a_gram_matrix_of_some_rows(library):
    """The same rows are drawn on any device."""
    X, y = load_digits(return_X_y=True)
    target, loss = LabelTarget(y, 10), FenchelYoungLoss(Softmax())
    expected, other = (
        LinearObjective(split_rows(rows, target, np.ones(len(y))), loss, l2=0.1)
        for rows in (X, library.array(X))
    )
    start = np.random.default_rng(0).normal(size=expected.n_parameters) / 10
    expected, other = expected.at(start), other.at(start)
    for by_output in (True, False):
        few = other.sandwiches(by_output, n_drawn=400)
        assert_allclose(few, expected.sandwiches(by_output, n_drawn=400), rtol=1e-9)
        every = other.sandwiches(by_output, n_drawn=np.inf)
        assert not np.array_equal(few, every)
        assert np.trace(few[0]) == pytest.approx(np.trace(every[0]), rel=0.1)


@pytest.mark.parametrize(
    ("largest_cost", "alpha"), [(1e10, 1.0), (0, 2.0)], ids=["whole", "folds"]
)
def test_leave_one_out_scores_are_those_of_numpy(
    library, numpy, monkeypatch, largest_cost, alpha
):
    """From the whole Hessian, and from folds of rows."""
    monkeypatch.setattr(_leave_one_out, "_LARGEST_COST", largest_cost)
    # Both take steps of their own.
    monkeypatch.setattr(_chosen_C, "_TOL", 1e-9)
    monkeypatch.setattr(_chosen_C, "_TOL_OF_FOLDS", 1e-9)
    model = EntmaxClassifier(alpha, C="loo")
    in_library = assert_same(model, X, Y, library, numpy)
    with config_context(array_api_dispatch=False):
        in_numpy = clone(model).fit(X, Y)
    # C has the rounding errors of the variances of the features.
    assert_allclose(in_library.Cs_, in_numpy.Cs_, rtol=1e-14)
    assert_allclose(in_library.C_, in_numpy.C_, rtol=1e-14)
    assert_allclose(in_library.loo_scores_, in_numpy.loo_scores_, rtol=1e-5)


def test_without_a_penalty_separable_rows_are_found(library):
    X = library.array([[-2.0], [-1.0], [1.0], [2.0]])
    with pytest.warns(UserWarning, match="did not converge"):
        SoftmaxClassifier(C=np.inf).fit(X, library.array([0, 0, 1, 1]))


def test_advice_is_that_of_numpy_in_single_precision(library):
    """Doubles were advised for NumPy arrays only."""
    model = SoftmaxClassifier(tol=1e-14)
    with pytest.warns(ConvergenceWarning, match="or give X as float64") as caught:
        model.fit(library.array(X.astype(np.float32)), library.array(Y))
    assert len(caught) == 1


def entmax_by_its_threshold(scores, alpha):
    """The root of its defining equation, for one row."""
    if alpha == 1:
        return special.softmax(scores)
    u = (alpha - 1) * scores

    def powers(threshold):
        return np.maximum(u - threshold, 0) ** (1 / (alpha - 1))

    ends = u.max() - 1, u.max()
    return powers(optimize.brentq(lambda t: powers(t).sum() - 1, *ends, xtol=1e-14))


@pytest.mark.parametrize(
    ("model", "alpha"),
    [
        (SoftmaxClassifier(), 1),
        (SparsemaxClassifier(), 2),
        (EntmaxClassifier(2.5), 2.5),
    ],
)
def test_single_precision(model, alpha, library, numpy):
    """Probabilities by definition, and the gradient of the objective, in float64."""
    single = X.astype(np.float32)
    model = clone(model).fit(library.array(single), library.array(Y))
    assert library.holds(model.coef_, "float32")
    coef, intercept = (
        numpy(array).astype(float) for array in (model.coef_, model.intercept_)
    )
    scores = single @ coef.T + intercept
    p = np.array([entmax_by_its_threshold(row, alpha) for row in scores])
    p_single = model.predict_proba(library.array(single))
    assert library.holds(p_single, "float32")
    assert_allclose(numpy(p_single), p, atol=1e-6)
    residual = p - np.eye(3)[Y]
    gradient = (residual.T @ single + coef / model.C_) / len(Y)
    assert np.abs(gradient).max() <= model.tol
    assert np.abs(residual.mean(axis=0)).max() <= model.tol
    # Rows in double precision are not rounded.
    assert library.holds(model.predict_proba(library.array(X)), "float64")


def test_integers_become_real_numbers(library, numpy):
    whole = np.round(3 * X).astype(np.int64)
    in_library = SoftmaxClassifier().fit(library.array(whole), library.array(Y))
    assert library.holds(in_library.coef_, "float64")


@pytest.mark.parametrize("at_once", [1 << 26, 300, 1])
def test_moments_are_those_of_the_formulas(library, monkeypatch, at_once):
    """Moments of all rows at once, of parts of 300 numbers, and of single rows."""
    monkeypatch.setattr(array_design, "_MOST_STANDARDISED", at_once)
    X = RNG.normal(size=(200, 5)) * [1, 1e-6, 1e6, 1, 0] + [0, 3, 1e6, -2, 7]
    weight = 10.0 ** RNG.uniform(-6, 6, 200)
    weight[::3] = 0
    total, mean, deviation = as_design(library.array(X)).moments(library.array(weight))
    # In extended precision, about the mean itself.
    share = weight / weight.sum(dtype=np.longdouble)
    expected = share @ X
    assert total == pytest.approx(weight.sum(), rel=1e-14)
    assert_allclose(mean, expected.astype(float), rtol=1e-14)
    spread = np.sqrt(share @ (X - expected) ** 2).astype(float)
    assert_allclose(deviation[:4], spread[:4], rtol=1e-10)
    assert deviation[4] < 1e-15


def test_designs_multiply_as_those_of_numpy(library, numpy):
    X = RNG.normal(size=(30, 4)) * [1, 1e-3, 1e3, 0]
    weights = RNG.normal(size=(30, 3))
    in_numpy, in_library = as_design(X), as_design(library.array(X))
    assert in_library.shape == in_numpy.shape
    assert in_library.dtype == in_numpy.dtype
    share = np.abs(weights[:, 0])
    for moment, expected in zip(
        in_library.moments(library.array(share)), in_numpy.moments(share), strict=True
    ):
        assert_allclose(moment, expected, rtol=1e-12, atol=1e-12)
    gram = in_library.sandwich(library.array(weights))
    assert library.holds(gram, "float64")
    assert_allclose(numpy(gram), in_numpy.sandwich(weights), rtol=1e-10, atol=1e-12)
    rows = np.array([3, 1, 7])
    coef = RNG.normal(size=(2, 4))
    expected = in_numpy.take(rows).matvec(coef, np.array([1.0, 2.0]))
    scores = in_library.take(rows).matvec(coef, np.array([1.0, 2.0]))
    assert library.holds(scores, "float64")
    assert_allclose(numpy(scores), expected, rtol=1e-12)
    residual = in_library.rmatvec(library.array(weights))
    assert_allclose(residual, in_numpy.rmatvec(weights), rtol=1e-10, atol=1e-12)
    assert_allclose(column_sums(library.array(weights)), weights.sum(axis=0))


def test_joined_rows_are_those_of_numpy(library, numpy):
    X = np.arange(21.0).reshape(7, 3)
    design = as_design(library.array(X))
    parts = [design.take(np.array(rows)) for rows in ([4, 5], [0])]
    columns = parts[0].joined(parts[1:]).columns(slice(None))
    assert library.holds(columns, "float64")
    assert_array_equal(numpy(columns), X[[4, 5, 0]].T)
    labels = LabelTarget(np.arange(7) % 3, 3)
    target = target_like(labels, library.array(X))
    joined = target.take(np.array([4, 5])).joined([target.take(np.array([0]))])
    assert_array_equal(numpy(joined.values), np.eye(3)[[1, 2, 0]])
    assert_array_equal(numpy(joined.second), [1, 0, 0])


def test_names_as_labels(library):
    names = np.array(["a", "b", "c"])[Y]
    in_library = SoftmaxClassifier().fit(library.array(X), names)
    assert_array_equal(in_library.classes_, ["a", "b", "c"])
    assert in_library.predict(library.array(X[:2])).dtype.kind == "U"
    assert in_library.score(library.array(X), names) > 0.9


def test_everything_follows_X(library, numpy):
    """Labels and weights of NumPy's, and rows of another device."""
    in_library = SoftmaxClassifier().fit(library.array(X), Y, WEIGHT)
    assert library.holds(in_library.coef_, "float64")
    assert type(in_library.classes_) is np.ndarray
    assert library.holds(in_library.predict(library.array(X)), "int64")
    assert in_library.score(library.array(X), Y, WEIGHT) > 0.9
    in_numpy = SoftmaxClassifier().fit(X, library.array(Y), library.array(WEIGHT))
    assert type(in_numpy.coef_) is np.ndarray
    assert_allclose(numpy(in_library.coef_), in_numpy.coef_, atol=1e-6)
    assert type(in_numpy.predict(X)) is np.ndarray


def test_predictions_are_for_arrays_like_those_of_the_fit(library):
    in_library = SoftmaxClassifier().fit(library.array(X), library.array(Y))
    for method in ("predict", "predict_proba", "predict_log_proba"):
        with pytest.raises(ValueError, match=rf"{method}\(\) must use the same"):
            getattr(in_library, method)(X)
    with pytest.raises(ValueError, match="must use the same namespace"):
        in_library.score(X, Y)


def test_a_fit_goes_on_from_the_last_one(library):
    model = SoftmaxClassifier(warm_start=True).fit(library.array(X), library.array(Y))
    assert model.fit(library.array(X), library.array(Y)).n_iter_ <= 1


def test_cross_validation_scores_are_those_of_numpy(library):
    scores = cross_val_score(SparsemaxClassifier(), library.array(X), library.array(Y))
    with config_context(array_api_dispatch=False):
        expected = cross_val_score(SparsemaxClassifier(), X, Y)
    assert_allclose(scores, expected)


def test_metrics_of_arrays_are_computed_by_numpy(library):
    model = SparsemaxClassifier().fit(library.array(X), library.array(Y))
    p = model.predict_proba(library.array(X))
    y, weight = library.array(Y), library.array(WEIGHT)
    value = brier_loss(y, p, sample_weight=weight)
    assert value == brier_loss(Y, to_numpy(p), sample_weight=WEIGHT)
    scores = model.decision_function(library.array(X))
    value = fenchel_young_loss(y, scores, mapping="sparsemax")
    assert value == fenchel_young_loss(Y, to_numpy(scores), mapping="sparsemax")
    scores = cross_val_score(
        SparsemaxClassifier(), library.array(X), y, scoring=BrierScorer()
    )
    assert (scores < 0).all()


@pytest.mark.parametrize(
    "bad",
    [np.nan, np.inf, 1e200],
)
def test_bad_features_are_refused(bad, library):
    wrong = X.copy()
    wrong[5, 1] = bad
    with pytest.raises(ValueError, match="X must"):
        SoftmaxClassifier().fit(library.array(wrong), library.array(Y))


def test_malformed_input_is_refused(library):
    features, y = library.array(X), library.array(Y)
    model = SoftmaxClassifier()
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.fit(features[:, 0], y)
    with pytest.raises(ValueError, match="y must have one entry for each of the 150"):
        model.fit(features, y[:10])
    with pytest.raises(ValueError, match="sample_weight must be"):
        model.fit(features, y, library.array(-WEIGHT))
    with pytest.raises(ValueError, match="at least 2 classes"):
        model.fit(features, library.array(np.zeros(len(Y), dtype=int)))
    with pytest.raises(ValueError, match="must be booleans of shape"):
        model.fit(features, y, available=library.array([[True]]))
    with pytest.raises(ValueError, match="X must be finite numbers"):
        model.fit(library.array(X + 1j), y)
    model.fit(features, y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(features[:, :3])


@pytest.mark.parametrize(
    "model",
    [
        PerturbMaxClassifier(),
        LinearClassifier("perturb_max"),
        LinearClassifier("nested_softmax"),
        SigmoidClassifier(budget=(0, 2)),
        LinearClassifier(loss=GradientFieldLoss()),
        LinearClassifier(lambda scores: scores),
        EntmaxClassifierCV(),
    ],
    ids=lambda model: repr(model)[:40],
)
def test_models_for_numpy_refuse_other_arrays(model, library):
    with pytest.raises(ValueError, match=r"takes NumPy arrays only|takes no other"):
        model.fit(library.array(X), library.array(SETS))
    assert not hasattr(model, "coef_")


OTHERS = [
    PerturbMaxClassifier("cauchy"),
    PerturbMaxClassifier("normal", loss="log"),
    PerturbMaxClassifier("gumbel", n_quantiles=9),
    PerturbMaxClassifier("gumbel", loadings=[[0.0], [1.0], [1.0]]),
    PerturbMaxClassifier("student_t", learn_noise=True),
    PerturbMaxClassifier("gumbel", loadings=1, learn_noise=True),
    LinearClassifier(PerturbMax(stats.gamma(3)), loss="log"),
    *(LinearClassifier(name) for name in ("perturb_max", "nested_softmax")),
    LinearClassifier("entmax", loss="log"),
    *(LinearClassifier(loss=loss) for loss in ("accuracy", "gradient_field")),
    LinearClassifier(ThresholdMapping(np.exp)),
    LinearClassifier(NormalizedMapping(np.cosh)),
    *(cls() for cls in CLASSIFIERS),
    EntmaxClassifierCV([1.5], Cs=2, cv=2),
    PerturbMaxClassifierCV(["normal"], Cs=2, cv=2),
]


@pytest.mark.parametrize("model", OTHERS, ids=lambda model: repr(model)[:60])
def test_each_model_fits_or_refuses_as_its_tag_says(model, library, numpy):
    """The tag tells which; none raises another error."""
    if isinstance(model, AMSoftmaxClassifier):
        # At the default temperature many class vectors have about the same loss.
        model = clone(model).set_params(temperature=0.3)
    if isinstance(model, TaylorSoftmaxClassifier):
        # At the default order a shift of all intercepts hardly changes the loss.
        model = clone(model).set_params(order=2)
    if model.__sklearn_tags__().array_api_support:
        assert_same(model, X, Y, library, numpy, atol=1e-5)
        return
    message = r"(?s)X must be a NumPy array for .*np\.asarray\(X\)"
    with pytest.raises(ValueError, match=message):
        model.fit(library.array(X), library.array(Y))
    assert not hasattr(model, "coef_")
    # After a fit to NumPy's arrays it predicts for NumPy's arrays.
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        warnings.simplefilter("ignore")
        model = clone(model).set_params(max_iter=1).fit(X[::5], Y[::5])
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        with pytest.raises(ValueError, match="same namespace"):
            getattr(model, name)(library.array(X))


def test_the_tag_says_which_support_it():
    def supports(model):
        return model.__sklearn_tags__().array_api_support

    assert supports(SoftmaxClassifier())
    assert supports(LinearClassifier("entmax"))
    assert not supports(PerturbMaxClassifier())
    assert not supports(LinearClassifier("perturb_max"))
    assert not supports(EntmaxClassifierCV())
    assert not supports(SigmoidClassifier(budget=(0, 2)))
    assert not supports(LinearClassifier("no such mapping"))
    assert not supports(LinearClassifier(loss="gradient_field"))
    assert supports(PerturbMaxClassifier("gumbel"))
    assert not supports(PerturbMaxClassifier("gumbel", loadings=1, learn_noise=True))


def test_tensors_that_require_gradients(torch):
    tracked = torch.tensor(X, requires_grad=True)
    weight = torch.tensor(WEIGHT, requires_grad=True)
    model = SoftmaxClassifier()
    with config_context(array_api_dispatch=True):
        with pytest.raises(ValueError, match=r"Give X.detach\(\)"):
            model.fit(tracked, Y)
        with pytest.raises(ValueError, match=r"Give sample_weight.detach\(\)"):
            model.fit(tracked.detach(), Y, weight)
        with pytest.raises(ValueError, match=r"Give y.detach\(\)"):
            model.fit(tracked.detach(), torch.tensor(SHARES, requires_grad=True))
        model.fit(tracked.detach(), Y)
        with pytest.raises(ValueError, match=r"Give X.detach\(\)"):
            model.predict(tracked)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta:UserWarning")
def test_sparse_tensors_are_refused(torch):
    dense = torch.tensor(X)
    model = SoftmaxClassifier()
    with config_context(array_api_dispatch=True):
        for sparse_X in (dense.to_sparse(), dense.to_sparse_csr()):
            with pytest.raises(ValueError, match=r"X must be a dense tensor.*to_dense"):
                model.fit(sparse_X, Y)
            with pytest.raises(ValueError, match=r"X must be a dense tensor.*to_dense"):
                model.fit(dense, Y).predict(sparse_X)


def test_attention_says_that_it_takes_numpy_arrays(torch):
    with config_context(array_api_dispatch=True):
        with pytest.raises(ValueError, match="AttentionClassifier takes NumPy arrays"):
            AttentionClassifier().fit(torch.tensor(X), Y)
    model = AttentionClassifier().fit(torch.tensor(X), Y)
    assert type(model.predict_proba(torch.tensor(X))) is np.ndarray


def test_without_dispatch_tensors_become_numpy_arrays(torch):
    model = SoftmaxClassifier().fit(torch.tensor(X), torch.tensor(Y))
    assert type(model.coef_) is np.ndarray
    assert type(model.predict_proba(torch.tensor(X))) is np.ndarray


@pytest.mark.parametrize(
    ("y", "by"),
    [(Y, None), (Y, "class"), (SETS, "class")],
    ids=["labels", "labels by class", "label sets by class"],
)
def test_calibrated_sets_are_numpy_arrays(y, by, library):
    """Labels in an array of another library are compared with the classes."""
    model = ConformalSets(SoftmaxClassifier(), coverage=0.95, by=by, cv=3)
    with config_context(array_api_dispatch=False):
        expected = clone(model).fit(X, y)
    given = library.array(X), library.array(y)
    fitted = model.fit(*given)
    assert_allclose(fitted.quantile_, expected.quantile_, rtol=1e-6)
    assert_array_equal(fitted.predict_set(given[0]), expected.predict_set(X))
    assert_array_equal(fitted.predict(given[0]), expected.predict(X))
    assert_array_equal(fitted.classes_, expected.classes_)
    prefit = ConformalSets(fitted.estimator_, coverage=0.95, by=by, cv="prefit")
    sets = prefit.fit(*given).predict_set(given[0])
    assert sets.shape == expected.predict_set(X).shape
