"""The kind that `y` is taken for, and its distributions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from skprob._utils.checks import check_target
from skprob.targets import as_labels, class_weight_factors, encode_target

SETS = np.array([[1, 1, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1]])
SHARES = np.array([[0.5, 0.5, 0], [0, 0, 1], [1 / 3, 1 / 3, 1 / 3]])


@pytest.mark.parametrize("y", [["b", "a", "c"], [1, 0, 2], [2.0, 1.0, 5.0]])
def test_labels(y):
    encoded = encode_target(y)
    assert (encoded.target_type, encoded.labelled) == ("class", None)
    assert_array_equal(encoded.classes, np.unique(y))
    assert_array_equal(encoded.target.to_dense(float), np.eye(3)[[1, 0, 2]])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([127, -128, 127, 5] * 100, np.int8),
        np.array([2**63 - 1, 2**63 - 3] * 3),
        np.array([-(2**63), 2**63 - 1, 0]),
        np.array([-7, 900, -7]),
        np.array([2**64 - 1, 0, 1] * 2, np.uint64),
    ],
    ids=["int8", "next to overflow", "whole range", "far apart", "unsigned"],
)
def test_integer_labels_of_any_range(labels):
    encoded = encode_target(labels)
    classes, numbers = np.unique(labels, return_inverse=True)
    assert encoded.classes.dtype == labels.dtype
    assert_array_equal(encoded.classes, classes)
    assert_array_equal(encoded.target.to_dense(float), np.eye(len(classes))[numbers])


@pytest.mark.parametrize(
    ("container", "dtype"),
    [(np.array, bool), (sparse.csr_array, np.float32), (sparse.coo_matrix, int)],
)
def test_label_sets(container, dtype):
    encoded = encode_target(container(SETS.astype(dtype)))
    assert encoded.target_type == "label_set"
    assert_array_equal(encoded.classes, [0, 1, 2])
    assert_array_equal(encoded.labelled, [True, True, False, True])
    assert_allclose(encoded.target.to_dense(float), SHARES)


@pytest.mark.parametrize("labels", [["b", "a"], [True, False]])
def test_arrays_of_pyarrow(labels):
    y = pytest.importorskip("pyarrow").array(labels)
    assert check_target(y, "y", len_of=np.zeros((2, 1))).tolist() == labels


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[0], [0, 1]], "y must be a 0/1 indicator of label sets"),
        ([None, "a"], "y must be labels .* None, in row 0"),
    ],
)
def test_arrays_of_pyarrow_without_a_label_for_each_row(labels, message):
    y = pytest.importorskip("pyarrow").array(labels)
    with pytest.raises(ValueError, match=message):
        check_target(y, "y", len_of=np.zeros((2, 1)))


@pytest.mark.parametrize("container", [np.array, sparse.csr_array, sparse.coo_matrix])
def test_candidates(container):
    encoded = encode_target(container(SETS[[0, 1, 3]]), "candidates", np.float32)
    assert (encoded.target_type, encoded.labelled) == ("candidates", None)
    assert encoded.target.values.dtype == np.float32
    assert_allclose(encoded.target.to_dense(float), SHARES, rtol=1e-7)
    with pytest.raises(ValueError, match=r"there is none in row 2\. Leave"):
        encode_target(container(SETS), "candidates")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distributions(dtype):
    encoded = encode_target(SHARES + 1e-6, dtype=dtype)
    assert (encoded.target_type, encoded.labelled) == ("distribution", None)
    assert encoded.target.values.dtype == dtype
    assert_allclose(encoded.target.values, SHARES, atol=2e-6)
    assert_allclose(encoded.target.values.sum(axis=1), 1, rtol=1e-7)


def test_zeros_and_ones_are_distributions_where_that_is_said():
    assert encode_target(np.eye(3)).target_type == "label_set"
    encoded = encode_target(np.eye(3), "distribution")
    assert encoded.target_type == "distribution"
    assert_array_equal(encoded.target.values, np.eye(3))


def test_classes_of_a_fitted_model():
    encoded = encode_target(["c", "a"], classes=np.array(["a", "b", "c"]))
    assert_array_equal(encoded.target.to_dense(float), np.eye(3)[[2, 0]])
    with pytest.raises(ValueError, match=r"labels \['d'\], which are not among"):
        encode_target(["d", "a"], classes=np.array(["a", "b", "c"]))
    with pytest.raises(ValueError, match="y must have 2 columns, got 3"):
        encode_target(SETS, classes=np.arange(2))


@pytest.mark.parametrize(
    ("y", "target_type", "message"),
    [
        ([0, 1], "sets", "target_type must be 'auto' or one of"),
        ([1, 1], "auto", "at least 2 classes.* only one class: 1"),
        ([0, 1], "label_set", r"needs y of shape \(n_samples, n_classes\)"),
        (SETS, "class", r"needs y of shape \(n_samples,\), got \(4, 3\)"),
        (sparse.csr_array(SETS), "class", "needs labels, got a sparse y"),
        (sparse.csr_array(SHARES), "distribution", "needs a dense y, got sparse"),
        ([[0.5, 0.5], [0.5, 0.4]], "distribution", "row 1 has sum 0.9 and minimum 0.4"),
        (sparse.csr_array(SHARES), "auto", r"got also \[0.33.*must be dense"),
        (2 * SETS, "auto", r"with the values \[2\]"),
        (2 * SETS, "label_set", r"indicator of 0 and 1; got also \[2\]"),
        (
            SETS.astype(str),
            "auto",
            "indicator of lists of names by MultiLabelBin",
        ),
        (SETS.astype(str), "label_set", "indicator of 0 and 1; got dtype <U"),
        (SETS.astype(str), "distribution", "must be real numbers, got dtype <U"),
        (np.zeros((3, 2)), "auto", "a label in at least one row; got 3 without"),
        (0.9 * SHARES, "auto", "row 0 has sum 0.9 and minimum 0"),
        (SHARES - [[1, -1, 0]], "auto", "row 0 has sum 1 and minimum -0.5"),
    ],
)
def test_what_cannot_be_learnt_is_named(y, target_type, message):
    with pytest.raises(ValueError, match=message):
        encode_target(y, target_type)


@pytest.mark.parametrize(
    "y", [["a", "b"], [True, False], [3, -1], np.array([1, 2.0], dtype=object)]
)
def test_what_may_be_a_label(y):
    assert as_labels(y).tolist() == list(y)


@pytest.mark.parametrize(
    ("y", "description"),
    [
        ([0.5, 1.0], "continuous, 0.5 in row 0"),
        ([1.0, np.nan], "continuous, nan in row 1"),
        (np.array(["a", 1], dtype=object), "objects of type int, str. Give text, "),
        (np.array(["2024", "NaT"], dtype="M8[s]"), "NaT in row 1"),
        (np.array([0, 1j]), "dtype complex128"),
        (np.array([0, 2**64], dtype=object), "whole numbers of more than 64 bits"),
    ],
)
def test_what_may_not(y, description):
    with pytest.raises(ValueError, match=f"Unknown label type: {description}"):
        as_labels(y)


def test_class_weights_are_averaged_under_the_target():
    encoded = encode_target(SETS)
    ones = np.ones(3)
    assert_array_equal(class_weight_factors(None, encoded, ones), ones)
    assert_allclose(class_weight_factors({0: 3}, encoded, ones), [2, 1, 5 / 3])
    # Each class gets the same total weight.
    factors = class_weight_factors("balanced", encoded, ones)
    assert_allclose(factors, SHARES @ (ones.sum() / (3 * SHARES.sum(axis=0))))


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({3: 1.0}, r"names the classes \[3\], which are not in y"),
        ({0: -1.0}, "must be finite, non-negative numbers"),
        ({0: np.inf}, "must be finite, non-negative numbers"),
        ({0: "heavy"}, "must be finite, non-negative numbers"),
    ],
)
def test_class_weights_that_make_no_sense(class_weight, message):
    with pytest.raises(ValueError, match=message):
        class_weight_factors(class_weight, encode_target(SETS), np.ones(3))


@pytest.mark.parametrize("rows", [[0, 3], [3, 2, 0], [False, True, True, True]])
@pytest.mark.parametrize("none_class", [False, True])
@pytest.mark.parametrize(
    "y",
    [
        SETS,
        sparse.csr_array(SETS),
        np.array(["b", "a", "c", "a"]),
        SHARES[[0, 1, 2, 0]],
    ],
    ids=["sets", "sparse sets", "labels", "distributions"],
)
def test_some_rows_are_encoded_as_they_are_alone(y, none_class, rows):
    encoded, rows = encode_target(y, none_class=none_class), np.array(rows)
    some = encoded.take(rows)
    types = {"target_type": some.target_type, "none_class": some.has_none}
    alone = encode_target(y[rows], classes=encoded.classes, **types)
    assert_array_equal(some.target.to_dense(float), alone.target.to_dense(float))
    assert (some.labelled is None) == (alone.labelled is None)
    if some.labelled is not None:
        assert_array_equal(some.labelled, alone.labelled)


def test_some_rows_may_have_no_label():
    some = encode_target(SETS).take(np.array([2, 2]))
    with pytest.raises(ValueError, match="a label in at least one row; got 2 without"):
        some.check_has_label()
