"""The documentation's table of properties: every yes and every no."""

import numpy as np
import pytest
from compared import COMPARED

from skprob.inspection import PROPERTIES, find_counterexamples
from skprob.inspection.mappings import _counterexamples, _properties
from skprob.mappings import PerturbMax, get_mapping

# Properties that a mapping does not have, besides those that its traits deny, by name.
LACKING = {
    "taylor_softmax": {"argmax limit"},
    # All labels of positive score get it all.
    "sigmoid": {"argmax limit"},
    # Ties are broken by the order of the classes.
    "sparse_softmax": {"permutation equivariant"},
}


def expected(label, mapping):
    """Names of the properties that a mapping is documented not to have."""
    flags = {
        "strictly positive": not mapping.traits.has_zeros,
        "order preserving": mapping.traits.is_order_preserving,
        "shift invariant": mapping.traits.is_shift_invariant,
        # Cauchy noise makes the potential infinite, but its differences finite.
        "potential": mapping.traits.has_potential or "cauchy" in label,
        "on the simplex": mapping.traits.polytope == "simplex",
    }
    lacking = {name for name, holds in flags.items() if not holds}
    return lacking | LACKING.get(label.split()[0], set())


# Perturb-max integrates for each row: a few rows and a coarse circle are enough.
FEWER = {
    _counterexamples: {"_N_CLASSES": (2, 4), "_N_SAMPLES": 10},
    _properties: {"_N_CIRCLES": 1, "_CIRCLE": 32},
}


@pytest.mark.parametrize("label", COMPARED)
def test_counterexamples_are_found_where_and_only_where_a_property_is_denied(
    label, monkeypatch
):
    mapping = COMPARED[label]
    if isinstance(mapping, PerturbMax):
        for module, numbers in FEWER.items():
            for name, fewer in numbers.items():
                monkeypatch.setattr(module, name, fewer)
    examples = find_counterexamples(mapping, random_state=1)
    assert list(examples) == list(PROPERTIES)
    examples = {
        name: example for name, example in examples.items() if example is not None
    }
    assert set(examples) == expected(label, mapping)
    for name, example in examples.items():
        again = mapping(example.scores)
        np.testing.assert_allclose(again, example.probabilities, rtol=1e-12, atol=1e-15)
        assert SHOWS[name](example.scores, example.probabilities), name


def simplex_is_left(z, p):
    return (p < 0).any() or not np.isclose(p.sum(), 1, atol=1e-13)


def a_zero(z, p):
    return np.isfinite(z).all() and (p == 0).any()


def a_higher_score_gets_less(z, p):
    pairs = [(i, j) for i in range(len(z[0])) for j in range(len(z[0]))]
    return any(z[0, i] > z[0, j] and p[0, i] < p[0, j] - 1e-9 for i, j in pairs)


def a_shift_changes(z, p):
    shift = z[1] - z[0]
    return np.ptp(shift) < 1e-12 and not np.allclose(p[0], p[1], atol=1e-9)


def the_order_matters(z, p):
    # A score that occurs once must keep its probability, and those of equal scores
    # must be the same.
    rows = [sorted(zip(z[r], p[r], strict=True)) for r in (0, 1)]
    same_scores = [s for s, _ in rows[0]] == [s for s, _ in rows[1]]
    by_score = {}
    for score, probability in rows[0] + rows[1]:
        by_score.setdefault(score, []).append(probability)
    return same_scores and max(map(np.ptp, by_score.values())) > 1e-9


def the_best_does_not_win(z, p):
    second, best = np.sort(z[0])[-2:]
    return best - second > 1e3 and p[0, z[0].argmax()] < 0.99


def a_cycle_gains(z, p):
    return sum(p[i - 1] @ (z[i] - z[i - 1]) for i in range(len(z))) > 1e-9


SHOWS = {
    "on the simplex": simplex_is_left,
    "strictly positive": a_zero,
    "order preserving": a_higher_score_gets_less,
    "shift invariant": a_shift_changes,
    "permutation equivariant": the_order_matters,
    "argmax limit": the_best_does_not_win,
    "potential": a_cycle_gains,
}


def softmax(z):
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def overflowing(z):
    p = np.exp(z)
    return p / p.sum(axis=1, keepdims=True)


def cut(z):
    p = np.where(z < z.max(axis=1, keepdims=True) - 1, 0, softmax(z))
    return p / p.sum(axis=1, keepdims=True)


def about_the_mean(z):
    """Shift invariant, and blind to whether a score lies above or below the mean."""
    return softmax(np.abs(z - z.mean(axis=1, keepdims=True)))


def by_size(z):
    """A temperature that depends on the size of the scores."""
    return softmax(z / (1 + np.clip(np.abs(z).max(axis=1, keepdims=True), 0, 5)))


def favouring(z):
    return softmax(z + np.arange(z.shape[1]) / 10)


def hesitant(z):
    return 0.9 * softmax(z) + 0.1 / z.shape[1]


def rotating(z):
    """Softmax of linearly mixed scores: its Jacobian is not symmetric."""
    lead = z - z.mean(axis=1, keepdims=True)
    return softmax(lead + np.roll(lead, 1, axis=1) / 4)


def squared(z):
    """Its Jacobian is not symmetric, although all else is in order."""
    lead = np.clip(z - z.max(axis=1, keepdims=True), -700, 0)
    p = (1 + np.exp(lead)) * np.exp(lead)
    return p / p.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("function", "lacking"),
    [
        (softmax, set()),
        (overflowing, {"on the simplex"}),
        (cut, {"strictly positive", "potential"}),
        (favouring, {"order preserving", "permutation equivariant"}),
        (hesitant, {"argmax limit"}),
        (squared, {"potential"}),
        (
            rotating,
            {
                "order preserving",
                "permutation equivariant",
                "argmax limit",
                "potential",
            },
        ),
        (about_the_mean, {"order preserving", "argmax limit", "potential"}),
        (by_size, {"shift invariant", "potential"}),
    ],
)
def test_the_search_tells_properties_apart(function, lacking, monkeypatch):
    monkeypatch.setattr(_counterexamples, "_N_SAMPLES", 100)
    examples = find_counterexamples(function)
    assert {name for name in examples if examples[name] is not None} == lacking
    for name in lacking:
        example = examples[name]
        p = example.probabilities
        assert np.isnan(p).all() or SHOWS[name](example.scores, p)


def test_the_same_seed_finds_the_same_counterexamples():
    first, second = (find_counterexamples("sparsemax", 3) for _ in range(2))
    np.testing.assert_array_equal(
        first["strictly positive"].scores, second["strictly positive"].scores
    )


def test_unknown_mappings_are_refused():
    with pytest.raises(ValueError, match="mapping must be a Mapping"):
        find_counterexamples("hardmax")


def test_a_function_that_fails_for_most_rows_is_tried_in_bounded_time(monkeypatch):
    """The identity: 430,000 errors, of which each was a call."""
    monkeypatch.setattr(_counterexamples, "_MAX_ERRORS", 1000)
    n_calls = 0

    def identity(z):
        nonlocal n_calls
        n_calls += 1
        return z

    with pytest.warns(UserWarning, match=r"'potential'.* after 1000 errors .* sum to"):
        examples = find_counterexamples(identity)
    assert n_calls < len(PROPERTIES) * 1050
    assert list(examples) == list(PROPERTIES)
    lacking = {name for name, example in examples.items() if example is not None}
    assert lacking == {"on the simplex", "strictly positive"}
    zero = examples["strictly positive"]
    np.testing.assert_array_equal(zero.scores, zero.probabilities)


def test_scores_of_any_size_have_probabilities():
    # The search for the first property, by hand, with its extremes in one row.
    z = np.array([[1e300, -1e300, 0.0, 1e300], [1e-300, 0.0, -1e-300, 2.0]])
    for label, mapping in COMPARED.items():
        p = get_mapping(mapping)(z)
        assert (p >= 0).all(), label
        if label != "sigmoid":
            np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14, err_msg=label)
