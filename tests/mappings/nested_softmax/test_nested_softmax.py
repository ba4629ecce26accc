"""Nested softmax against its definition, softmax and simulated Gumbel noise."""

import mpmath as mp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp, xlogy

from skprob import LinearClassifier
from skprob.losses import FenchelYoungLoss
from skprob.mappings import NestedSoftmax, Softmax, nested_softmax

from .. import definitions

NESTS, SCALES = [0, 1, 1, 0, 2], [0.5, 0.2, 0.9]
MAPPING = NestedSoftmax(NESTS, SCALES)


def rows():
    z = np.random.default_rng(0).normal(size=(5, 5))
    z *= np.array([[0.1], [1], [5], [300], [1]])
    z[3, 4] = -2000  # alone in the last nest
    z[4, [0, 3]] = -np.inf
    return z


def difference(function, z, direction, step=1e-5):
    return (function(z + step * direction) - function(z - step * direction)) / (
        2 * step
    )


def potential(z):
    """The logarithm of the sum of the nests' sums."""
    nests = [np.array(NESTS) == nest for nest in range(len(SCALES))]
    sums = [
        scale * logsumexp(z[:, nest] / scale, axis=1)
        for scale, nest in zip(SCALES, nests, strict=True)
    ]
    return logsumexp(sums, axis=0)


def negative_entropy(q):
    """Sum over nests of scale times negative entropy within, plus the nests'."""
    value = 0
    for nest, scale in enumerate(SCALES):
        within = q[:, np.array(NESTS) == nest]
        total = within.sum(axis=1)
        value += scale * xlogy(within, within).sum(axis=1)
        value += (1 - scale) * xlogy(total, total)
    return value


def test_probabilities_by_definition():
    z = rows()
    exact = [definitions.probabilities(MAPPING, row) for row in z]
    assert_allclose(MAPPING(z), np.array(exact, dtype=float), rtol=1e-12, atol=0)
    logs = [[float(mp.log(p)) if p else -np.inf for p in row] for row in exact]
    assert_allclose(MAPPING.log_probabilities(z), logs, rtol=1e-13)
    assert MAPPING(z.astype(np.float32)).dtype == np.float32


def test_it_is_the_gradient_of_its_potential_and_has_an_entropy():
    z = rows()[:3]
    v = np.random.default_rng(1).normal(size=z.shape)
    slope = difference(MAPPING.potential, z, v)
    p = MAPPING(z)
    assert_allclose(slope, (p * v).sum(axis=1), atol=1e-10, rtol=1e-9)
    assert_allclose(MAPPING.potential(z), potential(z), rtol=1e-13)
    for q in p, np.random.default_rng(5).dirichlet(np.ones(5), size=3):
        assert_allclose(MAPPING.entropy(q), -negative_entropy(q), rtol=1e-12)
        # It is the conjugate of the potential, by its maximum.
        for row, omega in zip(q, negative_entropy(q), strict=True):
            optimum = minimize(
                lambda x, row=row: potential(x[None])[0] - row @ x, np.zeros(5)
            )
            assert -optimum.fun == pytest.approx(omega, abs=1e-7)
    assert_allclose(MAPPING.entropy(np.eye(5)), 0, atol=1e-15)


def test_derivatives():
    z = rows()[:3]
    c, v = np.random.default_rng(2).normal(size=(2, *z.shape))
    assert_allclose(MAPPING.jvp(z, v), difference(MAPPING, z, v), atol=1e-9)
    assert_allclose(MAPPING.vjp(z, v), MAPPING.jvp(z, v), atol=1e-15)
    for name in "linearize", "log_linearize":

        def vjp(scores, name=name):
            return getattr(MAPPING, name)(scores).vjp(c)

        linear = getattr(MAPPING, name)(z)
        second = linear.vjp_derivative(c, v)
        assert_allclose(second, difference(vjp, z, v), atol=1e-8, rtol=1e-8)
        pairs = (linear.jvp(v.copy()) * c).sum(axis=1), (linear.vjp(c) * v).sum(axis=1)
        assert_allclose(*pairs)


def test_scales_of_one_are_softmax_and_one_nest_its_temperature():
    z = rows()
    assert_allclose(nested_softmax(z, NESTS), Softmax()(z), atol=1e-15)
    assert_allclose(nested_softmax(z, scales=0.5), Softmax()(2 * z), atol=1e-15)
    assert NestedSoftmax(NESTS).traits.is_order_preserving
    assert not MAPPING.traits.is_order_preserving
    # Two that are the same share what one has.
    p = nested_softmax([1.0, 0.0, 0.0], [0, 1, 1], [1.0, 1e-3])
    assert_allclose(p[0], np.e / (np.e + 1), atol=1e-3)
    p = nested_softmax([0.31, 0.0, 0.3], [0, 0, 1], 0.3)
    assert p[0] < p[2]


def positive_stable(index, size, rng):
    """Noise of Laplace transform exp(-t^index), by Chambers, Mallows and Stuck."""
    u, e = np.pi * rng.random(size), rng.exponential(size=size)
    a = np.sin(index * u) / np.sin(u) ** (1 / index)
    return a * (np.sin((1 - index) * u) / e) ** ((1 - index) / index)


def test_simulation():
    rng, n = np.random.default_rng(3), 200_000
    z = np.array([0.3, 0.0, -0.5, 0.2, 0.1])
    of, scale = np.array(NESTS), np.array(SCALES)[NESTS]
    # μ (ε + log S) with S stable of index μ is Gumbel noise, shared by a nest.
    shared = np.stack([np.log(positive_stable(m, n, rng)) for m in SCALES], axis=1)
    noise = scale * (rng.gumbel(size=(n, 5)) + shared[:, of])
    share = np.bincount((z + noise).argmax(axis=1), minlength=5) / n
    p = MAPPING(z[None])[0]
    assert (np.abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / n)).all()


def test_it_can_be_fitted():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 3))
    scores = X @ rng.normal(size=(3, 5))
    y = [rng.choice(5, p=p) for p in MAPPING(scores)]
    for loss in "fenchel_young", "log":
        model = LinearClassifier(MAPPING, loss=loss, tol=1e-8).fit(X, y)
        scores = model.decision_function(X)
        gradient = model.loss_.value_and_gradient(scores, np.eye(5)[y])[1]
        assert_allclose(gradient.T @ X, -model.coef_, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "n_classes", "similarity"),
    [
        ("labels", 2, "dot"),
        ("labels", 7, "cosine"),
        ("sets", 3, "dot"),
        ("sets", 4, "cosine"),
        ("shares", 2, "cosine"),
        ("shares", 4, "dot"),
    ],
)
def test_scales_of_one_are_fitted_like_softmax(kind, n_classes, similarity):
    """Targets are packed into few columns where a mapping is symmetric."""
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(60, 3))
    y = np.arange(60) % n_classes
    if kind == "sets":
        y = (rng.random((60, n_classes)) < 0.4).astype(int)
        y[np.arange(60), np.arange(60) % n_classes] = 1
    elif kind == "shares":
        y = rng.dirichlet(np.ones(n_classes), size=60)
    # Every second class is in the second nest.
    mapping = NestedSoftmax(np.arange(n_classes) % 2)
    assert mapping.traits.is_symmetric
    options = {"tol": 1e-8, "similarity": similarity}
    nested = LinearClassifier(mapping, **options).fit(X, y)
    softmax = LinearClassifier("softmax", **options).fit(X, y)
    assert nested.objective_ == pytest.approx(softmax.objective_, rel=1e-9)
    assert_allclose(nested.predict_proba(X), softmax.predict_proba(X), atol=1e-6)


def test_the_number_of_nests_is_checked_whatever_the_scales():
    for scales in 1.0, 0.5:
        mapping = NestedSoftmax([0, 1, 1, 0], scales)
        for call in (
            lambda mapping=mapping: mapping.entropy([[0.5, 0.5, 0.0]]),
            lambda mapping=mapping: LinearClassifier(mapping).fit(np.eye(3), [0, 1, 2]),
        ):
            with pytest.raises(ValueError, match="each of the 3 classes; got 4"):
                call()


def test_the_loss_of_distributions_by_its_definition():
    """The order of the classes counts, as the mapping is not symmetric."""
    loss, z = FenchelYoungLoss(MAPPING), rows()[:3]
    # Zero where the probabilities are the target.
    assert_allclose(loss.value(z, MAPPING(z)), 0, atol=1e-13)
    q = np.random.default_rng(6).dirichlet(np.ones(5), size=3)
    q[0] = [0, 0.5, 0.5, 0, 0]
    q[1] = [0, 0, 0, 0, 1]
    exact = potential(z) + negative_entropy(q) - (q * z).sum(axis=1)
    for given in (q, csr_array(q)):
        assert_allclose(loss.value(z, given), exact, rtol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"nests": [0, 2, 2]}, "nests must be integers of shape"),
        ({"nests": [0.0, 1.0, 1.0]}, "nests must be integers of shape"),
        ({"nests": np.zeros((3, 1), int)}, "nests must be integers of shape"),
        ({"nests": np.zeros(0, int)}, "nests must be integers of shape"),
        (
            {"nests": [[0, 1, 1]]},
            r"each class once at most; got \['1'\] more than once",
        ),
        ({"nests": [[0, 1], []]}, r"with one name or more; got \[\]"),
        ({"nests": [[0, 1], 2]}, "lists of class names, each with .* got 2"),
        ({"nests": [[0, 3]]}, r"name classes, \[0, 1, 2\]; got 3"),
        ({"nests": [["bus", "car"]]}, r"name classes, \[0, 1, 2\]; got 'bus'"),
        ({"nests": [[0, 1]], "scales": [0.5, 1.0]}, "one for each of the 1 nests"),
        ({"nests": [0, 1]}, "nests must have an entry for each of the 3 classes"),
        ({"nests": [0, 1, 1], "scales": [0.5, 0.5, 0.5]}, "scales must be"),
        ({"nests": [0, 1, 1], "scales": [0.5, 0.0]}, "scales must be"),
        ({"nests": [0, 1, 1], "scales": [0.5, "a"]}, "scales must be"),
        ({"scales": 1.5}, "scales"),
        ({"nests": [0, 1, 1], "scales": [0.5, 0.5j]}, "scales must be"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        NestedSoftmax(**parameters)([[0.0, 1.0, 2.0]])


@pytest.mark.parametrize("sizes", [[1] * 40 + [2] * 20, [50, 1, 3, 33], [32, 1], [40]])
def test_nests_of_any_size_in_any_order(sizes):
    """Against the definition, nest by nest, and differences."""
    rng = np.random.default_rng(len(sizes))
    numbers = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    scales = rng.uniform(0.3, 1, len(sizes))
    mapping = NestedSoftmax(numbers, scales)
    z = 3 * rng.normal(size=(4, len(numbers)))
    z[1, rng.random(len(numbers)) < 0.5] = -np.inf
    z[1, 0] = 1.0
    masks = [numbers == nest for nest in range(len(sizes))]
    with np.errstate(divide="ignore"):
        inclusive = [
            logsumexp(z[:, mask] / scale, axis=1)
            for mask, scale in zip(masks, scales, strict=True)
        ]
    values = np.array([s * i for s, i in zip(scales, inclusive, strict=True)])
    expected = np.empty_like(z)
    for nest, mask in enumerate(masks):
        inside = np.where(np.isfinite(inclusive[nest]), inclusive[nest], 0)[:, None]
        of_nest = np.exp(values[nest] - logsumexp(values, axis=0))[:, None]
        expected[:, mask] = of_nest * np.exp(z[:, mask] / scales[nest] - inside)
    assert_allclose(mapping(z), expected, rtol=1e-11, atol=1e-300)
    assert_allclose(mapping.potential(z), logsumexp(values, axis=0), rtol=1e-13)
    z[1] = rng.normal(size=len(numbers))
    v = rng.normal(size=z.shape)
    assert_allclose(mapping.jvp(z, v), difference(mapping, z, v), atol=1e-9)
    q = rng.dirichlet(np.ones(len(numbers)), size=3)
    omega = sum(
        scale * xlogy(q[:, mask], q[:, mask]).sum(axis=1)
        + (1 - scale) * xlogy(q[:, mask].sum(axis=1), q[:, mask].sum(axis=1))
        for scale, mask in zip(scales, masks, strict=True)
    )
    assert_allclose(mapping.entropy(q), -omega, rtol=1e-12)
