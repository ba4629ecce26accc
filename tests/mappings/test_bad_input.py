"""Bad input gets an error in words that names the argument."""

import numpy as np
import pytest

from skprob.mappings import (
    Entmax,
    Softmax,
    Temperature,
    entmax,
    get_mapping,
    softmax,
    sparsemax,
)

from .all_mappings import MEMBERS, has_jacobian

GOOD = np.array([[0.0, 1.0, -np.inf], [2.0, 0.0, 1.0]])

MALFORMED = [
    (1.0, r"scores must have shape \(n_samples, n_classes\)"),
    ([0.0, 1.0], r"scores must have shape \(n_samples, n_classes\)"),
    (np.zeros((2, 3, 4)), r"got 3 dimension\(s\), shape \(2, 3, 4\)"),
    (np.zeros((2, 0)), r"scores must have at least one class, got shape \(2, 0\)"),
    ([[0.0, 1.0], [2.0]], "scores must be an array of real numbers"),
    ([["a", "b"]], "scores must be real numbers, got dtype <U1"),
    ([[1j, 0.0]], "scores must be real numbers, got dtype complex128"),
    (np.array([[None, 1.0]]), "scores must be real numbers, got dtype object"),
    (np.zeros((1, 2), "datetime64[s]"), "scores must be real numbers, got dtype dat"),
    ([[0.0, 1.0], [np.nan, 0.0]], "row 1 holds NaN"),
    ([[0.0, np.inf], [0.0, 0.0]], r"row 0 holds \+inf"),
    ([[0.0, 1.0], [-np.inf, -np.inf]], "row 1 holds nothing but -inf"),
]


@pytest.mark.parametrize(("scores", "message"), MALFORMED)
def test_malformed_scores_are_refused(scores, message):
    for mapping in MEMBERS:
        methods = [mapping, mapping.log_probabilities]
        if mapping.traits.has_potential:
            methods.append(mapping.potential)
        if has_jacobian(mapping):
            methods.append(mapping.jacobian)
        for method in methods:
            with pytest.raises(ValueError, match=message):
                method(scores)


def test_the_row_is_the_row_of_the_whole_array():
    scores = np.zeros((50_000, 10))
    scores[45_678, 3] = np.nan
    with pytest.raises(ValueError, match="row 45678 holds NaN"):
        Softmax()(scores)


def test_malformed_direction_is_refused():
    for direction, message in (
        (np.zeros((2, 2)), r"direction must have the shape of scores, \(2, 3\)"),
        (np.full((2, 3), np.nan), "direction must be finite; row 0 is not"),
        ([[0, 0, 0], [0, np.inf, 0]], "direction must be finite; row 1 is not"),
        ([["a"] * 3] * 2, "direction must be real numbers"),
        (0.0, r"direction must have shape \(n_samples, n_classes\)"),
    ):
        for mapping in filter(has_jacobian, MEMBERS):
            for product in (mapping.jvp, mapping.vjp):
                with pytest.raises(ValueError, match=message):
                    product(GOOD, direction)


def test_entropy_of_what_is_no_distribution():
    for p, message in (
        ([[0.5, 0.5], [0.5, 0.6]], "row 1 has minimum 0.5 and sum 1.1"),
        ([[1.5, -0.5]], "row 0 has minimum -0.5 and sum 1"),
        ([[np.nan, 1.0]], "row 0 has minimum nan"),
        ([0.5, 0.5], r"probabilities must have shape \(n_samples, n_classes\)"),
        (np.zeros((2, 0)), "probabilities must have at least one class"),
    ):
        for mapping in MEMBERS:
            if mapping.traits.has_potential and mapping.traits.polytope == "simplex":
                with pytest.raises(ValueError, match=message):
                    mapping.entropy(p)


def test_alpha():
    for alpha in (0, -1, np.nan, np.inf, "2", None, [1.5], 1j):
        assert_alpha_is_refused(alpha)


def assert_alpha_is_refused(alpha):
    for call in (
        lambda: entmax([0.0, 1.0], alpha),
        lambda: Entmax(alpha)(GOOD),
        lambda: Entmax(alpha).log_probabilities(GOOD),
        lambda: Entmax(alpha).jvp(GOOD, GOOD),
        lambda: Entmax(alpha).vjp(GOOD, GOOD),
        lambda: Entmax(alpha).jacobian(GOOD),
        lambda: Entmax(alpha).potential(GOOD),
        lambda: Entmax(alpha).entropy([[0.5, 0.5]]),
        lambda: Temperature(Entmax(alpha))(GOOD),
    ):
        with pytest.raises(ValueError, match="'alpha' parameter of Entmax"):
            call()


def test_temperature():
    for tau in (0, -1.0, np.nan, np.inf, "1", None):
        with pytest.raises(ValueError, match="'temperature' parameter of Temperature"):
            Temperature(Softmax(), tau)(GOOD)
    with pytest.raises(ValueError, match="'mapping' parameter of Temperature"):
        Temperature(None)(GOOD)
    with pytest.raises(ValueError, match="one of the names"):
        Temperature("soft")(GOOD)


def test_unknown_mapping():
    for name in ("Softmax", "max", "", None, 3, Softmax):
        with pytest.raises(ValueError, match=r"one of the names \['entmax', .*got"):
            get_mapping(name)


@pytest.mark.parametrize(
    ("scores", "axis", "message"),
    [
        (1.0, -1, "scores must have at least one dimension"),
        ([], -1, r"at least one class along axis -1, got shape \(0,\)"),
        (np.zeros((3, 0, 2)), 1, r"at least one class along axis 1, got shape \(3, 0"),
        ([0.0, 1.0], 1, r"axis must be an integer from -1 to 0 .* got 1"),
        ([0.0, 1.0], None, "axis must be an integer from -1 to 0 .* got None"),
        ([0.0, 1.0], 0.0, "axis must be an integer"),
        ([0.0, np.nan], -1, r"scores\[:\] holds NaN"),
        ([[0.0, np.nan]], 0, r"scores\[:, 1\] holds NaN"),
        ([[0.0], [np.nan]], -2, r"scores\[:, 0\] holds NaN"),
        ([[0.0], [np.nan]], -1, r"scores\[1, :\] holds NaN"),
        (np.full((2, 2, 2), -np.inf), 1, r"scores\[0, :, 0\] holds nothing but -inf"),
        (["a"], -1, "scores must be real numbers"),
    ],
)
def test_functions(scores, axis, message):
    for function in (softmax, sparsemax, entmax):
        with pytest.raises(ValueError, match=message) as error:
            function(scores, axis=axis)
        assert "n_samples" not in str(error.value)


def test_byte_order_is_no_other_type():
    scores = np.array([[1.0, 2.0]], dtype=">f4")
    p = Softmax()(scores)
    assert p.dtype == np.float32 and p.dtype.isnative
    assert Softmax()(scores.astype(">f8")).dtype == np.float64
