"""Limits and quantiles of calibrated sets."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from skprob import SoftmaxClassifier
from skprob.decision import ConformalSets

from .calibrated import IRIS, SCORE_FUNCTIONS, nonconformity, prefit
from .given_responses import (
    GivenProbabilities,
    GivenScores,
    softmax_rows,
)


def test_limits_of_classes_that_few_rows_reach():
    """Norms of all rows took 12.7 s with 2,000 rows and 2,000 classes, now 0.4 s."""
    z, p, y = softmax_rows(500, 8)
    z[np.arange(500), y] += 3
    model = prefit(GivenScores(), z, y, by="class", coverage=0.6)
    expected = nonconformity("entmax", z, p) <= model.limit_
    assert_array_equal(model.predict_set(z), expected)
    counts = expected.sum(axis=0)
    assert counts.min() > 0
    assert counts.max() < 250


def test_a_class_at_the_quantile_is_in_the_set():
    # Nine equal rows: the nonconformity of the truth is the quantile in all of them.
    for gap in (0.3, 0.1 + 0.2, 1e-9, 1e9, np.float32(0.3)):
        z = np.tile(np.array([0.7, 0.7 - gap, -5e9]), (9, 1))
        for alpha in (1.01, 1.25, 1.5, 2.0, 4.0):
            inner = GivenScores().fit(z, np.arange(9) % 3)
            model = ConformalSets(inner, alpha=alpha, cv="prefit").fit(z, [1] * 9)
            assert_array_equal(model.predict_set(z[:2]), [[1, 1, 0]] * 2)
            p = model.predict_proba(z)
            assert (p[:, 1] > 0).all()
            assert_allclose(p.sum(axis=1), 1)
    p = np.tile([0.7, 0.2, 0.1], (9, 1))
    for score_function in ("threshold", "adaptive"):
        model = GivenProbabilities().fit(p, np.arange(9) % 3)
        model = ConformalSets(model, score_function=score_function, cv="prefit")
        assert_array_equal(model.fit(p, [1] * 9).predict_set(p[:1]), [[1, 1, 0]])


def test_rounding_of_the_scores_loses_no_class():
    """The same row in another batch may have scores that differ by rounding."""
    for dtype, change in ((np.float64, 1e-15), (np.float32, 1e-7)):
        z = np.tile(np.array([2.0, 1.7, -1.0], dtype), (20, 1))
        model = GivenScores().fit(z, np.arange(20) % 3)
        model = ConformalSets(model, cv="prefit").fit(z, [1] * 20)
        shifted = z * np.array([1 + change, 1 - change, 1], dtype)
        assert (shifted[:, 0] - shifted[:, 1] > z[:, 0] - z[:, 1]).all()
        assert model.predict_set(shifted)[:, 1].all()


@pytest.mark.parametrize("score_function", SCORE_FUNCTIONS)
def test_a_quantile_of_zero_is_the_best_class(score_function):
    z, _p, _ = softmax_rows(50, 4)
    y = z.argmax(axis=1)
    model = prefit(GivenScores(), z, y, score_function=score_function)
    assert model.quantile_ == 0 and model.accuracy_ == 1
    assert_array_equal(model.predict_set(z), np.eye(4, dtype=int)[y])
    assert_array_equal(model.predict_proba(z), np.eye(4)[y])
    if score_function == "entmax":
        assert 0 < model.temperature_ < 1e-10


@pytest.mark.parametrize("score_function", SCORE_FUNCTIONS)
def test_sets_are_the_best_class_below_the_accuracy(score_function):
    """The rank of the quantile is coverage * (n + 1), rounded up."""
    z, _, y = softmax_rows(200, 4, spread=6.0)
    n_right = np.sum(z.argmax(axis=1) == y)
    for coverage in (n_right / 201, (n_right + 1) / 201):
        model = prefit(
            GivenScores(), z, y, score_function=score_function, coverage=coverage
        )
        assert model.accuracy_ == n_right / 200
        is_below = coverage < model.accuracy_
        assert is_below == (model.predict_set(z).sum() == 200)
    assert not is_below


def test_scores_that_are_all_equal():
    z = np.zeros((20, 3))
    y = np.arange(20) % 3
    for score_function in SCORE_FUNCTIONS:
        model = prefit(GivenScores(), z, y, score_function=score_function)
        p = model.predict_proba(z)
        assert_allclose(p.sum(axis=1), 1)
        assert_array_equal(p > 0, model.predict_set(z))
    assert prefit(GivenScores(), z, y).predict_set(z).all()


@pytest.mark.parametrize(("coverage", "needed"), [(0.9, 9), (0.95, 19), (0.99, 99)])
def test_too_few_rows_are_refused(coverage, needed):
    z, _, y = softmax_rows(200, 2)
    few, enough = slice(needed - 1), slice(needed)
    model = ConformalSets(GivenScores().fit(z, y), coverage=coverage, cv="prefit")
    with pytest.raises(ValueError, match=rf"at least {needed} .*= {needed - 1}\."):
        model.fit(z[few], y[few])
    model.fit(z[enough], y[enough])
    model.set_params(by="class")
    y[:] = 0
    y[: needed - 1] = 1
    with pytest.raises(ValueError, match=rf"at least {needed} .*rows of class 1"):
        model.fit(z, y)
    # Rows of weight zero do not count.
    weight = np.r_[np.zeros(200 - needed + 1), np.ones(needed - 1)]
    with pytest.raises(ValueError, match=rf"at least {needed} "):
        model.set_params(by=None).fit(z, y, sample_weight=weight)


def test_the_limit_of_label_sets_is_that_of_risk_control():
    """The least limit with (misses + 1) / (n + 1) at most 1 - coverage."""
    rng = np.random.default_rng(0)
    p = rng.random((80, 5))
    Y = (rng.random((80, 5)) < p).astype(int)
    # Rows without a label tell nothing.
    kept = Y.any(axis=1)
    model = prefit(GivenProbabilities(), p, Y, score_function="threshold")
    s, n = 1 - p[kept], kept.sum()
    for limit in np.sort(s[Y[kept] == 1]):
        inside = (s <= limit) & (Y[kept] == 1)
        misses = n - np.sum(inside.sum(axis=1) / Y[kept].sum(axis=1))
        if (misses + 1) / (n + 1) <= 0.1 + 1e-12:
            break
    expected = limit
    model = prefit(
        GivenProbabilities(), p, Y, score_function="threshold", never_empty=False
    )
    assert model.quantile_ == expected
    best = np.eye(5)[p[kept].argmax(axis=1)] * Y[kept]
    recall = best.sum(axis=1) / Y[kept].sum(axis=1)
    assert model.accuracy_ == pytest.approx(recall.mean(), abs=1e-15)
    by_label = prefit(
        GivenProbabilities(),
        p,
        Y,
        score_function="threshold",
        never_empty=False,
        by="class",
    )
    for k in range(5):
        true = np.sort(1 - p[Y[:, k] == 1, k])
        assert by_label.quantile_[k] == true[int(np.ceil(0.9 * (len(true) + 1))) - 1]


def test_many_rows_are_done_in_blocks(monkeypatch):
    z, _p, y = softmax_rows(500, 5)
    expected = {}
    parameters = {"never_empty": False, "random_state": 0, "coverage": 0.7}
    for block in (1 << 20, 37):
        monkeypatch.setattr("skprob.decision._blocks._BLOCK", block)
        for score_function in SCORE_FUNCTIONS:
            given = {"score_function": score_function, **parameters}
            model = prefit(GivenScores(), z, y, **given)
            results = model.quantile_, model.predict_set(z), model.predict_proba(z)
            for result, of_one_block in zip(
                results, expected.setdefault(score_function, results), strict=True
            ):
                assert_array_equal(result, of_one_block)


def test_weights_are_numbers_of_rows():
    X, y = IRIS
    weight = np.random.default_rng(0).integers(0, 4, size=150)
    repeated = np.repeat(np.arange(150), weight)
    inner = SoftmaxClassifier().fit(X, y)
    for by in (None, "class"):
        model = ConformalSets(inner, cv="prefit", by=by, coverage=0.95)
        expected = clone(model).set_params(estimator=inner)
        expected.fit(X[repeated], y[repeated])
        model.fit(X, y, sample_weight=weight)
        assert_allclose(model.quantile_, expected.quantile_, rtol=1e-12)
        assert model.accuracy_ == pytest.approx(inner.score(X, y, weight), abs=1e-15)
    with pytest.raises(ValueError, match="sample_weight must be None: fit of KNeigh"):
        ConformalSets(KNeighborsClassifier()).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match=r"fits no classifier.*'groups'"):
        model.fit(X, y, groups=np.ones(150))
    with pytest.raises(ValueError, match="sample_weight must be"):
        model.fit(X, y, sample_weight=-weight)


@pytest.mark.parametrize(
    ("by", "unit"), [(None, 1e-300), ("class", 1e-170), (None, 1e170), ("class", 1e300)]
)
def test_the_unit_of_the_scores_makes_no_difference(by, unit):
    z, _p, y = softmax_rows(400, 4)
    plain = prefit(GivenScores(), z, y, by=by)
    model = prefit(GivenScores(), z * unit, y, by=by)
    assert_allclose(model.limit_ / unit, plain.limit_, rtol=1e-12)
    assert_array_equal(model.predict_set(z * unit), plain.predict_set(z))
    if by is None:
        p = model.predict_proba(z * unit)
        assert_allclose(p, plain.predict_proba(z), atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        ({"alpha": 1000.0}, "alpha=1000"),
        ({"score_function": "adaptive", "rank_penalty": 1e308}, "rank_penalty=1e"),
    ],
)
def test_nonconformities_that_overflow_are_refused(parameters, name):
    z, p, y = softmax_rows(300, 10)
    model = GivenScores() if "alpha" in parameters else GivenProbabilities()
    given = z if "alpha" in parameters else p
    with pytest.raises(ValueError, match=rf"must be finite numbers.* {name}"):
        prefit(model, given, y, coverage=0.99, **parameters)


def test_weights_are_numbers_of_rows_and_have_a_finite_sum():
    z, _p, y = softmax_rows(300, 4)
    model = ConformalSets(GivenScores().fit(z, y), cv="prefit")
    with pytest.raises(ValueError, match=r"sample_weight must have a finite sum.*1e"):
        model.fit(z, y, np.full(300, 1e308))
