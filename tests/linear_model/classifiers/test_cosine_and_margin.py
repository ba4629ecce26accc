"""Cosine scores, margins, AM-softmax: against their definitions, written out here."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import AMSoftmaxClassifier, LinearClassifier, SparsemaxClassifier
from skprob.losses import FenchelYoungLoss, MarginLoss
from skprob.mappings import MAPPINGS, Softmax, Sparsemax, get_mapping
from skprob.objective import CosineObjective, split_rows
from skprob.targets import LabelTarget

from ..assertions import assert_refused
from ..data_sets import KINDS, cut_for


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def am_softmax(margin=0.35, temperature=1 / 30, **parameters):
    """AM-softmax of the paper, without standardised features."""
    parameters = {"standardize": False, "constant": 0, **parameters}
    return AMSoftmaxClassifier(margin, temperature, **parameters)


def unit_rows(A):
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def am_softmax_loss(W, X, y, margin, scale):
    """The published loss, as a mean over the rows."""
    cosine = unit_rows(X) @ unit_rows(W).T
    cosine[np.arange(len(y)), y] -= margin
    return -log_softmax(scale * cosine, axis=1)[np.arange(len(y)), y].mean()


@pytest.mark.parametrize(("margin", "scale"), [(0.0, 5.0), (0.35, 30.0), (0.2, 10.0)])
def test_am_softmax_minimises_the_published_loss(iris, margin, scale):
    X, y = iris
    model = am_softmax(margin, 1 / scale, tol=1e-8).fit(X, y)
    assert model.objective_ * scale == pytest.approx(
        am_softmax_loss(model.coef_, X, y, margin, scale), abs=1e-9
    )

    def loss(w):
        return am_softmax_loss(w.reshape(3, 4), X, y, margin, scale)

    start = np.stack([unit_rows(X)[y == k].mean(axis=0) for k in range(3)])
    best = minimize(loss, start.ravel(), method="BFGS", options={"gtol": 1e-7})
    assert model.objective_ * scale == pytest.approx(best.fun, abs=1e-6)


def test_predictions_are_plain_cosines(iris):
    X, y = iris
    model = am_softmax(margin=0.5, temperature=0.1).fit(X, y)
    cosine = unit_rows(X) @ unit_rows(model.coef_).T
    np.testing.assert_allclose(np.linalg.norm(model.coef_, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(model.intercept_, 0)
    np.testing.assert_allclose(model.decision_function(X), cosine, atol=1e-12)
    np.testing.assert_allclose(
        model.predict_proba(X), softmax(10 * cosine, axis=1), atol=1e-12
    )
    np.testing.assert_array_equal(model.predict(X), cosine.argmax(axis=1))


def test_am_softmax_is_a_linear_classifier_with_its_parts(iris):
    X, y = iris
    model = am_softmax(margin=0.3, temperature=1 / 8).fit(X, y)
    parts = LinearClassifier(
        "softmax",
        similarity="cosine",
        margin=0.3,
        temperature=1 / 8,
        solver="newton-cg",
    ).fit(X, y)
    np.testing.assert_array_equal(model.coef_, parts.coef_)
    np.testing.assert_array_equal(model.predict_proba(X), parts.predict_proba(X))


def test_a_margin_separates_the_classes_further(iris):
    X, y = iris

    def shortfall(margin):
        cosine = am_softmax(margin, 0.05).fit(X, y).decision_function(X)
        of_label = cosine[np.arange(len(y)), y]
        cosine[np.arange(len(y)), y] = -np.inf
        return np.maximum(0.5 - (of_label - cosine.max(axis=1)), 0).mean()

    assert shortfall(0.5) < 0.9 * shortfall(0.0)


def test_starts_from_the_directions_of_the_class_means(iris):
    X, y = iris
    model = am_softmax(max_iter=0)
    with pytest.warns(UserWarning, match=r"did not converge.*Increase .* or tol\.$"):
        model.fit(X, y)
    means = np.stack([unit_rows(X)[y == k].mean(axis=0) for k in range(3)])
    np.testing.assert_allclose(model.coef_, unit_rows(means), atol=1e-12)


def test_rows_of_zeros_score_zero_for_every_class(iris):
    X, y = iris
    X = np.vstack([X, np.zeros((3, 4))])
    y = np.append(y, [0, 1, 2])
    model = am_softmax().fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X[-3:]), 0)
    np.testing.assert_allclose(model.predict_proba(X[-3:]), 1 / 3)


def test_a_class_whose_rows_cancel_has_a_start():
    X = np.array([[1.0, 0], [-1, 0], [0, 1], [0, 2]])
    model = am_softmax().fit(X, [0, 0, 1, 1])
    assert np.isfinite(model.coef_).all()
    np.testing.assert_allclose(np.linalg.norm(model.coef_, axis=1), 1)


def test_two_classes_have_a_vector_each(iris):
    X, y = iris
    X, y = X[y > 0], y[y > 0]
    model = am_softmax().fit(X, y)
    assert model.coef_.shape == (2, 4)
    cosine = unit_rows(X) @ model.coef_.T
    np.testing.assert_allclose(
        model.decision_function(X), cosine[:, 1] - cosine[:, 0], atol=1e-12
    )
    np.testing.assert_array_equal(
        model.predict(X), np.where(model.decision_function(X) > 0, 2, 1)
    )


def test_sparse_rows_as_dense(iris):
    X, y = iris
    dense = am_softmax(tol=1e-8).fit(X, y)
    csr = am_softmax(tol=1e-8).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(csr.coef_, dense.coef_, atol=1e-5)


@pytest.mark.parametrize("direction", range(3))
def test_derivatives_of_the_cosine_objective(iris, direction):
    X, y = iris
    blocks = split_rows(unit_rows(X), LabelTarget(y, 3), np.linspace(1, 2, len(y)))
    objective = CosineObjective(blocks, FenchelYoungLoss(Softmax()))
    rng = np.random.default_rng(direction)
    w, d = rng.standard_normal((2, objective.n_parameters))
    step = 1e-5
    f1, g1 = objective.value_and_gradient(w + step * d)
    f0, g0 = objective.value_and_gradient(w - step * d)
    at = objective.at(w)
    assert (f1 - f0) / (2 * step) == pytest.approx(at.gradient @ d, abs=1e-7)
    np.testing.assert_allclose(at.hessian_product(d), (g1 - g0) / (2 * step), atol=1e-6)
    value, gradient = objective.value_and_gradient(w)
    np.testing.assert_allclose(at.value, value, rtol=1e-14)
    np.testing.assert_allclose(at.gradient, gradient, atol=1e-14)


def test_margin_loss_is_the_loss_of_raised_scores():
    rng = np.random.default_rng(0)
    z, q = rng.standard_normal((20, 4)), rng.dirichlet(np.ones(4), size=20)
    loss = FenchelYoungLoss(Sparsemax())
    margin = MarginLoss(loss, 0.7)
    value, gradient = margin.value_and_gradient(z, q)
    expected = loss.value_and_gradient(z + 0.7 * (1 - q), q)
    np.testing.assert_allclose(value, expected[0], atol=1e-14)
    np.testing.assert_allclose(gradient, expected[1], atol=1e-14)
    d = rng.standard_normal(z.shape)
    np.testing.assert_allclose(
        margin.hessian_product(z, q, d),
        loss.hessian_product(z + 0.7 * (1 - q), q, d),
        atol=1e-14,
    )


def test_margin_with_linear_scores(iris):
    X, y = iris
    one_hot = np.eye(3)[y]

    def objective(model, margin):
        z = model.decision_function(X) + margin * (1 - one_hot)
        loss = FenchelYoungLoss("sparsemax").value(z, one_hot).mean()
        return loss + 0.5 * np.sum(model.coef_**2) / len(y)

    plain = SparsemaxClassifier(C=1.0, tol=1e-8).fit(X, y)
    wide = SparsemaxClassifier(C=1.0, margin=1.0, tol=1e-8).fit(X, y)
    assert wide.objective_ == pytest.approx(objective(wide, 1.0), abs=1e-12)
    assert wide.objective_ < objective(plain, 1.0)
    assert plain.objective_ < objective(wide, 0.0)


def in_parts(X):
    """A CSR array with each entry in two halves."""
    whole = sparse.csr_array(X)
    halves = np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2)
    return sparse.csr_array((*halves, 2 * whole.indptr), shape=whole.shape)


def test_entries_in_parts_are_one_entry(iris):
    X, y = iris
    model = am_softmax().fit(X, y)
    whole, parts = sparse.csr_array(X), in_parts(X)
    np.testing.assert_allclose(
        model.decision_function(parts), model.decision_function(X), atol=1e-12
    )
    # The constant needs the squares of the entries, not those of their parts.
    constant = np.sqrt(np.square(X).sum(axis=1).mean()) / 2
    blocks = da.from_array(X, chunks=(60, -1)).map_blocks(
        in_parts, meta=sparse.csr_array((0, 0))
    )
    of_workers = blocks, da.from_array(y, chunks=60)
    for rows, target in [(parts, y), of_workers]:
        fitted = am_softmax(constant=0.5).fit(rows, target)
        assert fitted.constant_ == pytest.approx(constant)
    assert parts.nnz == 2 * whole.nnz  # The argument is not changed.


@pytest.mark.parametrize(
    ("similarity", "kind"), [("dot", "distribution"), ("cosine", "label_set")]
)
@pytest.mark.parametrize(
    "name",
    [
        name
        for name, mapping in MAPPINGS.items()
        if mapping().traits.has_potential and mapping().traits.polytope == "simplex"
    ],
)
def test_a_margin_for_every_fenchel_young_loss(name, similarity, kind):
    X, y = KINDS[kind]()
    q = y / y.sum(axis=1, keepdims=True)
    model = LinearClassifier(name, similarity=similarity, margin=0.3)
    model.set_params(threshold=cut_for(kind, 0.2)).fit(X, y)
    scores = model.decision_function(X)
    loss = FenchelYoungLoss(name).value(scores + 0.3 * (1 - q), q).mean()
    penalty = 0.5 * np.sum(model.coef_**2) / len(y) if similarity == "dot" else 0
    # Cosine models have a term for the norms, zero where the fit ends.
    assert model.objective_ == pytest.approx(loss + penalty, abs=1e-7)
    # In training only.
    p = get_mapping(name)(scores)
    np.testing.assert_allclose(model.predict_proba(X), p, atol=1e-14)


@pytest.mark.parametrize(
    ("unit", "container"),
    [
        (1e-310, np.asarray),
        (1e-310, sparse.csr_array),
        (1e-200, np.asarray),
        (1e150, sparse.csr_array),
    ],
)
def test_cosines_do_not_depend_on_the_unit(iris, unit, container):
    X, y = iris
    model = am_softmax(tol=1e-6).fit(X, y)
    other = am_softmax(tol=1e-6).fit(container(X * unit), y)
    np.testing.assert_allclose(other.coef_, model.coef_, atol=1e-3)
    cosines = other.decision_function(container(X * unit))
    np.testing.assert_allclose(cosines, model.decision_function(X), atol=1e-3)


def test_bad_parameters_are_refused(iris):
    for parameters, message in [
        ({"margin": -0.1}, "'margin' parameter .* range"),
        ({"margin": np.nan}, "'margin' parameter"),
        ({"margin": np.inf}, "'margin' parameter"),
        ({"temperature": 0.0}, "'temperature' parameter .* range"),
        ({"temperature": -1.0}, "'temperature' parameter"),
        ({"constant": -1.0}, "'constant' parameter"),
        ({"standardize": "yes"}, "'standardize' parameter"),
    ]:
        assert_refused(message, am_softmax(**parameters).fit, *iris)


def test_weights_whose_sum_overflows(iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"weights .* finite sum; it is inf"):
        AMSoftmaxClassifier().fit(X, y, np.full(len(y), 1e308))


def test_the_defaults_standardise_and_add_a_constant():
    X, y = load_wine(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    scaler = StandardScaler().fit(X, sample_weight=weight)
    # The root mean square of the norms, of 13 features that vary.
    constants = np.tile([0.0, 0.5 * np.sqrt(13)], (len(y), 1))
    Z = np.column_stack([scaler.transform(X), constants])
    # With a feature that does not vary, of which scikit-learn may warn.
    X = np.column_stack([X, np.full(len(y), 7.0)])
    mean, scale = [*scaler.mean_, 7.0], [*scaler.scale_, 1.0]
    model = AMSoftmaxClassifier(0.35, tol=1e-8).fit(X, y, sample_weight=weight)
    expected = am_softmax(0.35, 0.03, tol=1e-8).fit(Z, y, sample_weight=weight)
    np.testing.assert_allclose(model.feature_mean_, mean)
    np.testing.assert_allclose(model.feature_scale_, scale)
    assert model.constant_ == pytest.approx(0.5 * np.sqrt(13))
    joined = np.column_stack([model.coef_, model.intercept_])
    np.testing.assert_allclose(joined, expected.coef_, atol=1e-5)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p, expected.predict_proba(Z), atol=1e-6)
    # A sparse X is predicted after a fit to a dense one, with sparse coefficients, too.
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(X)), p)
    np.testing.assert_allclose(model.sparsify().predict_proba(X), p)
    model.densify()
    model.set_params(warm_start=True).fit(X, y, sample_weight=weight)
    assert model.n_iter_ <= 1
    chunks = {"chunks": (60, *X.shape[1:])}
    arrays = da.from_array(X, **chunks), da.from_array(y, chunks=60)
    other = AMSoftmaxClassifier(0.35, tol=1e-8).fit(
        *arrays, da.from_array(weight, chunks=60)
    )
    np.testing.assert_allclose(other.feature_scale_, scale)
    np.testing.assert_allclose(other.predict_proba(arrays[0]).compute(), p, atol=1e-5)


def test_a_sparse_matrix_is_not_standardised():
    X, y = load_iris(return_X_y=True)
    model = AMSoftmaxClassifier(tol=1e-8).fit(sparse.csr_array(X), y)
    square = np.square(X).sum(axis=1).mean()
    assert model.constant_ == pytest.approx(np.sqrt(square) / 2)
    expected = AMSoftmaxClassifier(tol=1e-8, standardize=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)
    given = AMSoftmaxClassifier(standardize=True).fit
    assert_refused("standardize must be False or 'auto'", given, sparse.csr_array(X), y)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_the_defaults_work_on_tables(load):
    X, y = load(return_X_y=True)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    scores = [
        cross_val_score(model, X, y, cv=folds).mean()
        for model in (AMSoftmaxClassifier(), logistic)
    ]
    assert scores[0] > scores[1] - 0.02


@pytest.mark.parametrize("standardize", ["auto", False])
def test_a_row_of_huge_values_that_hides_all_others(iris, standardize):
    X, y = iris
    model = AMSoftmaxClassifier(standardize=standardize).fit(X, y)
    assert model.score(X, y) > 0.95
    huge = X.copy()
    huge[3] *= 1e4
    with pytest.warns(UserWarning, match="nearly the same direction") as record:
        model.fit(huge, y)
    assert len(record) == 1 and record[0].filename == __file__
    assert model.score(huge, y) < 0.85


def test_features_far_from_zero_need_to_be_centred(iris):
    X, y = iris
    far = X + 1000
    with pytest.warns(UserWarning, match="same direction.*Take standardize=True"):
        AMSoftmaxClassifier(standardize=False).fit(far, y)
    assert AMSoftmaxClassifier().fit(far, y).score(far, y) > 0.95


def test_equal_rows_need_no_warning():
    X = np.zeros((200, 3))
    X[[0, 1, 2], [0, 1, 2]] = 1
    AMSoftmaxClassifier().fit(X, np.arange(200) % 2)
