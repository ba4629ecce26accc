"""Rules for each row against trying all sets."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skprob.decision import (
    ExampleF1,
    MetaLabeler,
    StackedLabels,
)

from .related_sets import (
    fewer,
    polytopes,
    related_sets,
    seeds,
)


@fewer
@given(seeds, st.integers(1, 6), polytopes, st.booleans())
def test_example_f1_is_the_best_of_all_sets(seed, n_labels, polytope, empty):
    X, p, labels = related_sets(
        seed, n_samples=20, n_labels=n_labels, polytope=polytope, empty=empty
    )
    labels[0] = 1
    rule = ExampleF1().fit(p, labels, X=X, polytope=polytope)
    m = p.sum(axis=1) if polytope == "cube" else rule.expected_size_(X)
    sets = [c for k in range(n_labels + 1) for c in combinations(range(n_labels), k)]
    for row, size, chosen in zip(p, m, rule.predict(p, X), strict=True):
        q = row if polytope == "cube" else row * size

        def value(labels, q=q, size=size):
            if not labels:
                return np.prod(np.maximum(1 - q, 0)) if rule.may_be_empty_ else -1
            return 2 * sum(q[k] for k in labels) / (size + len(labels))

        value_of_set = value(tuple(np.flatnonzero(chosen)))
        assert_allclose(value_of_set, max(map(value, sets)), rtol=1e-12)


def test_shares_may_leave_room_for_no_label():
    X, p, labels = related_sets(2, n_labels=4, empty=True)
    p *= np.random.default_rng(2).uniform(0.1, 1, size=(80, 1))
    rule = ExampleF1().fit(p, labels, X=X)
    assert rule.has_none_ and rule.may_be_empty_
    sets, sizes = rule.predict(p, X), rule.expected_size_(X)
    subsets = [c for k in range(1, 5) for c in combinations(range(4), k)]
    for row, size, chosen in zip(p, sizes, sets, strict=True):
        # Rows with a label have `size` labels on average.
        q = row * size
        f1 = {s: 2 * sum(q[k] for k in s) / (sum(q) + len(s)) for s in subsets}
        f1[()] = 1 - row.sum()
        assert f1[tuple(np.flatnonzero(chosen))] == pytest.approx(max(f1.values()))
    assert 0.1 < sets.any(axis=1).mean() < 0.9
    # Corrected marginals have no probability of no label.
    assert not StackedLabels(ExampleF1()).fit(p, labels, X=X).rule_.has_none_


def test_meta_labeler_takes_as_many_as_are_expected():
    X, p, labels = related_sets(3)
    rule = MetaLabeler().fit(p, labels, X=X)
    number = np.maximum(np.rint(rule.expected_size_(X)), 1)
    sets = rule.predict(p, X)
    assert_array_equal(sets.sum(axis=1), number)
    least = np.where(sets, p, 2).min(axis=1)
    assert (least >= np.where(sets, -1, p).max(axis=1)).all()


def test_of_equal_marginals_the_first_are_chosen():
    """More labels than a sort that is not stable keeps in order by chance."""
    _, p, labels = related_sets(0, n_labels=60, polytope="cube")
    tied = np.random.default_rng(1).integers(1, 4, size=(20, 60)) / 10
    for rule in ExampleF1(), MetaLabeler():
        sets = rule.fit(p, labels, polytope="cube").predict(tied)
        for row, chosen in zip(tied, sets, strict=True):
            order = sorted(range(60), key=lambda k, row=row: (-row[k], k))
            first = order[: chosen.sum()]
            assert 1 < len(first) < 60
            assert set(np.flatnonzero(chosen)) == set(first)
