"""The noise is estimated with the coefficients: shapes, and loadings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skprob import PerturbMaxClassifier
from skprob.linear_model.fit import _learnt_noise
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import GeneralizedNormal, PerturbMax, SkewNormal, StudentT
from skprob.targets import DenseTarget

from ...versions import needs_callbacks
from ..assertions import assert_refused
from ..data_sets import labels
from .recorder import Recorder

N_CLASSES = 4


def design(n_samples=16, n_classes=N_CLASSES, seed=0):
    """Rows, and coefficients with scores that reach into the tails."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 2))
    coef = rng.normal(scale=2, size=(n_classes, 2))
    return X, coef - coef.mean(axis=0)


def free(noise, **params):
    """A model with next to no penalty, whose noise is learnt."""
    params = {"C": 1e9, "tol": 1e-5, "fit_intercept": False} | params
    return PerturbMaxClassifier(noise, learn_noise=True, **params)


@pytest.mark.parametrize(
    ("noise", "start"),
    [
        (GeneralizedNormal(1.2), "generalized_normal"),
        (SkewNormal(0.9), SkewNormal(0.0)),
    ],
    ids=repr,
)
def test_the_probabilities_themselves_give_the_shape_back(noise, start):
    """Without sampling error: the expected log loss is least at the truth."""
    X, coef = design()
    model = free(start).fit(X, PerturbMax(noise)(X @ coef.T))
    name = noise.shape()
    truth = getattr(noise, name)
    assert type(model.noise_) is type(noise)
    assert getattr(model.noise_, name) == pytest.approx(truth, rel=0.03)
    assert_allclose(model.coef_ - model.coef_.mean(axis=0), coef, atol=0.1)
    assert model.mapping_.noise is model.noise_
    assert model.solver_ == "lbfgs"
    assert model.n_iter_ == len(model.history_["iteration"]) - 1


def profile(noise, X, y, **params):
    """The least objective of a fit with this noise."""
    model = PerturbMaxClassifier(noise, loss="log", tol=1e-7, **params).fit(X, y)
    return model.objective_, model


def test_simulated_labels_give_the_shape_back_within_its_standard_error():
    """Many labels drawn for each of a few rows: their shares, weighted."""
    X, coef = design()
    noise, n_draws = StudentT(1.5), 1000
    draws = noise.rvs((len(X), n_draws, N_CLASSES), random_state=1)
    labels = ((X @ coef.T)[:, None] + draws).argmax(axis=2)
    shares = (labels[:, :, None] == np.arange(N_CLASSES)).mean(axis=1)
    given = {"sample_weight": np.full(len(X), float(n_draws))}
    model = free("student_t").fit(X, shares, **given)
    # The likelihood's curvature in the shape, with the coefficients fitted to each.
    optimum, step = model.noise_.coordinate, 0.1
    below, least, above = (
        PerturbMaxClassifier(
            noise.of_coordinate(value), loss="log", C=1e9, tol=1e-7, fit_intercept=False
        )
        .fit(X, shares, **given)
        .objective_
        for value in (optimum - step, optimum, optimum + step)
    )
    assert least < min(below, above)
    assert model.objective_ == pytest.approx(least, abs=1e-8)
    information = labels.size * (below - 2 * least + above) / step**2
    error = 1 / np.sqrt(information)
    assert error < 0.1
    assert abs(optimum - noise.coordinate) < 2.5 * error


@pytest.mark.parametrize(
    ("noise", "loadings"),
    [
        (StudentT(3.0), None),
        (GeneralizedNormal(1.4), None),
        (SkewNormal(-0.6), None),
        (SkewNormal(0.0), None),
        ("gumbel", [[0.0], [0.5], [-1.0]]),
    ],
    ids=repr,
)
def test_the_envelope_formula_by_refits(noise, loadings):
    X, coef = design(40, 3)
    y = (X @ coef.T + np.random.default_rng(1).gumbel(size=(40, 3))).argmax(axis=1)
    mapping = PerturbMax(noise, loadings=loadings)
    optimum = mapping.noise_parameters()

    def fitted(parameters):
        at = mapping.with_noise_parameters(parameters)
        return profile(at.noise, X, y, loadings=at.loadings)

    _, model = fitted(optimum)
    scores = model.decision_function(X)
    rows = LogLoss(model.mapping_).noise_gradient(scores, DenseTarget(np.eye(3)[y]))
    for k, unit in enumerate(np.eye(len(optimum))):
        ends = [fitted(optimum + sign * 0.01 * unit)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / 0.02
        assert rows[:, k].mean() == pytest.approx(slope, abs=2e-5)


def test_loadings_are_learnt():
    """Up to what is identified: turned factors, and the class that has none."""
    X, coef = design(40, 3)
    truth = PerturbMax("gumbel", loadings=[[0.0], [1.5], [2.0]])
    p = truth(X @ coef.T)
    model = free("gumbel", loadings=1).fit(X, p)
    assert_allclose(model.loadings_, truth.loadings, atol=0.1)
    assert model.noise_ == "gumbel"
    assert_allclose(model.predict_proba(X), p, atol=2e-3)
    given = free("gumbel", loadings=[[1.0], [0.0], [0.0]]).fit(X, p)
    assert_allclose(given.loadings_, truth.loadings, atol=0.1)
    # Given and not learnt, they are those of the mapping.
    fixed = PerturbMaxClassifier("gumbel", loadings=truth.loadings, loss="log")
    fixed.set_params(C=1e9, tol=1e-6, fit_intercept=False).fit(X, p)
    assert_allclose(fixed.predict_proba(X), p, atol=1e-4)
    assert fixed.mapping_.loadings == truth.loadings
    assert not hasattr(fixed, "noise_")


def test_several_searches_for_loadings():
    # Labels for which the log-likelihood has several maxima, two of them 9 apart.
    rng = np.random.default_rng(118)
    X, coef = rng.normal(size=(80, 2)), rng.normal(size=(2, 4))
    loadings = 1.5 * rng.normal(size=(4, 1))
    scores = X @ coef + rng.gumbel(size=(80, 4))
    y = (scores + rng.normal(size=(80, 1)) @ loadings.T).argmax(axis=1)

    def fit(**params):
        start = np.random.default_rng(3).normal(size=(4, 1))
        return free("gumbel", C=10.0, tol=1e-3, loadings=start, **params).fit(X, y)

    first, best = fit(), fit(n_init=2, random_state=0)
    assert 80 * (first.objective_ - best.objective_) > 1
    # The last fit is that of the best noise.
    q = PerturbMax("gumbel", loadings=best.loadings_)(X @ best.coef_.T)
    assert_allclose(best.predict_proba(X), q, atol=1e-12)
    penalty = np.sum(best.coef_**2) / 2 / 10
    objective = (penalty - np.log(q[np.arange(80), y]).sum()) / 80
    assert best.objective_ == pytest.approx(objective, abs=1e-6)
    # The first search again, and another one.
    assert best.n_iter_ > first.n_iter_


def test_a_shape_at_the_end_of_its_range():
    X, coef = design()
    model = free(StudentT(200.0)).fit(X, PerturbMax("normal")(X @ coef.T))
    assert model.noise_ == StudentT(1000.0)
    model = free(GeneralizedNormal(1.1)).fit(X, PerturbMax("cauchy")(X @ coef.T))
    assert model.noise_ == GeneralizedNormal(1.0)


def test_with_choice_sets_a_margin_and_sparse_rows():
    X, y = labels()
    available = np.ones((len(y), 3), dtype=bool)
    available[::2, 2] = y[::2] == 2
    params = {"margin": 0.2, "temperature": 1.5, "C": 1.0, "fit_intercept": True}
    model = free(StudentT(2.0), **params).fit(X, y, available=available)
    rows = sparse.csr_array(X.astype(np.float32))
    other = clone(model).fit(rows, y, available=available)
    assert other.noise_.coordinate == pytest.approx(model.noise_.coordinate, abs=0.05)
    assert other.coef_.dtype == rows.dtype
    # Neighbours are no better.
    for factor in (0.8, 1.25):
        value = StudentT(min(model.noise_.df * factor, 1000))
        fixed = PerturbMaxClassifier(value, loss="log", tol=1e-6, **params)
        fixed.fit(X, y, available=available)
        assert fixed.objective_ >= model.objective_ - 1e-8
    p = model.predict_proba(X, available=available)
    assert (p[~available] == 0).all()
    # An offset that is a class's constant is taken up by the intercepts.
    offset = np.tile([0.5, 0.0, -0.5], (len(y), 1))
    shifted = clone(model).fit(X, y, available=available, offset=offset)
    assert shifted.objective_ == pytest.approx(model.objective_, abs=1e-7)
    assert_allclose(
        shifted.predict_proba(X, available=available, offset=offset), p, atol=1e-2
    )


def test_two_classes_and_a_warm_start():
    X, _ = design(20, 2)
    coef = np.array([[-1.0, -0.5], [1.0, 0.5]])
    p = PerturbMax(StudentT(1.5))(X @ coef.T)
    model = free("student_t", warm_start=True).fit(X, p)
    assert model.noise_.df == pytest.approx(1.5, rel=0.1)
    first = model.n_iter_
    model.fit(X, p)
    assert model.n_iter_ < first / 2
    assert model.noise_.df == pytest.approx(1.5, rel=0.1)


@needs_callbacks
def test_callbacks_hear_of_all_fits_and_may_stop_them():
    X, coef = design()
    p = PerturbMax(StudentT(2.0))(X @ coef.T)
    recorder, stopper = Recorder(), Recorder(stop_after=12)
    model = free("student_t", tol=1e-3).set_callbacks(recorder).fit(X, p)
    n_iter = model.n_iter_
    assert recorder.events.count("end iteration") >= n_iter
    model.set_callbacks(stopper).fit(X, p)
    assert model.n_iter_ <= 12 < n_iter
    assert isinstance(model.noise_, StudentT)


def test_a_search_that_does_not_converge_is_told():
    X, coef = design()
    model = free("student_t", max_iter=1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        model.fit(X, PerturbMax(StudentT(2.0))(X @ coef.T))


def test_a_search_for_the_noise_that_stops_early_warns(monkeypatch):
    """After one step the coefficients have converged, and the noise has not."""

    def one_step(*args, options, **kwargs):
        return minimize(*args, options=options | {"maxiter": 1}, **kwargs)

    monkeypatch.setattr(_learnt_noise, "minimize", one_step)
    X, coef = design()
    with pytest.warns(ConvergenceWarning, match="the parameters of the noise did not"):
        free("student_t").fit(X, PerturbMax(StudentT(2.0))(X @ coef.T))


def test_a_search_that_fails_at_the_optimum_does_not_warn(monkeypatch):
    """Rounding errors can end the last line search without success."""

    def no_success(*args, **kwargs):
        result = minimize(*args, **kwargs)
        result.success = False
        return result

    monkeypatch.setattr(_learnt_noise, "minimize", no_success)
    X, coef = design()
    model = free("student_t").fit(X, PerturbMax(StudentT(2.0))(X @ coef.T))
    assert model.noise_.df == pytest.approx(2, rel=0.03)


def test_what_cannot_be_learnt():
    X, y = labels()
    fit = PerturbMaxClassifier(learn_noise=True).fit
    assert_refused(
        r"'normal' has none. Noises with one: 'student_t' or StudentT\(df\), "
        r"'generalized_normal' or GeneralizedNormal\(exponent\), "
        r"'skew_normal' or SkewNormal\(skewness\)",
        *(fit, X, y),
    )
    for params, message in (
        ({"noise": "gumbel"}, "'gumbel' has none"),
        ({"loss": "fenchel_young"}, "needs the log loss.*not comparable.*'fenchel_y"),
        ({"loss": FenchelYoungLoss()}, "needs the log loss"),
        ({"loss": LogLoss(epsilon=0.1)}, "needs the log loss"),
        ({"n_quantiles": 5}, "n_quantiles=None"),
        ({"similarity": "cosine"}, "similarity='dot'"),
        ({"loadings": 3}, "loadings must be at most 2, .* got 3"),
        ({"loadings": 0}, "'loadings' parameter"),
        ({"n_init": 2}, "n_init must be 1 unless loadings are learnt.* n_init=2"),
        ({"loadings": 1, "learn_noise": False}, "unless learn_noise=True; got 1"),
        ({"loadings": [[1.0], [2.0]]}, "a row for each of the 3 classes; got 2"),
    ):
        model = PerturbMaxClassifier("student_t", learn_noise=True).set_params(**params)
        assert_refused(message, model.fit, X, y)
    model = PerturbMaxClassifier("normal", learn_noise=True, loadings=1)
    assert_refused("three or more classes", model.fit, *labels(2))


def test_label_sets_with_a_learnt_noise():
    X, coef = design()
    p = PerturbMax(StudentT(2.0))(X @ coef.T)
    sets = (p > 0.3).astype(int)
    sets[np.arange(len(p)), np.arange(len(p)) % N_CLASSES] = 1
    model = free("student_t", threshold=0.3, C=1.0).fit(X, sets)
    assert_array_equal(model.predict(X), model.predict_proba(X) > 0.3)
