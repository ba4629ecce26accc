"""Mappings as ONNX graphs, for scores of all kinds."""

import math

import numpy as np
import pytest

from skprob import LinearClassifier
from skprob.mappings import (
    MAPPINGS,
    Entmax,
    EntropyInvariantSoftmax,
    Mapping,
    NestedSoftmax,
    Sigmoid,
    Softmax,
    SparseSoftmax,
    TaylorSoftmax,
    Temperature,
    Traits,
    get_mapping,
)
from skprob.onnx import mapping_to_onnx, register_mapping

from .running import onnxruntime, run, run_session, session


def classifier(mapping, n_classes, *, is_set=False):
    """A classifier whose scores are its features."""
    model = LinearClassifier(mapping)
    model.classes_ = np.arange(n_classes)
    model.has_none_class_ = False
    model.n_features_in_ = n_classes
    model.coef_, model.intercept_ = np.eye(n_classes), np.zeros(n_classes)
    model.similarity_ = "dot"
    model.mapping_, model.target_type_ = mapping, "class"
    if is_set:
        model.target_type_, model.threshold_ = "label_set", 0.5
    model.has_none_class_ = False
    return model


def hard_rows(n_classes):
    """Scores at which sparse mappings take many steps, and scores with ties."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(20, n_classes))
    return np.vstack(
        [
            *(scale * normal for scale in (1e-3, 0.1, 1, 3, 100)),
            rng.standard_cauchy(size=(20, n_classes)),
            normal.round(1),
            np.zeros((1, n_classes)),
            -np.geomspace(1e-12, 1, n_classes)[None],
            -(2.0 ** -np.arange(n_classes))[None],
            *(-(np.linspace(0, 1, n_classes) ** power)[None] for power in (0.5, 1, 2)),
        ]
    )


# Each route, and each side of those next to one and of two.
ALPHAS = (0.1, 0.5, 1 - 1e-7, 1 + 1e-7, 1.25, 1.5, 1.99, 2, 2.01, 3, 20)


HARD = [
    *(Entmax(alpha) for alpha in ALPHAS),
    *(Sigmoid(alpha) for alpha in (1, 1.5, 3)),
    TaylorSoftmax(30),
    SparseSoftmax(3),
    SparseSoftmax(p=0.5),
    SparseSoftmax(p=1),
    EntropyInvariantSoftmax(0.5),
    Temperature(Entmax(), 1e-3),
    Temperature("sparsemax", 5.0),
]
# With few classes: entmax on each side of alpha = 1 and of 2, and one sparse softmax.
FEW = [*(Entmax(alpha) for alpha in (0.5, 1 + 1e-7, 1.5, 2.01)), SparseSoftmax(p=0.5)]


@pytest.mark.parametrize(
    ("mapping", "n_classes"),
    [*((mapping, 100) for mapping in HARD), *((mapping, 3) for mapping in FEW)],
    ids=str,
)
def test_probabilities_of_hard_rows_are_those_of_numpy(mapping, n_classes):
    scores = hard_rows(n_classes)
    # The marginals of class labels are divided by their sum, those of sets are not.
    model = classifier(mapping, n_classes, is_set=mapping.traits.polytope == "cube")
    p = run(model, scores)[1]
    expected = mapping(scores)
    # Rounding of 1 + (alpha - 1) z is raised to a high power next to softmax, and a low
    # temperature multiplies that of the scores.
    rounding = 1e-15 / min(abs(getattr(mapping, "alpha", 2) - 1) or 1, 1e-2)
    rounding /= min(getattr(mapping, "temperature", 1), 1)
    assert np.abs(p - expected).max() <= rounding
    support_differs = (p > 0) != (expected > 0)
    assert np.maximum(p, expected)[support_differs].max(initial=0) <= 1e-15
    if isinstance(mapping, Entmax) and n_classes == 3:
        assert max(abs(math.fsum(row) - 1) for row in p) <= 1e-15


def test_nested_softmax_is_that_of_numpy():
    mapping = NestedSoftmax(nests=[1, 0, 1, 2, 0], scales=[0.3, 1.0, 0.7])
    scores = hard_rows(5)
    p = run(classifier(mapping, 5), scores)[1]
    assert np.abs(p - mapping(scores)).max() <= 1e-13
    # A large number in all scores is no part of any sum.
    scores = scores.round(1) + 2.0**40
    p = run(classifier(mapping, 5), scores)[1]
    assert np.abs(p - mapping(scores - 2.0**40)).max() <= 1e-13


@pytest.mark.parametrize(
    "mapping",
    [
        *(TaylorSoftmax(2), TaylorSoftmax(30), SparseSoftmax(), SparseSoftmax(p=0.3)),
        *(Entmax(1.3), Entmax(3), Sigmoid(1.5), NestedSoftmax([0, 1] * 6, 0.5)),
    ],
    ids=str,
)
def test_scores_of_any_size_and_ties(mapping):
    rng, n_classes = np.random.default_rng(0), 12
    normal = rng.normal(size=(10, n_classes))
    sizes = 1e-300, 1e-10, 1e12, 1e200, 1e300
    ties = np.zeros((1, n_classes)), rng.integers(0, 2, (20, n_classes)).astype(float)
    scores = np.vstack([*(size * normal for size in sizes), *ties])
    model = mapping_to_onnx(mapping, n_classes, dtype=np.float64)
    running = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (p,) = running.run(["probabilities"], {"scores": scores})
    expected = mapping(scores)
    assert np.abs(p - expected).max() <= 1e-13
    np.testing.assert_array_equal(p > 0, expected > 0)


def test_a_sum_that_misses_p_by_rounding_has_reached_it():
    """0.07 times 100 is more than 7 in floating point."""
    mapping, scores = SparseSoftmax(p=0.07), np.zeros((1, 100))
    model = mapping_to_onnx(mapping, 100, dtype=np.float64)
    running = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (p,) = running.run(["probabilities"], {"scores": scores})
    assert np.count_nonzero(p) == np.count_nonzero(mapping(scores)) == 7


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "mapping", ["entmax", "softmax", Sigmoid(1.5), NestedSoftmax([0, 1, 1], 0.5)]
)
def test_a_mapping_alone_is_that_of_numpy(mapping, dtype):
    model = mapping_to_onnx(mapping, n_classes=3, dtype=dtype)
    running = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    scores = hard_rows(3).astype(dtype)
    (p,) = running.run(["probabilities"], {"scores": scores})
    assert p.dtype == dtype
    expected = get_mapping(mapping)(scores.astype(np.float64))
    assert np.abs(p - expected).max() <= 2 * np.finfo(dtype).eps
    scores[1, 2], scores[3, 0] = np.nan, -np.inf
    (with_nan,) = running.run(None, {"scores": scores})
    np.testing.assert_array_equal(np.isnan(with_nan).any(axis=1).nonzero()[0], [1, 3])
    (no_rows,) = running.run(None, {"scores": scores[:0]})
    assert no_rows.shape == (0, 3)


def test_a_mapping_after_a_network():
    """Two layers in one graph."""
    helper = pytest.importorskip("onnx.helper", reason="needs the extra skprob[onnx]")
    compose = pytest.importorskip("onnx.compose", reason="needs the extra skprob[onnx]")
    layer = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    ends = [
        [helper.make_tensor_value_info(name, 1, ["n", width])]
        for name, width in (("X", 4), ("Z", 3))
    ]
    network = helper.make_model(
        helper.make_graph(
            [helper.make_node("MatMul", ["X", "layer"], ["Z"])],
            "network",
            *ends,
            [helper.make_tensor("layer", 1, layer.shape, layer.ravel())],
        ),
        opset_imports=[helper.make_opsetid("", 18)],
        ir_version=8,
    )
    model = compose.merge_models(
        network, mapping_to_onnx("sparsemax", 3), io_map=[("Z", "scores")]
    )
    running = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    X = np.random.default_rng(1).normal(size=(9, 4)).astype(np.float32)
    (p,) = running.run(None, {"X": X})
    assert np.abs(p - get_mapping("sparsemax")(X @ layer)).max() < 1e-6


def test_bad_arguments_of_a_mapping_alone_are_refused():
    for given, message in (
        ({"mapping": "entmaxx"}, "Did you mean 'entmax'"),
        ({"n_classes": 0}, "n_classes must be an integer, 1 or more; got 0"),
        ({"dtype": np.float16}, "dtype must be float32 or float64"),
        ({"dtype": "single precision"}, "dtype must be float32 or float64"),
        ({"mapping": Entmax(-1.0)}, r"'alpha' parameter of Entmax .* Got -1"),
        ({"mapping": NestedSoftmax([0, 1])}, "nests must have an entry .* 3 classes"),
    ):
        with pytest.raises(ValueError, match=message):
            mapping_to_onnx(**{"mapping": "entmax", "n_classes": 3, **given})
    with pytest.raises(NotImplementedError, match="has no ONNX converter"):
        mapping_to_onnx("perturb_max", 3)
    with pytest.raises(NotImplementedError, match="has no ONNX converter"):
        mapping_to_onnx(lambda scores: scores, 3)


@pytest.mark.parametrize("name", MAPPINGS)
def test_every_mapping_converts_or_says_that_it_cannot(name):
    mapping = MAPPINGS[name]()
    model = classifier(mapping, 4, is_set=mapping.traits.polytope == "cube")
    scores = hard_rows(4)
    if name == "perturb_max":
        with pytest.raises(NotImplementedError, match="no ONNX converter"):
            run(model, scores)
        return
    p = run(model, scores)[1]
    assert np.abs(p - model.mapping_(scores)).max() <= 1e-12


NOT_FINITE = [
    [np.nan, np.nan, np.nan, np.nan],
    [np.nan, 0.0, 1.0, 2.0],
    [0.0, 1.0, 2.0, np.nan],
    [np.inf, 0.0, 1.0, 2.0],
    [0.0, 1.0, 2.0, -np.inf],
    [np.inf, -np.inf, 0.0, 1.0],
]


@pytest.mark.parametrize(
    "mapping",
    [
        *(MAPPINGS[name]() for name in MAPPINGS if name != "perturb_max"),
        # Each alpha has another route.
        *(Entmax(alpha) for alpha in (0.5, 1.25, 2, 3)),
        Sigmoid(3),
        SparseSoftmax(p=0.5),
        Temperature(Entmax(2.5), 0.1),
    ],
    ids=str,
)
def test_rows_with_nan_or_infinity_are_nan_and_no_others(mapping):
    model, scores = classifier(mapping, 4), hard_rows(4)
    running = session(model, scores)
    for place in (0, 7, len(scores)):
        # Rounding depends on the place of a row: keep those of the others.
        mixed = np.insert(scores, place, 0.0, axis=0)
        expected = run_session(running, mixed)
        others = np.arange(len(mixed)) != place
        for row in NOT_FINITE:
            mixed[place] = row
            labels, p = run_session(running, mixed)
            assert labels[place] == np.iinfo(np.int64).min
            assert np.isnan(p[place]).all()
            np.testing.assert_array_equal(labels[others], expected[0][others])
            np.testing.assert_array_equal(p[others], expected[1][others])
    labels, p = run_session(running, np.array(NOT_FINITE))
    assert (labels == np.iinfo(np.int64).min).all()
    assert np.isnan(p).all()


class Squares(Mapping):
    traits = Traits(is_shift_invariant=False, is_order_preserving=False)

    def probabilities(self, scores):
        squares = 1 + scores**2
        return squares / squares.sum(axis=1, keepdims=True)


def test_a_mapping_of_the_user_needs_a_converter():
    model, scores = classifier(Squares(), 4), hard_rows(4)
    with pytest.raises(NotImplementedError, match="register_mapping adds another"):
        run(model, scores)

    def squares(mapping, scores, n_classes):
        squares = 1 + scores**2
        return squares / squares.sum()

    register_mapping(Squares, squares)
    labels, p = run(model, scores)
    np.testing.assert_allclose(p, model.mapping_(scores), rtol=1e-12)
    np.testing.assert_array_equal(labels, model.predict(scores))
    with pytest.raises(TypeError, match="mapping must be a class"):
        register_mapping(Squares(), squares)
    with pytest.raises(TypeError, match="converter must be a function"):
        register_mapping(Squares, None)


def test_a_converter_may_compare():
    class Steps(Mapping):
        def probabilities(self, scores):
            steps = 1.0 + (scores < 0) + 2 * (scores <= 0)
            steps += 4 * (scores > 1) + 8 * (scores >= 1)
            return steps / steps.sum(axis=1, keepdims=True)

    def steps(mapping, scores, n_classes):
        one = scores * 0 + 1
        steps = one + one.where(scores < 0) + 2 * one.where(scores <= 0)
        steps = steps + 4 * one.where(scores > 1) + 8 * one.where(scores >= 1)
        return steps / steps.sum()

    register_mapping(Steps, steps)
    scores = np.array([[-1.0, 0.0, 0.5, 1.0, 2.0]])
    _, p = run(classifier(Steps(), 5), scores)
    np.testing.assert_allclose(p * 30, [[4, 3, 1, 9, 13]], rtol=1e-12)


def test_a_derived_mapping_is_not_taken_for_its_base():
    class Sharper(Softmax):
        def probabilities(self, scores):
            return super().probabilities(2 * scores)

    with pytest.raises(NotImplementedError, match=r"Sharper\(\) has no ONNX converter"):
        run(classifier(Sharper(), 4), hard_rows(4))
