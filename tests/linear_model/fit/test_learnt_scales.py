"""Nested logit: nests by name, and scales that are estimated with the coefficients."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.base import clone

from skprob import LinearClassifier
from skprob.attention import AttentionClassifier
from skprob.losses import LogLoss
from skprob.mappings import NestedSoftmax, Temperature
from skprob.targets import DenseTarget

NAMES = np.array(["bike", "bus", "car", "taxi", "train"])
NESTS = [["train", "bus"], ["car", "taxi"]]
# The bike is a nest of its own.
INDICES = np.array([2, 0, 1, 1, 0])
TRUTH = np.array([0.4, 0.7, 1.0])


def log_probabilities(coef, scales, Z):
    """The formula of the nested logit, of shape (n_samples, n_classes)."""
    V = Z @ coef.T
    inclusive = np.column_stack(
        [np.logaddexp.reduce(V[:, INDICES == b] / scales[b], axis=1) for b in range(3)]
    )
    log_nest = scales * inclusive
    log_nest -= np.logaddexp.reduce(log_nest, axis=1, keepdims=True)
    return V / scales[INDICES] + (log_nest - inclusive)[:, INDICES]


def simulated(n_samples=1000):
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.normal(size=(n_samples, 2)), np.ones(n_samples)])
    coef = rng.normal(size=(5, 3))
    p = np.exp(log_probabilities(coef, TRUTH, Z))
    assert_allclose(p.sum(axis=1), 1)
    return Z, coef, p, (p.cumsum(axis=1) < rng.random((n_samples, 1))).sum(axis=1)


Z, COEF, P, Y = simulated()
X = Z[:, :2]


def maximum_likelihood(Z, y):
    """Coefficients less those of the first class, scales, and mean log-likelihood."""

    def unpacked(theta):
        coef = np.vstack([np.zeros((1, 3)), theta[:12].reshape(4, 3)])
        return coef, np.exp([*theta[12:], 0.0])

    def minus_log_likelihood(theta):
        return -log_probabilities(*unpacked(theta), Z)[np.arange(len(y)), y].mean()

    best = minimize(
        minus_log_likelihood,
        np.concatenate([(COEF[1:] - COEF[0]).ravel(), np.log(TRUTH[:2])]),
        method="L-BFGS-B",
        bounds=[(None, None)] * 12 + [(np.log(0.01), 0)] * 2,
        options={"ftol": 1e-14, "gtol": 1e-8, "maxiter": 1000},
    )
    return *unpacked(best.x), -best.fun


def nested_logit(nests=NESTS, **parameters):
    parameters = {"C": np.inf, "tol": 1e-7, **parameters}
    return LinearClassifier(NestedSoftmax(nests, learn_noise=True), **parameters)


def test_maximum_likelihood():
    coef, scales, log_likelihood = maximum_likelihood(Z, Y)
    model = nested_logit().fit(X, NAMES[Y])
    assert isinstance(model.loss_, LogLoss)
    assert_array_equal(model.mapping_.nests, INDICES)
    fitted = np.column_stack([model.coef_, model.intercept_])
    assert_allclose(fitted - fitted[0], coef, atol=1e-4)
    assert_allclose(model.mapping_.scales, scales, atol=1e-4)
    assert -model.objective_ == pytest.approx(log_likelihood, abs=1e-9)
    p = log_probabilities(fitted, np.array(model.mapping_.scales), Z)
    assert_allclose(model.predict_log_proba(X), p, atol=1e-10)
    # Its coefficients are those of a fit with these scales.
    given = LinearClassifier(
        NestedSoftmax(NESTS, model.mapping_.scales[:2]), "log", C=np.inf, tol=1e-8
    ).fit(X, NAMES[Y])
    assert_allclose(model.coef_, given.coef_, atol=1e-4)


@pytest.mark.parametrize("first", [0.4, 1.8])
def test_probabilities_themselves_give_the_scales_back(first):
    """Without sampling error; a scale above one is not allowed, and becomes one."""
    p = np.exp(log_probabilities(COEF, np.array([first, 0.7, 1.0]), Z))
    frame = pd.DataFrame(p, columns=NAMES)
    model = nested_logit(tol=1e-8).fit(X, frame)
    if first < 1:
        assert_allclose(model.mapping_.scales, [first, 0.7, 1.0], atol=1e-3)
        assert_allclose(model.predict_proba(X), p, atol=1e-4)
    else:
        assert model.mapping_.scales[0] == 1


def test_the_gradient_in_the_scales():
    mapping = NestedSoftmax(INDICES, [0.3, 0.8, 0.5], learn_noise=True)
    rng = np.random.default_rng(2)
    scores, q = rng.normal(size=(6, 5)), rng.dirichlet(np.ones(5), size=6)
    scores[0, 1] = scores[1, [2, 3]] = -np.inf
    q[0, 1] = q[1, [2, 3]] = 0
    q /= q.sum(axis=1, keepdims=True)
    # The same scales are learnt if the nests are lists of columns.
    lists = NestedSoftmax([[1, 4], [2, 3], [0]], [0.3, 0.8, 0.5])
    assert_array_equal(lists.noise_parameters(), mapping.noise_parameters())
    assert lists.with_noise_parameters(np.log([0.1, 0.2])).scales == pytest.approx(
        [0.1, 0.2, 0.5]
    )
    assert not NestedSoftmax().noise_parameters().size
    for tau in 1.0, 2.0:
        heated = Temperature(mapping, tau)
        gradient = LogLoss(heated).noise_gradient(scores.copy(), DenseTarget(q))
        assert gradient.shape == (6, 2)
        at, h = mapping.noise_parameters(), 1e-6
        assert_allclose(at, np.log([0.3, 0.8]))

        def losses(parameters, tau=tau):
            moved = Temperature(mapping.with_noise_parameters(parameters), tau)
            return LogLoss(moved).value(scores, q)

        for column, step in enumerate(h * np.eye(2)):
            slope = (losses(at + step) - losses(at - step)) / (2 * h)
            assert_allclose(gradient[:, column], slope, atol=1e-8)


@pytest.mark.parametrize(
    ("y", "nests"),
    [
        (Y, [[4, 1], [2, 3]]),
        (Y + 7, [(11, 8), {9, 10}]),
        (Y.astype(str), [[4, 1], [2, 3]]),
        (np.eye(5)[Y], [[4, 1], [2, 3]]),
        (pd.DataFrame(np.eye(5)[Y], columns=NAMES), NESTS),
        (np.eye(5, dtype=int)[Y][:, :4], [[1, 2]]),
    ],
    ids=["numbers", "others", "text", "columns", "names", "rows without a label"],
)
def test_nests_are_matched_with_the_classes(y, nests):
    threshold = 0.5 if np.ndim(y) == 2 else "auto"
    parameters = {"loss": "log", "target_type": "auto", "threshold": threshold}
    by_name = LinearClassifier(NestedSoftmax(nests, 0.5), **parameters).fit(X, y)
    indices, scales = INDICES, [0.5, 0.5, 1.0]
    if len(nests) == 1:
        # The last class is that of rows without a label.
        assert by_name.has_none_class_
        indices, scales = [1, 0, 0, 2, 3], [0.5, 1.0, 1.0, 1.0]
    by_index = LinearClassifier(NestedSoftmax(indices, scales), **parameters)
    assert_array_equal(by_name.coef_, by_index.fit(X, y).coef_)
    assert_array_equal(by_name.mapping_.nests, indices)
    assert by_name.get_params()["mapping__nests"] == nests


def test_temperature_penalty_and_weights():
    """Everything else of a fit, with scales that are learnt."""
    weight = np.random.default_rng(3).uniform(0.5, 2, len(Y))
    y = NAMES[Y]
    model = nested_logit(C=5.0, temperature=2.0, tol=1e-6).fit(X, y, weight)
    inner = model.mapping_.mapping
    assert isinstance(inner, NestedSoftmax)
    assert min(inner.scales) < 0.6
    fixed = LinearClassifier(
        NestedSoftmax(NESTS, inner.scales[:2]),
        "log",
        C=5.0,
        temperature=2.0,
        tol=1e-7,
    ).fit(X, y, weight)
    assert model.objective_ == pytest.approx(fixed.objective_, abs=1e-9)
    for factor in 0.98, 1.02:
        moved = clone(fixed).set_params(
            mapping__scales=np.minimum(np.array(inner.scales[:2]) * factor, 1)
        )
        assert moved.fit(X, y, weight).objective_ > model.objective_


def test_dask():
    nested = LinearClassifier(NestedSoftmax([[1, 4], [2, 3]], 0.5), "log", tol=1e-6)
    memory = clone(nested).fit(X[:200], Y[:200])
    parts = [da.from_array(a[:200], chunks=(100, *a.shape[1:])) for a in (X, Y)]
    assert_allclose(nested.fit(*parts).coef_, memory.coef_, atol=1e-4)


@pytest.mark.parametrize("nests", [NESTS, INDICES.tolist()])
def test_warm_start(nests):
    model = nested_logit(nests, tol=1e-6, warm_start=True).fit(X, NAMES[Y])
    n_iter, scales = model.n_iter_, model.mapping_.scales
    model.fit(X, NAMES[Y])
    assert model.n_iter_ < n_iter / 3
    assert_allclose(model.mapping_.scales, scales, atol=1e-3)


def test_bad_arguments_are_refused():
    y = NAMES[Y]
    for model, message in (
        (nested_logit([["bus", "tram"]]), "got 'tram'. Did you mean 'train'"),
        (nested_logit(None), "nests must be two or more"),
        (nested_logit([[name] for name in NAMES]), "one of them with several classes"),
        (nested_logit(loss="fenchel_young"), "learn_noise=True needs the log loss"),
        (nested_logit(similarity="cosine"), "learn_noise=True needs similarity='dot'"),
        (nested_logit([0, 0, 1]), "an entry for each of the 5 classes; got 3"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y)
    attention = AttentionClassifier(NestedSoftmax(learn_noise=True))
    with pytest.raises(ValueError, match="attention estimates no scales"):
        attention.fit(X, Y)
    hidden = LinearClassifier(Temperature(NestedSoftmax(NESTS, learn_noise=True), 2.0))
    with pytest.raises(ValueError, match="temperature of the classifier"):
        hidden.fit(X, y)
