"""How a fit goes: starting, stopping, telling, and rows that carry no target."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from skprob import EntmaxClassifier, LinearClassifier, SoftmaxClassifier
from skprob.losses import LogLoss
from skprob.mappings import Entmax

from ..data_sets import KINDS, label_sets, labels


def test_warm_start_goes_on_from_the_last_fit(linear_classifier):
    X, y = labels()
    # One solver for all stages of a loss, so that iterations can be compared.
    linear_classifier.set_params(solver="lbfgs")
    cold = clone(linear_classifier).set_params(C=1.1).fit(X, y)
    warm = linear_classifier.set_params(warm_start=True).fit(X, y)
    warm.set_params(C=1.1).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert_allclose(warm.predict_proba(X), cold.predict_proba(X), atol=1e-2)
    again = warm.fit(X, y)
    assert again.n_iter_ == 0


@pytest.mark.parametrize(
    ("solver", "n_copies"), [("auto", 1), ("auto", 60), ("lbfgs", 60), ("newton-cg", 1)]
)
def test_a_warm_start_in_other_units_is_no_worse_than_a_cold_one(solver, n_copies):
    """Its first objective was 22 for digits, with 2.3 at zero coefficients."""
    X, y = labels()
    X, y = np.tile(X, (n_copies, 1)), np.tile(y, n_copies)
    for unit in (1e-3, 1e3, 1e6):
        warm = SoftmaxClassifier(warm_start=True, solver=solver).fit(X, y)
        first = warm.fit(unit * X, y).history_["objective"][0]
        assert first <= np.log(3) + 1e-12
        cold = SoftmaxClassifier(solver=solver).fit(unit * X, y)
        assert warm.n_iter_ <= cold.n_iter_
        p, expected = (model.predict_proba(unit * X) for model in (warm, cold))
        assert_allclose(p, expected, atol=1e-2)
    # Where the last coefficients are better than zero, they are the start.
    warm = SoftmaxClassifier(warm_start=True, solver=solver).fit(X, y)
    assert warm.fit(1.01 * X, y).history_["objective"][0] < 0.8 * np.log(3)


def test_a_warm_start_is_not_lost_by_a_sample_of_the_rows():
    """The labels are at random: on 1,000 rows zero may be better than the minimum."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((20_000, 2)), rng.integers(3, size=20_000)
        model = SoftmaxClassifier(warm_start=True).fit(X, y)
        lowest = model.objective_
        start = model.fit(X, y).history_["objective"][0]
        assert_allclose(start, lowest, rtol=1e-9)


def test_features_are_left_out_of_large_data():
    """Such a fit begins on a sample of several blocks of rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 12))
    y = (X[:, :3] + rng.gumbel(size=(len(X), 3))).argmax(axis=1)
    factors = np.where(np.arange(12) == 7, np.inf, 1.0)
    expected = SoftmaxClassifier(tol=1e-7).fit(np.delete(X, 7, axis=1), y)
    for rows in X, sparse.csr_array(X):
        model = SoftmaxClassifier(penalty_factors=factors, tol=1e-7, warm_start=True)
        model.fit(rows, y)
        assert not model.coef_[:, 7].any()
        coef = np.delete(model.coef_, 7, axis=1)
        assert_allclose(coef, expected.coef_, rtol=0, atol=1e-6)
        # The start is compared with zero on a sample, too.
        assert model.fit(rows, y).n_iter_ <= 1


def test_without_warm_start_a_refit_forgets(sample_classifier):
    X, y = labels()
    model = sample_classifier.fit(X, y)
    coef = model.coef_.copy()
    model.fit(-X, y)
    assert_array_equal(model.fit(X, y).coef_, coef)


def test_a_fit_that_fails_leaves_no_half_of_a_model_behind():
    X, y = labels()
    model = EntmaxClassifier(warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"coef_ has shape \(3, 4\).* need \(3, 2\)"):
        model.fit(X[:, :2], y)
    with pytest.raises(ValueError, match=r"classes \[0, 1, 2\].* have \[False, True\]"):
        clone(model).fit(X, y).fit(X, y > 0)


def test_stopping_early_warns_with_the_gradient_norm(sample_classifier):
    X, y = labels()
    sample_classifier.set_params(max_iter=2, tol=1e-9)
    with pytest.warns(ConvergenceWarning) as record:
        sample_classifier.fit(X, y)
    (warning,) = record
    text = str(warning.message)
    assert f"{type(sample_classifier).__name__} did not converge" in text
    assert f"largest gradient entry is {sample_classifier.gradient_norm_:.3g}" in text
    assert "max_iter" in text
    assert warning.filename == __file__
    assert sample_classifier.n_iter_ == 2
    # Usable, and better than nothing.
    assert sample_classifier.score(X, y) > 0.5
    assert sample_classifier.gradient_norm_ > 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_no_iteration_at_all(kind):
    X, y = KINDS[kind]()
    threshold = 0 if kind == "label_set" else "auto"
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = EntmaxClassifier(max_iter=0, threshold=threshold).fit(X, y)
    assert model.n_iter_ == 0
    assert_array_equal(model.coef_, 0)
    K = len(model.classes_)
    assert_allclose(model.predict_proba(X), np.full((60, K), 1 / K))


def test_separable_data_without_penalty_end_in_a_usable_model(linear_classifier):
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    y = np.array([0, 0, 1, 1])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = linear_classifier.set_params(C=np.inf).fit(X, y)
    # Exact zeros make a loss of zero, and so an optimum, possible.
    for warning in caught:
        assert not model.mapping_.traits.has_zeros
        assert warning.category is ConvergenceWarning
        assert "no optimum exists" in str(warning.message)
        # Neither more steps nor another tolerance would help.
        assert str(warning.message).endswith("from growing. Lower C (now inf).")
    if model.mapping_.traits.has_potential and not model.mapping_.traits.has_zeros:
        assert caught
    assert np.isfinite(model.coef_).all()
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("verbose", [0, 1, 2, True])
def test_verbose(verbose, capsys):
    check_what_is_told(EntmaxClassifier(verbose=verbose), capsys)


def test_verbose_with_other_fits(sample_classifier, capsys):
    check_what_is_told(sample_classifier.set_params(verbose=1), capsys)


def check_what_is_told(model, capsys):
    X, y = labels()
    model.set_params(tol=1e-6, solver="lbfgs").fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    every = {0: 0, 1: 10, 2: 1}[model.verbose]
    reported = [i for i in range(1, model.n_iter_ + 1) if every and i % every == 0]
    if every and model.n_iter_ not in reported:
        reported.append(model.n_iter_)
    assert [
        int(line.split("iteration ")[1].split(":")[0]) for line in lines
    ] == reported
    for line in lines:
        assert line.startswith(f"[{type(model).__name__}] iteration")
    if lines:
        objective = float(lines[-1].split("objective ")[1].split(",")[0])
        norm = float(lines[-1].split("entry ")[1])
        assert_allclose(objective, model.objective_, rtol=1e-6)
        assert_allclose(norm, model.gradient_norm_, rtol=1e-2)


def test_the_objective_falls_from_iteration_to_iteration(classifier, capsys):
    # On easier rows Newton's method ends after three iterations.
    X, y = load_iris(return_X_y=True)
    classifier.set_params(verbose=2, tol=1e-6).fit(scale(X), y)
    lines = capsys.readouterr().out.splitlines()
    values = [float(line.split("objective ")[1].split(",")[0]) for line in lines]
    assert len(values) > 3
    assert (np.diff(values) <= 0).all()


def test_rows_without_labels_are_left_out_with_one_warning(sample_classifier):
    container = np.asarray if sample_classifier.margin else sparse.csr_array
    X, Y = label_sets()
    Y[[0, 7, 8]] = 0
    weight = np.random.default_rng(0).uniform(0.5, 2, 60)
    sample_classifier.set_params(none_class=False)
    with pytest.warns(UserWarning) as record:
        model = clone(sample_classifier).fit(
            container(X), container(Y), sample_weight=weight
        )
    (warning,) = record
    assert "3 of 60 rows have no label" in str(warning.message)
    assert warning.filename == __file__
    has_label = Y.any(axis=1)
    reference = sample_classifier.fit(
        container(X[has_label]), Y[has_label], sample_weight=weight[has_label]
    )
    assert_allclose(model.coef_, reference.coef_, atol=1e-12)
    cuts, expected = (each.threshold_.rule_.cuts_ for each in (model, reference))
    assert_allclose(cuts, expected)
    assert model.threshold_.may_be_empty_
    assert not reference.threshold_.may_be_empty_
    assert model.predict(X).shape == Y.shape


def test_a_label_of_no_row_is_kept_with_one_warning(classifier):
    X, Y = label_sets()
    Y = sparse.csr_array(np.insert(Y, 1, 0, axis=1))
    classifier.set_params(class_weight="balanced", threshold=0.2)
    with pytest.warns(UserWarning) as record:
        model = classifier.fit(X, Y)
    (warning,) = record
    assert "1 of 5 labels are in no row (columns [1] of y)" in str(warning.message)
    assert warning.filename == __file__
    assert_array_equal(model.classes_, np.arange(5))
    assert model.predict_proba(X).shape == Y.shape
    assert model.predict_proba(X)[:, 1].max() < 0.2


def test_many_labels_of_no_row_are_not_all_listed():
    X, Y = label_sets()
    with pytest.warns(UserWarning, match=r"\[4, 5, 6, 7, 8\] and so on"):
        SoftmaxClassifier(threshold=0.2).fit(X, np.pad(Y, [(0, 0), (0, 9)]))


@pytest.mark.parametrize(("n_rows", "n_classes"), [(20, 20), (22, 11), (22, 12)])
def test_more_classes_than_half_of_the_rows(n_rows, n_classes):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    y = np.arange(n_rows) % n_classes
    are_warnings = {}
    for model in LogisticRegression(), SoftmaxClassifier():
        with warnings.catch_warnings(record=True, action="always") as record:
            model.fit(X, y)
        are_warnings[model] = ["regression" in str(each.message) for each in record]
    expected, warned = are_warnings.values()
    assert warned == expected == [True] * ((n_rows, n_classes) == (22, 12))


def test_the_folds_do_not_warn_of_a_label_that_one_of_them_lacks():
    X, Y = label_sets()
    Y[:, 3] = np.arange(60) == 5
    SoftmaxClassifier(threshold="cv").fit(X[Y.any(axis=1)], Y[Y.any(axis=1)])


def test_fit_changes_nothing_that_it_is_given(sample_classifier):
    X, Y = label_sets()
    # Explicit zeros and unsorted columns, as a user's own construction may have.
    columns = np.tile([3, 1, 0, 2], 60)
    values = Y[np.arange(60).repeat(4), columns].astype(float)
    Y_csr = sparse.csr_array((values, columns, np.arange(0, 241, 4)), shape=Y.shape)
    X_csr, weight = sparse.csr_array(X), np.ones(60)
    given = [X_csr.data, X_csr.indices, Y_csr.data, Y_csr.indices, Y_csr.indptr, weight]
    before = [array.copy() for array in given]
    model = clone(sample_classifier).fit(X_csr, Y_csr, sample_weight=weight)
    for array, copy in zip(given, before, strict=True):
        assert_array_equal(array, copy)
    assert_allclose(model.coef_, sample_classifier.fit(X_csr, Y).coef_, atol=1e-10)


def test_mappings_and_losses_are_cloned():
    X, y = labels()
    mapping, loss = Entmax(alpha=1.25), LogLoss(epsilon=1e-3)
    model = LinearClassifier(mapping).fit(X, y)
    assert model.mapping is mapping
    assert model.mapping_ is not mapping
    assert model.mapping_.alpha == 1.25
    mapping.alpha = 2.0
    assert model.mapping_.alpha == 1.25
    model = LinearClassifier("softmax", loss=loss).fit(X, y)
    assert model.loss_ is not loss
    assert loss.mapping is None
    assert model.loss_.epsilon == 1e-3


# It is neither convex nor smooth: the search may end at a kink.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("alpha", [1.25, 1.5, 2])
def test_the_log_loss_through_a_sparse_mapping_beats_the_uniform_model(alpha):
    X, y = labels()
    model = EntmaxClassifier(alpha, loss="log", max_iter=50).fit(X, y)
    assert model.score(X, y) > 0.6
    assert model.objective_ < np.log(3)


@pytest.mark.parametrize("similarity", ["dot", "cosine"])
def test_a_warm_start_from_coefficients_that_were_changed(similarity):
    X, y = load_iris(return_X_y=True)
    model = SoftmaxClassifier(warm_start=True, similarity=similarity, tol=1e-6)
    expected = clone(model).fit(X, y).objective_
    for factor in (0.0, 1e-300, 1e300):
        model.fit(X, y)
        model.coef_ = model.coef_ * factor
        assert model.fit(X, y).objective_ == pytest.approx(expected, rel=1e-4)
    for name in ("coef_", "intercept_"):
        setattr(model, name, getattr(model, name) + np.nan)
        with pytest.raises(ValueError, match=r"warm_start=True .* must be finite"):
            model.fit(X, y)
        model = clone(model).fit(X, y)
