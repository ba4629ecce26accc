"""The measures of label distributions against independent computations."""

import pickle

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial import distance
from scipy.special import rel_entr
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, cross_validate

from skprob import EntmaxClassifier
from skprob.metrics import (
    DistributionScorer,
    canberra_distance,
    chebyshev_distance,
    clark_distance,
    cosine_similarity,
    intersection_similarity,
    kullback_leibler_divergence,
)

DISTANCES = {
    "chebyshev": chebyshev_distance,
    "clark": clark_distance,
    "canberra": canberra_distance,
    "kullback_leibler": kullback_leibler_divergence,
}
SIMILARITIES = {"cosine": cosine_similarity, "intersection": intersection_similarity}
MEASURES = DISTANCES | SIMILARITIES
every_measure = pytest.mark.parametrize("name", MEASURES)


def sparse_rows(rng, n_samples, n_classes):
    """Distributions with many exact zeros, some of them one-hot."""
    weight = rng.dirichlet(np.full(n_classes, 0.6), size=n_samples)
    weight *= rng.random(weight.shape) < 0.6
    weight[np.arange(n_samples), rng.integers(n_classes, size=n_samples)] += 0.1
    return weight / weight.sum(axis=1, keepdims=True)


rng = np.random.default_rng(0)
Q, P = sparse_rows(rng, 60, 5), sparse_rows(rng, 60, 5)
POSITIVE = rng.dirichlet(np.ones(5), size=60)
WEIGHT = rng.uniform(size=60)


def exact(name, q, p):
    """A measure of one pair by its definition, in 30 digits."""
    with mpmath.workdps(30):
        pairs = [(mpmath.mpf(a), mpmath.mpf(b)) for a, b in zip(q, p, strict=True)]
        some = [(a, b) for a, b in pairs if a + b > 0]
        if name == "chebyshev":
            value = max(abs(a - b) for a, b in pairs)
        elif name == "clark":
            value = mpmath.sqrt(mpmath.fsum(((a - b) / (a + b)) ** 2 for a, b in some))
        elif name == "canberra":
            value = mpmath.fsum(abs(a - b) / (a + b) for a, b in some)
        elif name == "kullback_leibler":
            if any(b == 0 < a for a, b in pairs):
                return np.inf
            value = mpmath.fsum(a * mpmath.log(a / b) for a, b in pairs if a > 0)
        elif name == "cosine":
            norms = mpmath.norm(q) * mpmath.norm(p)
            value = mpmath.fsum(a * b for a, b in pairs) / norms
        else:
            value = mpmath.fsum(min(a, b) for a, b in pairs)
        return float(value)


@every_measure
def test_each_measure_is_its_definition(name):
    for predicted in (P, POSITIVE):  # with zeros and without
        rows = [exact(name, q, p) for q, p in zip(Q, predicted, strict=True)]
        weighted = np.average(rows, weights=WEIGHT)
        for container in (np.asarray, sparse.csr_array, sparse.coo_matrix):
            p = container(predicted)
            assert_allclose(MEASURES[name](Q, p), np.mean(rows), rtol=1e-13)
            distance = MEASURES[name](Q, p, sample_weight=WEIGHT)
            assert_allclose(distance, weighted, rtol=1e-13)


def test_five_measures_equal_those_of_scipy():
    def mean(of_pair):
        return np.mean([of_pair(q, p) for q, p in zip(Q, POSITIVE, strict=True)])

    assert_allclose(chebyshev_distance(Q, POSITIVE), mean(distance.chebyshev))
    assert_allclose(canberra_distance(Q, POSITIVE), mean(distance.canberra))
    assert_allclose(1 - cosine_similarity(Q, POSITIVE), mean(distance.cosine))
    assert_allclose(
        1 - intersection_similarity(Q, POSITIVE), mean(distance.cityblock) / 2
    )
    assert_allclose(
        kullback_leibler_divergence(Q, POSITIVE), mean(lambda q, p: sum(rel_entr(q, p)))
    )


def test_a_class_that_neither_has_counts_nothing():
    q, p = [[0.5, 0.5, 0.0]], [[0.25, 0.75, 0.0]]
    for name, measure in MEASURES.items():
        without = measure([q[0][:2]], [p[0][:2]])
        assert_allclose(measure(q, p), without, err_msg=name)


@pytest.mark.parametrize("name", ["clark", "canberra"])
def test_a_class_that_one_side_has_counts_one(name):
    tiny = 5e-324
    assert MEASURES[name]([[1.0, 0.0]], [[1.0, tiny]]) == 1
    assert MEASURES[name]([[1.0, tiny]], [[1.0, 0.0]]) == 1


def test_a_wrong_zero_is_infinitely_far():
    q, p = [[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [1.0, 0.0]]
    assert kullback_leibler_divergence(q, p) == np.inf
    # The zeros of the truth are no mistakes, and rows without weight no rows.
    assert_allclose(kullback_leibler_divergence(p, q), np.log(2) / 2)
    assert kullback_leibler_divergence(q, p, sample_weight=[1, 0]) == 0


def test_smaller_probabilities_count_as_epsilon():
    for epsilon in 1e-10, 1e-3, 0.1:
        expected = rel_entr(Q, np.where(P < epsilon, epsilon, P)).sum(axis=1).mean()
        divergence = kullback_leibler_divergence(Q, P, epsilon=epsilon)
        assert_allclose(divergence, expected)
    exactly = kullback_leibler_divergence(Q, POSITIVE)
    assert kullback_leibler_divergence(Q, POSITIVE, epsilon=0) == exactly


def test_lists_single_precision_and_one_hot_rows():
    one_hot = np.eye(5)[Q.argmax(axis=1)]
    for measure in MEASURES.values():
        expected = measure(Q, POSITIVE)
        assert measure(Q.tolist(), POSITIVE.tolist()) == expected
        single = measure(Q.astype(np.float32), POSITIVE.astype(np.float32))
        assert_allclose(single, expected, rtol=1e-5)
        assert measure(one_hot.astype(int), POSITIVE) == measure(one_hot, POSITIVE)


def distributions(n_samples, n_classes):
    shares = hnp.arrays(
        float,
        (n_samples, n_classes),
        elements=st.one_of(st.just(0.0), st.floats(1e-6, 1)),
    )
    return shares.filter(lambda a: a.any(axis=1).all()).map(
        lambda a: a / a.sum(axis=1, keepdims=True)
    )


pairs = st.tuples(st.integers(1, 4), st.integers(2, 6)).flatmap(
    lambda shape: st.tuples(distributions(*shape), distributions(*shape))
)


@settings(max_examples=settings().max_examples // 4)
@given(pairs)
def test_range_symmetry_and_agreement(pair):
    q, p = pair
    n_classes = q.shape[1]
    largest = {"clark": np.sqrt(n_classes), "canberra": n_classes}
    value = {name: measure(q, p) for name, measure in MEASURES.items()}
    for name, measure in MEASURES.items():
        bound = np.inf if name == "kullback_leibler" else largest.get(name, 1)
        assert -1e-14 <= value[name] <= bound + 1e-14
        assert_allclose(measure(q[:, ::-1], p[:, ::-1]), value[name], atol=1e-14)
        if name != "kullback_leibler":
            assert_allclose(measure(p, q), value[name], atol=1e-14)
        # Agreement is the best there is.
        if name in DISTANCES:
            assert measure(q, q) == 0
        else:
            assert_allclose(measure(q, q), 1, rtol=1e-14)
            assert value[name] <= measure(q, q) + 1e-14
    # Pinsker's inequality.
    variation = 1 - value["intersection"]
    assert value["kullback_leibler"] >= 2 * variation**2 - 1e-14


@pytest.mark.parametrize(
    ("y", "p", "weight", "message"),
    [
        (sparse.csr_array(Q), P, None, "y_true must be.*dense"),
        (2 * Q, P, None, "y_true must be.*row 0 has sum 2"),
        (Q - 1, P, None, "y_true must be.*non-negative"),
        (Q * np.nan, P, None, "y_true contains NaN"),
        (Q.argmax(axis=1), P, None, "y_true must be.*of shape"),
        (Q[:5], P, None, "y_true must have one entry for each of the 60 rows"),
        (Q[:, :1] * 0 + 1, P[:, :1] * 0 + 1, None, "at least two classes"),
        (Q @ np.eye(5, 6), P, None, r"same shape; got \(60, 6\) and \(60, 5\)"),
        (Q.astype(str), P, None, "y_true must be.*real numbers"),
        (None, P, None, "y_true"),
        (Q, 2 * P, None, "probabilities must be rows"),
        (Q, -P, None, "probabilities must be rows"),
        (Q, sparse.csr_array(-P), None, "probabilities must be rows"),
        (Q, P * np.nan, None, "probabilities must be rows"),
        (Q, P[0], None, "probabilities must have shape"),
        (Q, P.astype(str), None, "probabilities must be real"),
        (Q[:0], P[:0], None, "y_true"),
        (Q, P, [1, 2], "sample_weight must"),
        (Q, P, -WEIGHT, "sample_weight must"),
        (Q, P, 0 * WEIGHT, "sample_weight must"),
    ],
)
def test_malformed_input_is_refused(y, p, weight, message):
    for measure in MEASURES.values():
        with pytest.raises(ValueError, match=f"(?s){message}"):
            measure(y, p, sample_weight=weight)


def test_malformed_epsilon_is_refused():
    for epsilon in (-1e-9, 1, np.nan, np.inf, "small", None):
        with pytest.raises(ValueError, match=r"epsilon must be a number in \[0, 1\)"):
            kullback_leibler_divergence(Q, P, epsilon=epsilon)


X = load_iris().data
SHARES = sparse_rows(rng, 150, 3)


def test_scorers_in_cross_validation():
    result = cross_validate(
        EntmaxClassifier(alpha=1),
        X,
        SHARES,
        cv=KFold(3, shuffle=True, random_state=0),
        scoring={name: DistributionScorer(name) for name in MEASURES},
        return_estimator=True,
        return_indices=True,
    )
    folds = zip(result["estimator"], result["indices"]["test"], strict=True)
    for i, (model, rows) in enumerate(folds):
        p = model.predict_proba(X[rows])
        for name in MEASURES:
            exactly = [exact(name, *pair) for pair in zip(SHARES[rows], p, strict=True)]
            sign = -1 if name in DISTANCES else 1
            assert_allclose(result[f"test_{name}"][i], sign * np.mean(exactly))


def test_the_best_score_of_a_search_is_the_nearest_prediction():
    # Shares that the features tell exactly: the weaker penalty must win.
    shares = np.exp(X @ rng.normal(size=(4, 3)) / 4)
    shares /= shares.sum(axis=1, keepdims=True)
    weak, strong = (EntmaxClassifier(alpha=1, C=C).fit(X, shares) for C in (1, 1e-4))
    for name in MEASURES:
        scorer = DistributionScorer(name)
        assert scorer(weak, X, shares) > scorer(strong, X, shares)
    search = GridSearchCV(
        EntmaxClassifier(alpha=1), {"C": [1e-4, 1.0]}, scoring=scorer, cv=KFold(3)
    )
    assert search.fit(X, shares).best_params_ == {"C": 1.0}


def test_copies_score_the_same_and_weights_repeat_rows():
    model = EntmaxClassifier(alpha=1).fit(X, SHARES)
    counts = rng.integers(0, 3, size=150)
    rows = X.repeat(counts, axis=0), SHARES.repeat(counts, axis=0)
    for name in MEASURES:
        scorer = DistributionScorer(name)
        repeated = scorer(model, *rows)
        for copy in clone(scorer), pickle.loads(pickle.dumps(scorer)):
            assert repr(copy) == f"DistributionScorer(measure={name!r})"
            assert_allclose(copy(model, X, SHARES, sample_weight=counts), repeated)


def test_unknown_measures_are_refused():
    model = EntmaxClassifier().fit(X, SHARES)
    for measure in ("euclid", None, []):
        with pytest.raises(ValueError, match=r"measure must be one of \['chebyshev'"):
            DistributionScorer(measure)(model, X, SHARES)


def test_a_scorer_takes_distributions_only():
    model = EntmaxClassifier().fit(X, SHARES)
    with pytest.raises(ValueError, match=r"target_type='distribution' needs y"):
        DistributionScorer("clark")(model, X, load_iris().target)


def test_sparse_distributions_are_refused_with_the_reason():
    with pytest.raises(ValueError, match="Distributions must be dense"):
        EntmaxClassifier().fit(X, sparse.csr_array(SHARES))
