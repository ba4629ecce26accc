"""The scores against their definitions, computed independently."""

from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics import brier_score_loss, log_loss

from skprob.mappings import Entmax, Mapping, Sigmoid, sparsemax
from skprob.metrics import (
    _losses,
    brier_loss,
    fenchel_young_loss,
    mean_support_size,
)

rng = np.random.default_rng(0)
SCORES = rng.normal(scale=2, size=(40, 4))
LABELS = rng.integers(0, 4, size=40)
SETS = rng.integers(0, 2, size=(40, 4))
SETS[:, 3] |= ~SETS.any(axis=1)
DISTRIBUTIONS = rng.dirichlet(np.full(4, 0.7), size=40)
WEIGHT = rng.uniform(size=40)
TARGETS = {
    "class": (LABELS, np.eye(4)[LABELS]),
    "label_set": (SETS, SETS / SETS.sum(axis=1, keepdims=True)),
    "distribution": (DISTRIBUTIONS, DISTRIBUTIONS),
}


class WithoutPotential(Mapping):
    def probabilities(self, scores):
        return softmax(scores)


def softmax(scores):
    p = np.exp(scores)
    return p / p.sum(axis=1, keepdims=True)


def tsallis(p, alpha):
    """Ω of the definition, in 30 digits."""
    if alpha == 1:
        return mpmath.fsum(x * mpmath.log(x) for x in p if x > 0)
    return (mpmath.fsum(x**alpha for x in p) - 1) / (alpha * (alpha - 1))


def entmax(z, alpha):
    """Entmax of one row by bisection on the threshold, in 30 digits."""
    if alpha == 1:
        top = [mpmath.exp(x) for x in z]
        return [x / mpmath.fsum(top) for x in top]
    z = [(alpha - 1) * x for x in z]
    low, high = max(z) - 1, max(z)
    power = mpmath.mpf(1) / (alpha - 1)
    for _ in range(110):
        middle = (low + high) / 2
        p = [max(x - middle, 0) ** power for x in z]
        low, high = (middle, high) if mpmath.fsum(p) > 1 else (low, middle)
    return p


@cache
@mpmath.workdps(30)
def predictions(alpha):
    return [entmax([mpmath.mpf(x) for x in z], mpmath.mpf(alpha)) for z in SCORES]


@mpmath.workdps(30)
def fenchel_young(alpha, Q):
    """Ω(q) − Ω(p) + ⟨p − q, z⟩ with p the maximiser: the definition of the loss."""
    exact, losses = mpmath.mpf(alpha), []
    for row, target, p in zip(SCORES, Q, predictions(alpha), strict=True):
        z, q = [mpmath.mpf(x) for x in row], [mpmath.mpf(x) for x in target]
        inner = mpmath.fsum((a - b) * x for a, b, x in zip(p, q, z, strict=True))
        losses.append(float(tsallis(q, exact) - tsallis(p, exact) + inner))
    return losses


@pytest.mark.parametrize("alpha", [1, 1.5, 2, 1.3])
def test_fenchel_young_loss_is_its_definition(alpha):
    for kind, (y, Q) in TARGETS.items():
        rows = fenchel_young(alpha, Q)
        loss = fenchel_young_loss(y, SCORES, mapping=Entmax(alpha))
        assert_allclose(loss, np.mean(rows), rtol=1e-12)
        loss = fenchel_young_loss(
            y, SCORES, mapping=Entmax(alpha), sample_weight=WEIGHT, target_type=kind
        )
        assert_allclose(loss, np.average(rows, weights=WEIGHT), rtol=1e-12)


@pytest.mark.parametrize("kind", ["class", "label_set"])
def test_with_a_mapping_to_marginals_the_target_is_the_indicator(kind):
    y, indicator = LABELS, TARGETS["class"][1]
    if kind == "label_set":
        # Rows without a label have a target.
        y = indicator = np.where(np.arange(40)[:, None] % 7 == 0, 0, SETS)
    # The log loss of each label and, for alpha 2, the modified Huber loss / 4.
    log = np.logaddexp(0, SCORES) - indicator * SCORES
    margin = (2 * indicator - 1) * SCORES
    huber = np.where(margin < -1, -margin, np.maximum(1 - margin, 0) ** 2 / 4)
    for mapping, of_labels in ("sigmoid", log), (Sigmoid(alpha=2), huber):
        losses = of_labels.sum(axis=1)
        value = fenchel_young_loss(y, SCORES, mapping=mapping)
        assert_allclose(value, losses.mean(), rtol=1e-13)
        value = fenchel_young_loss(y, SCORES, mapping=mapping, sample_weight=WEIGHT)
        assert_allclose(value, np.average(losses, weights=WEIGHT), rtol=1e-13)


def test_a_target_outside_the_budget():
    with pytest.raises(ValueError, match=r"budget \(0, 1\).*row 0 sums to 2"):
        fenchel_young_loss([[1, 1]], [[0.0, 0.0]], mapping=Sigmoid(budget=(0, 1)))


def test_with_softmax_and_labels_it_is_the_log_loss():
    assert_allclose(
        fenchel_young_loss(LABELS, SCORES), log_loss(LABELS, softmax(SCORES))
    )
    assert_allclose(
        fenchel_young_loss(LABELS, SCORES, sample_weight=WEIGHT),
        log_loss(LABELS, softmax(SCORES), sample_weight=WEIGHT),
    )


def test_it_is_finite_where_a_true_class_got_probability_zero():
    scores = [[100.0, 0.0], [0.0, 100.0]]
    # Sparsemax, by hand: ½ − z_t + ½(z_max² − (z_max − 1)²) with z_t = 0.
    assert fenchel_young_loss([1, 0], scores, mapping="sparsemax") == 100.0
    assert fenchel_young_loss([0, 1], scores, mapping="sparsemax") == 0.0


def test_one_column_stands_for_two_classes():
    scores = SCORES[:, 0]
    y = np.where(LABELS > 1, "yes", "no")
    both = np.column_stack([np.zeros(40), scores])
    for mapping in ("softmax", "sparsemax", "entmax"):
        assert_allclose(
            fenchel_young_loss(y, scores, mapping=mapping),
            fenchel_young_loss(y, both, mapping=mapping),
        )


@pytest.mark.parametrize("kind", TARGETS)
def test_brier_loss_is_the_mean_squared_distance(kind):
    y, Q = TARGETS[kind]
    p = softmax(SCORES)
    rows = ((p - Q) ** 2).sum(axis=1)
    assert_allclose(brier_loss(y, p), rows.mean())
    assert_allclose(
        brier_loss(y, p, sample_weight=WEIGHT, target_type=kind),
        np.average(rows, weights=WEIGHT),
    )


@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_brier_loss_of_labels_is_scikit_learns(weight):
    p = softmax(SCORES)
    names = np.array(["d", "a", "c", "b"])
    y = names[LABELS]
    expected = brier_score_loss(y, p, sample_weight=weight, labels=np.sort(names))
    assert_allclose(brier_loss(y, p, sample_weight=weight), expected)


def test_labels_that_y_does_not_hold():
    p = softmax(SCORES)
    few = LABELS < 2
    expected = brier_score_loss(LABELS[few], p[few], labels=[0, 1, 2, 3])
    assert_allclose(brier_loss(LABELS[few], p[few], classes=[0, 1, 2, 3]), expected)
    expected = log_loss(LABELS[few], p[few], labels=[0, 1, 2, 3])
    loss = fenchel_young_loss(LABELS[few], SCORES[few], classes=[0, 1, 2, 3])
    assert_allclose(loss, expected)
    # A single label is enough where the classes are given.
    one = LABELS == 2
    expected = np.square(p[one] - np.eye(4)[2]).sum(axis=1).mean()
    assert_allclose(brier_loss(LABELS[one], p[one], classes=range(4)), expected)
    with pytest.raises(
        ValueError, match=r"4 columns and y_true has 2 classes.*classes"
    ):
        brier_loss(LABELS[few], p[few])
    with pytest.raises(ValueError, match=r"\[3\].* not among the classes"):
        brier_loss(LABELS, p, classes=[0, 1, 2, 9])


def test_labels_of_another_kind_than_the_classes():
    for y, classes, unknown in (
        (["0", "1"], [0, 1], r"\['0', '1'\]"),
        ([0, 1], ["a", "b"], r"\[0, 1\]"),
        (np.array(["a", "b"], dtype=object), [0, 1], r"\['a', 'b'\]"),
        ([0, 1], np.array(["a", "b"], dtype=object), r"\[0, 1\]"),
        ([1.0, 2.0], [0, 1], r"\[2.0\]"),
        (["aa", "b"], ["a", "b"], r"\['aa'\]"),
    ):
        message = rf"y_true must be .* y holds the labels {unknown}, which are not amo"
        with pytest.raises(ValueError, match=message):
            brier_loss(y, [[0.5, 0.5], [1.0, 0.0]], classes=classes)


def test_labels_that_equal_the_classes():
    for y, classes in (([0.0, 1.0], [0, 1]), ([False, True], [0, 1]), ("ab", "ab")):
        # Half of ½ in the first row and of 2 in the second.
        p = [[0.5, 0.5], [1.0, 0.0]]
        assert brier_loss(list(y), p, classes=list(classes)) == 1.25


@pytest.mark.parametrize("score", [brier_loss, fenchel_young_loss])
def test_a_sparse_indicator_and_rows_without_labels(score):
    p = softmax(SCORES)
    sparse_sets = sparse.csr_array(SETS)
    assert_allclose(score(sparse_sets, p), score(SETS, p))
    some = SETS.copy()
    some[[2, 5]] = 0
    keep = some.any(axis=1)
    with pytest.warns(UserWarning, match="2 of 40 rows have no label") as record:
        loss = score(some, p, sample_weight=WEIGHT)
    assert len(record) == 1
    assert record[0].filename == __file__
    assert_allclose(loss, score(SETS[keep], p[keep], sample_weight=WEIGHT[keep]))


@pytest.fixture(params=[1, 7, 40], ids="{} rows a block".format)
def rows_of_a_block(request, monkeypatch):
    monkeypatch.setattr(_losses, "_BLOCK_SIZE", request.param * 4)


@pytest.mark.usefixtures("rows_of_a_block")
def test_sparse_probabilities():
    p = sparsemax(SCORES)
    assert 0 < (p == 0).mean() < 1
    for container, weight in product(
        (sparse.csr_array, sparse.coo_matrix), (None, WEIGHT)
    ):
        for y, Q in TARGETS.values():
            rows = ((p - Q) ** 2).sum(axis=1)
            loss = brier_loss(y, container(p), sample_weight=weight)
            assert_allclose(loss, np.average(rows, weights=weight), rtol=1e-13)
        size = mean_support_size(container(p), sample_weight=weight)
        assert_allclose(size, np.average((p > 0).sum(axis=1), weights=weight))


def test_sparse_probabilities_as_others_may_store_them():
    # Row 0 has a stored zero and one class twice.
    parts = ([0.0, 0.25, 0.25, 0.5, 1.0], [0, 1, 1, 2, 0], [0, 4, 5])
    p = sparse.csr_array(parts, shape=(2, 3))
    assert mean_support_size(p) == 1.5
    assert brier_loss([1, 0], p, classes=range(3)) == 0.25
    assert p.nnz == 5


@pytest.mark.usefixtures("rows_of_a_block")
def test_blocks_make_no_difference():
    rows = fenchel_young(2, np.eye(4)[LABELS])
    loss = fenchel_young_loss(LABELS, SCORES, mapping="sparsemax")
    assert_allclose(loss, np.mean(rows), rtol=1e-12)
    wrong = np.where(np.arange(40)[:, None] == 31, np.nan, SCORES)
    with pytest.raises(ValueError, match="row 31 holds NaN"):
        fenchel_young_loss(LABELS, wrong)


def test_mean_support_size():
    p = np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0.2, 0.3, 0.5]])
    assert mean_support_size(p) == 2
    assert mean_support_size(p, sample_weight=[1, 0, 1]) == 2
    assert mean_support_size(p, sample_weight=[3, 1, 0]) == 1.25
    assert mean_support_size(p.astype(np.float32)) == 2


def test_float32():
    p = softmax(SCORES).astype(np.float32)
    p /= p.sum(axis=1, keepdims=True)
    assert_allclose(
        brier_loss(LABELS, p), brier_loss(LABELS, softmax(SCORES)), rtol=1e-5
    )
    single = fenchel_young_loss(LABELS, SCORES.astype(np.float32), mapping="sparsemax")
    double = fenchel_young_loss(LABELS, SCORES, mapping="sparsemax")
    assert_allclose(single, double, rtol=1e-5)


P = softmax(SCORES)
CSR = sparse.csr_array(P)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: brier_loss(LABELS, 2 * P), "probabilities must be rows.*sum"),
        (lambda: brier_loss(LABELS, -P), "probabilities must be rows"),
        (lambda: brier_loss(LABELS, P * np.nan), "probabilities must be rows"),
        (lambda: brier_loss(LABELS, P[0]), "probabilities must have shape"),
        (lambda: brier_loss(LABELS, 2 * CSR), "probabilities must be rows.*sum 2"),
        (lambda: brier_loss(LABELS, -CSR), "probabilities must be rows"),
        (lambda: brier_loss(LABELS, CSR * np.nan), "probabilities must be rows"),
        (lambda: brier_loss(LABELS, CSR * 1j), "probabilities must be real"),
        (lambda: brier_loss(LABELS, CSR[:5]), "y_true must have one entry for each"),
        (lambda: mean_support_size(CSR * 2), "probabilities must be rows"),
        (
            lambda: mean_support_size(sparse.coo_array(P[0])),
            "probabilities must have shape",
        ),
        (lambda: brier_loss(LABELS, P[None]), "probabilities must have shape"),
        (lambda: brier_loss(LABELS, P.astype(str)), "probabilities must be real"),
        (lambda: brier_loss(LABELS[:5], P), "y_true must have one entry for each"),
        (lambda: brier_loss(LABELS + 0.5, P), "y_true must be labels"),
        (
            lambda: brier_loss(np.zeros(40), P),
            "y_true must be labels.*at least 2 classes.*class: 0.0. If .* pass classes",
        ),
        (lambda: brier_loss(SETS[:, :3], P), "4 columns and y_true has 3 classes"),
        (lambda: brier_loss(SETS * 0, P), "y_true.*a label in at least one row"),
        (
            lambda: brier_loss(DISTRIBUTIONS * 2, P),
            "y_true.*must be non-negative",
        ),
        (lambda: brier_loss(LABELS * np.nan, P), "y_true contains NaN"),
        (lambda: brier_loss(None, P), "y_true"),
        (lambda: brier_loss(LABELS, P, classes=[0, 0, 1, 2]), "classes must"),
        (lambda: brier_loss(LABELS, P, classes=[3, 2, 1, 0]), "classes must"),
        (lambda: brier_loss(LABELS, P, classes=[]), r"classes must .* got \[\]"),
        (lambda: brier_loss(LABELS, P, classes=[[0, 1], [2, 3]]), "classes must"),
        (
            lambda: brier_loss(LABELS, P, target_type="sets"),
            "target_type must be 'auto' or one",
        ),
        (lambda: brier_loss(LABELS, P, sample_weight=-WEIGHT), "sample_weight must"),
        (lambda: brier_loss(LABELS, P, sample_weight=[1j] * 4), "sample_weight must"),
        (lambda: brier_loss(LABELS, P, sample_weight=[1, 2]), "sample_weight must"),
        (lambda: brier_loss(LABELS, P, sample_weight=0 * WEIGHT), "sample_weight must"),
        (lambda: mean_support_size(P, sample_weight=0 * WEIGHT), "sample_weight must"),
        (lambda: mean_support_size(P[:0]), "at least one row"),
        (lambda: brier_loss(LABELS[:0], P[:0]), "y_true"),
        (lambda: mean_support_size(P + 1), "probabilities must be rows"),
        (lambda: fenchel_young_loss(LABELS, SCORES * np.nan), "scores must be finite"),
        (lambda: fenchel_young_loss(LABELS, SCORES * np.inf), "scores must be finite"),
        (lambda: fenchel_young_loss(LABELS, SCORES[None]), "scores must have shape"),
        (lambda: fenchel_young_loss(LABELS, SCORES, mapping="max"), "mapping must be"),
        (lambda: fenchel_young_loss(LABELS, SCORES, mapping=Entmax(0)), "alpha"),
        (
            lambda: fenchel_young_loss(LABELS, SCORES, mapping=WithoutPotential()),
            "potential",
        ),
    ],
)
def test_malformed_input_is_refused(call, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        call()


def test_weights_of_rows_with_a_label_must_not_all_be_zero():
    sets, p = [[0, 0], [1, 1]], np.full((2, 2), 0.5)
    for score in (fenchel_young_loss, brier_loss):
        with pytest.warns(UserWarning, match="1 of 2 rows have no label"):
            with pytest.raises(ValueError, match="sample_weight must be positive"):
                score(sets, p, sample_weight=[1, 0])
