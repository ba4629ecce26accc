"""Bad input gets a ValueError that names the argument and says what is allowed."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from skprob import EntmaxClassifier, LinearClassifier, SparsemaxClassifier
from skprob.attention import AttentionClassifier, AttentionRegressor
from skprob.decision import LabelCuts
from skprob.losses import FenchelYoungLoss, LogLoss
from skprob.mappings import Entmax, Mapping, entmax

from .assertions import assert_refused

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 3))
y = np.arange(12) % 3
SETS = np.eye(3, dtype=int)[y]
DISTRIBUTIONS = rng.dirichlet(np.ones(3), size=12)
WEIGHT = np.ones(12)


def changed(array, index, value):
    array = np.array(array, dtype=float)
    array[index] = value
    return array


def fit(*data, **parameters):
    return EntmaxClassifier(**parameters).fit(*data)


PARAMETERS = [
    ({"alpha": 0}, r"'alpha' parameter of EntmaxClassifier .* \(0.0, inf\).* Got 0"),
    ({"alpha": np.nan}, r"'alpha' .* float in the range \(0.0, inf\).* Got nan"),
    ({"alpha": np.inf}, r"'alpha' .* float in the range \(0.0, inf\)"),
    ({"alpha": "1.5"}, r"'alpha' .* float"),
    ({"C": 0}, r"'C' .* float in the range \(0.0, inf\].* Got 0"),
    ({"C": -1.0}, r"'C' .* float in the range \(0.0, inf\].* Got -1"),
    ({"C": np.nan}, r"'C' .* float in the range \(0.0, inf\].* Got nan"),
    ({"C": 5e-324}, r"C must be larger"),
    ({"C": float}, r"'C' .* Got <class 'float'> instead. Give a value, not a class.$"),
    ({"C": LabelCuts}, r"'C' .* instead. Give a value, not a class.$"),
    ({"loss": str}, r"'loss' .* instead. Give a value, not a class.$"),
    ({"loss": "hinge"}, r"'loss' .*Got 'hinge'"),
    ({"threshold": LabelCuts}, r"'threshold' .* Give an instance, LabelCuts\(...\)"),
    ({"solver": "adam"}, r"'solver' .* among {.*'lbfgs'.*}.* Got 'adam'"),
    ({"temperature": 0}, r"'temperature' .* range \(0.0, inf\)"),
    ({"temperature": np.nan}, r"'temperature' .* range \(0.0, inf\)"),
    ({"target_type": "sets"}, r"'target_type' .* among .*Got 'sets'"),
    ({"threshold": 1.0}, r"'threshold' .* range \[0.0, 1.0\), .*Got 1.0"),
    ({"threshold": "half"}, r"'threshold' .* range \[0.0, 1.0\), .*Got 'half'"),
    ({"tol": -1e-4}, r"'tol' .* range \[0.0, inf\)"),
    ({"max_iter": -1}, r"'max_iter' .* range \[0, inf\)"),
    ({"max_iter": 1.5}, r"'max_iter' .* int"),
    ({"fit_intercept": "yes"}, r"'fit_intercept' .* 'bool'"),
    ({"warm_start": 2}, r"'warm_start' .* 'bool'"),
    ({"label_smoothing": -0.1}, r"'label_smoothing' .* range \[0.0, 1.0\)"),
    ({"label_smoothing": 1.0}, r"'label_smoothing' .* range \[0.0, 1.0\). Got 1.0"),
    ({"label_smoothing": np.nan}, r"'label_smoothing' .* range \[0.0, 1.0\)"),
    ({"label_smoothing": "a lot"}, r"'label_smoothing' .* float"),
    ({"sparse_output": None}, r"'sparse_output' .* 'bool'"),
    ({"sparse_output": "csr"}, r"'sparse_output' .* 'bool'"),
    ({"verbose": -1}, r"'verbose' .* range \[0, inf\)"),
    ({"class_weight": "even"}, r"'class_weight' .* {'balanced'}"),
    ({"class_weight": {7: 1}}, r"class_weight names .*\[7\].* classes are \[0, 1, 2\]"),
    ({"class_weight": {0: -1}}, r"class_weight must be finite, non-negative"),
    ({"class_weight": {0: np.nan}}, r"class_weight must be finite, non-negative"),
    ({"class_weight": {0: "a"}}, r"class_weight must be finite, non-negative"),
    ({"class_weight": {0: 0, 1: 0, 2: 0}}, r"weights .* must have a positive"),
    ({"loss": LogLoss(epsilon=0)}, r"epsilon must be positive for Entmax"),
    ({"loss": LogLoss(epsilon=2)}, r"'epsilon' .* range \[0.0, 1.0\)"),
    ({"loss": FenchelYoungLoss("softmax")}, r"loss has the mapping Softmax\(\)"),
]


def test_parameters():
    for parameters, message in PARAMETERS:
        assert_refused(message, fit, X, y, **parameters)


def test_mapping():
    for mapping, message in [
        ("hardmax", "'mapping' .*'entmax'.* an instance of .*Got 'hardmax'"),
        (None, "'mapping' .*'entmax'"),
        (Entmax, "mapping must be a Mapping, a function or .*'entmax'.* got <class"),
        (Entmax, r"Give an instance, Entmax\(\.\.\.\)\."),
        (
            np.exp,
            "the mapping exp .* sum to one; .* single score in .*NormalizedMapping",
        ),
        (Entmax(alpha=0), r"'alpha' .* Entmax .* range \(0.0, inf\)"),
        (Entmax(alpha=np.nan), r"'alpha' .* Entmax .* range \(0.0, inf\)"),
    ]:
        assert_refused(message, LinearClassifier(mapping).fit, X, y)


def test_the_names_that_are_known_are_told():
    for parameters, names in [
        ({"mapping": "max"}, ["softmax", "sparsemax", "entmax"]),
        ({"loss": "max"}, ["auto", "log", "fenchel_young"]),
        ({"solver": "max"}, ["lbfgs"]),
        ({"target_type": "max"}, ["auto", "class", "label_set", "distribution"]),
    ]:
        with pytest.raises(ValueError, match="Got 'max'") as caught:
            LinearClassifier(**parameters).fit(X, y)
        assert all(repr(name) in str(caught.value) for name in names)


def with_index(container, index):
    """A sparse matrix with one number of a column, or of a row, beyond its shape."""
    matrix = container(np.asarray(X))
    matrix.indices[5] = index
    return matrix


def with_ends(*ends):
    """A sparse X whose rows end at other places than its entries."""
    matrix = sparse.csr_array(np.asarray(X))
    matrix.indptr[[2, -1]] = ends
    return matrix


# SciPy accepts them, and reads and writes memory beyond its arrays.
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (with_index(sparse.csr_array, 3), "indices must be from 0 to 2; got .* 0 to 3"),
        (with_index(sparse.csr_array, -1), "indices must be from 0 to 2; got .* -1 to"),
        (with_index(sparse.csc_array, 12), "indices must be from 0 to 11; .* 0 to 12"),
        (with_ends(900, 36), "indptr must not decrease"),
        (with_ends(6, 37), "indptr must not .* exceed the number of entries, 36"),
    ],
    ids=["column", "negative column", "row", "end of a row", "last end"],
)
def test_indices_beyond_a_sparse_matrix(wrong, message):
    assert_refused(f"X must be .*{message}", fit, wrong, y)
    assert_refused(f"X must be .*{message}", fit(X, y).predict, wrong)


def test_indices_beyond_sparse_label_sets():
    wrong = sparse.csr_array(SETS)
    wrong.indices[0] = 3
    assert_refused("y must be .*indices must be from 0 to 2", fit, X, wrong)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity(value, container):
    word = "NaN" if np.isnan(value) else "infinity"
    bad = container(changed(X, (5, 1), value))
    model = fit(X, y)
    with pytest.raises(ValueError, match=f"X must be finite.*X contains {word}"):
        fit(bad, y)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=f"X must be finite.*X contains {word}"):
            method(bad)
    with pytest.raises(ValueError, match=f"y must be.*y contains {word}"):
        fit(X, changed(y, 5, value))
    with pytest.raises(ValueError, match=f"y must be.*y contains {word}"):
        fit(X, container(changed(SETS, (5, 1), value)))
    with pytest.raises(ValueError, match=f"y must be.*y contains {word}"):
        fit(X, changed(DISTRIBUTIONS, (5, 1), value))
    with pytest.raises(ValueError, match=f"sample_weight must be finite.*{word}"):
        fit(X, y, changed(WEIGHT, 5, value))


@pytest.mark.parametrize("model", [EntmaxClassifier(), AttentionClassifier()])
def test_masked_entries(model):
    def masked(array):
        array = np.ma.masked_array(array)
        array[3] = np.ma.masked
        return array

    # A masked array without masked entries is allowed.
    model.fit(np.ma.masked_array(X), np.ma.masked_array(y))
    for method in (model.predict, model.predict_proba):
        assert_refused("X must be finite.*Masked entries .* 3 of 36", method, masked(X))
    assert_refused("X must be finite.*Masked entries", model.fit, masked(X), y)
    for given in (y, SETS, DISTRIBUTIONS):
        assert_refused("y must be.*Masked entries", model.fit, X, masked(given))
        assert_refused("y must be.*Masked entries", model.score, X, masked(given))
    assert_refused("sample_weight .*Masked", model.score, X, y, masked(WEIGHT))
    assert_refused("sample_weight .*Masked", fit, X, y, masked(WEIGHT))
    assert_refused("y must be .*Masked", AttentionRegressor().fit, X, masked(y))
    for name in ("available", "offset"):
        given = {name: masked(np.ones((12, 3)))}
        assert_refused(f"{name} .*Masked", EntmaxClassifier().fit, X, y, **given)
    assert_refused("scores .*Masked", entmax, masked(X))


DATA = {
    "negative distribution": (
        (X, changed(DISTRIBUTIONS, 3, [-0.5, 1, 0.5])),
        r"distributions.* non-negative and sum to one; row 3 has .* minimum -0.5",
    ),
    "distribution that does not sum to one": (
        (X, changed(DISTRIBUTIONS, 4, [0.5, 0.2, 0.2])),
        r"distributions.* sum to one; row 4 has sum 0.9",
    ),
    "one class": ((X, np.full(12, 5)), "y must have at least 2 classes.*: 5"),
    "one class, a string": ((X, ["a"] * 12), "y must have at least 2 classes.*: 'a'"),
    "short y": ((X, y[:5]), r"y must have .* each of the 12 rows; got shape \(5,\)"),
    "long indicator": ((X[:5], SETS), r"y must have .* 5 rows; got shape \(12, 3\)"),
    "short sparse indicator": (
        (X, sparse.csr_array(SETS[:5])),
        r"y must have .* 12 rows; got shape \(5, 3\)",
    ),
    "short weights": ((X, y, WEIGHT[:5]), r"sample_weight must .*\(5,\).*\(12,\)"),
    "weights in a column": ((X, y, WEIGHT[:, None]), "sample_weight must .* 2D array"),
    "one weight, NaN": ((X, y, np.nan), "sample_weight must be finite.*contains NaN"),
    "one weight, infinite": ((X, y, np.inf), "sample_weight must be .*infinity"),
    "one weight, negative": ((X, y, -1), "sample_weight must .*non-negative"),
    "huge weights": ((X, y, [10**400] * 12), "sample_weight must be finite.*too large"),
    "huge X": (([[10**400]] * 12, y), "X must be finite numbers.*too large"),
    "zero weights": ((X, y, 0 * WEIGHT), "sample_weight must .* not all zero"),
    "a negative weight": (
        (X, y, changed(WEIGHT, 2, -1)),
        "sample_weight must .*non-negative.*Negative values",
    ),
    "complex weights": ((X, y, [1j] * 12), "sample_weight must .*Complex"),
    "durations as weights": (
        (X, y, np.ones(12, dtype="timedelta64[s]")),
        "sample_weight must be finite.*Dates and times are not numbers",
    ),
    "words as weights": ((X, y, ["a"] * 12), "sample_weight must be finite"),
    "weights whose sum overflows": (
        (X, y, np.full(12, 1e308)),
        "weights .* positive, finite sum; it is inf",
    ),
    "weights whose penalty overflows": (
        (X, y, np.full(12, 1e-320)),
        "C must be larger: with C=.* and weights .* sum to 1.*e-319",
    ),
    "3-D X": ((X[None], y), r"X must be .* shape \(n_samples, n_features\).*dim 3"),
    "1-D X": ((X[:, 0], y), r"X must be .* shape .* got 1D array"),
    "3-D y": ((X, SETS[None]), "y must be .* shape .*dim 3"),
    "no rows": ((X[:0], y[:0]), r"X must be .*0 sample\(s\)"),
    "no features": ((X[:, :0], y), r"X must be .*0 feature\(s\)"),
    "words as X": ((np.full((12, 3), "a"), y), "X must be finite numbers"),
    "complex X": ((X * 1j, y), "X must be finite numbers.*Complex data"),
    "complex y": ((X, y * 1j), r"y must be labels .* Complex data not supported\.$"),
    "no X": ((None, y), "X must be finite numbers"),
    "X beyond squares": ((X * 1e160, y), r"X must not exceed 1e\+152 .*Scale"),
    "float32 X beyond squares": (
        ((X * 1e25).astype(np.float32), y),
        r"X must not exceed 2e\+17 .*float32 overflow.*Scale",
    ),
    "no y": ((X, None), "y must be labels .* got None"),
    "y a number": ((X, 3), "y must be labels .* got 3"),
    "y ragged": ((X, [[0], [0, 1]] * 6), "y must be a 0/1 indicator of label sets"),
    "no label in any row": (
        (X, 0 * SETS),
        "y must have a label in at least one row; got 12 without",
    ),
    "no label in any sparse row": (
        (X, sparse.csr_array(0 * SETS)),
        "y must have a label in at least one row; got 12 without",
    ),
    "counts": (
        (X, 2 * SETS),
        r"y must be labels .* 0/1 indicator .* or distributions.* the values \[2\]",
    ),
    "signs": ((X, 2 * SETS - 1), r"y must be .* 0/1 indicator.* the values \[-1\]"),
    "sparse counts": ((X, sparse.csr_array(2 * SETS)), r"indicator of 0 and 1.*\[2\]"),
    "sparse distributions": (
        (X, sparse.csr_array(DISTRIBUTIONS)),
        r"y must be an indicator of 0 and 1; got also \[.*Distributions must be dense",
    ),
    "lists of names": (
        (X, [["rock", "jazz"]] * 12),
        "y must be .*MultiLabelBinarizer",
    ),
    "duplicated entries of a sparse indicator": (
        (X, sparse.coo_array((np.ones(24), (np.r_[0:12, 0:12], np.r_[y, y])))),
        r"indicator of 0 and 1.*\[2.0\]",
    ),
    "a matrix of words": ((X, SETS.astype(str)), "y must be labels .* dtype <U"),
    "continuous labels": (
        (X, X[:, 0]),
        "y must be labels.*continuous, 0.12.* in row 0",
    ),
    "mixed labels": (
        (X, np.array([1, "a", 2.5] * 4, dtype=object)),
        "y must be labels, all strings.*float, int, str",
    ),
    "labels and None": (
        (X, np.array(["a", None, "b"] * 4, dtype=object)),
        "y must be labels.*None, in row 1 and 3 other rows. Leave out the rows",
    ),
    "labels and NaN": (
        (X, pd.Series(["a", np.nan, "b"] * 4, dtype=object)),
        "y must be labels.*NaN",
    ),
    "labels and NA": (
        (X, pd.Series(["a", pd.NA, "b"] * 4, dtype="string")),
        "y must be labels.*Input y contains NaN",
    ),
    "bytes": ((X, y.astype("S1")), r"y must be labels.*dtype \|S1"),
}


def test_data():
    for data, message in DATA.values():
        assert_refused(message, fit, *data)


def test_a_target_that_is_not_what_was_asked_for():
    for target_type, target, message in [
        ("class", SETS, r"target_type='class' needs y of shape \(n_samples,\)"),
        (
            "class",
            DISTRIBUTIONS,
            r"target_type='class' needs y of shape \(n_samples,\)",
        ),
        ("class", sparse.csr_array(SETS), "target_type='class' needs labels"),
        ("label_set", y, "target_type='label_set' needs y of shape"),
        ("label_set", DISTRIBUTIONS, "y must be an indicator of 0 and 1; got also"),
        ("label_set", 2 * SETS - 1, r"an indicator of 0 and 1; got also \[-1\]"),
        ("label_set", SETS.astype(str), "an indicator of 0 and 1; got dtype <U"),
        ("label_set", SETS[:, :1], "at least two classes"),
        ("distribution", y, "target_type='distribution' needs y of shape"),
        ("distribution", 2 * SETS, "row 0 has sum 2"),
        ("distribution", sparse.csr_array(DISTRIBUTIONS), "needs a dense y"),
        ("distribution", SETS.astype(str), "Distributions must be real numbers"),
    ]:
        assert_refused(message, fit, X, target, target_type=target_type)


def test_features_that_differ_at_predict():
    model = fit(X, y, C=100.0)
    for method in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match=r"^X has 2 features.* expecting 3"):
            method(X[:, :2])
        with pytest.raises(ValueError, match=r"(?s)X must .*got 1D array"):
            method(X[0])
        with pytest.raises(ValueError, match=r"X must .*0 sample\(s\)"):
            method(X[:0])
        with pytest.raises(ValueError, match=r"X must be small enough.* in row 1"):
            method(np.sign(model.coef_[[0, 0]]) * [[1], [1.7e308]])


def test_scores_of_targets_that_do_not_fit():
    model = fit(X, DISTRIBUTIONS)
    with pytest.raises(ValueError, match=r"y must have .* 12 rows; got shape \(5, 3\)"):
        model.score(X, DISTRIBUTIONS[:5])
    with pytest.raises(ValueError, match="y must have 3 columns, got 2"):
        model.score(X, DISTRIBUTIONS[:, :2] + DISTRIBUTIONS[:, 2:] / 2)
    with pytest.raises(ValueError, match="target_type='distribution' needs y of shape"):
        model.score(X, y)
    for target in (DISTRIBUTIONS, y, SETS):
        model = fit(X, target)
        for weight in (-WEIGHT, 0 * WEIGHT, WEIGHT[:4], ["a"] * 12, WEIGHT[:, None]):
            with pytest.raises(ValueError, match="sample_weight must be finite"):
                model.score(X, target, weight)
        with pytest.raises(ValueError, match=r"y must have .* 12 rows; got shape \(5"):
            model.score(X, target[:5])
    for labels, message in (
        (y + 0.5, "y must be labels"),
        (y.astype(str), r"y must be labels such as \[0, 1, 2\], .*fit; got '0'"),
        (None, "y must be labels"),
        (SETS, "y should be a 1d array"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(X, y).score(X, labels)
    for sets, message in (
        (y, r"'label_set' needs y of shape .* got shape \(12,\)"),
        (SETS[:, :2], "y must have 3 columns, got 2"),
        (2 * SETS, r"y must be an indicator of 0 and 1; got also \[2\]"),
        (DISTRIBUTIONS, r"y must be an indicator of 0 and 1; got also \[0"),
        (SETS.astype(str), "y must be an indicator of 0 and 1; got dtype <U"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(X, SETS).score(X, sets)


def test_a_mapping_without_what_a_loss_needs():
    class Bare(Mapping):
        def probabilities(self, scores):
            return np.full_like(scores, 1 / scores.shape[1])

    with pytest.raises(ValueError, match=r"FenchelYoungLoss needs .* potential.* Bare"):
        LinearClassifier(Bare(), loss="fenchel_young").fit(X, y)


def test_nothing_else_warns():
    # Warnings are errors in this suite: these are the only three of a fit.
    with pytest.warns(UserWarning, match="1 of 12 rows have no label") as record:
        fit(X, changed(SETS, 0, 0), none_class=False)
    assert len(record) == 1
    with pytest.warns(UserWarning, match=r"1 of 4 labels .* no row.* \[3\]") as record:
        fit(X, np.pad(SETS, [(0, 0), (0, 1)]))
    assert len(record) == 1
    with pytest.warns(ConvergenceWarning, match="largest gradient entry") as record:
        fit(X, y, max_iter=1)
    assert len(record) == 1
    fit(X[:, [0, 0, 1]], y)  # Columns that are the same,
    fit(np.column_stack([X, np.ones(12), np.zeros(12)]), y)  # constant,
    fit(X, y, C=1e-6)  # hardly fitted,
    fit(1e6 * X, y, max_iter=10_000)  # separable,
    fit(X[:2], [0, 1])  # few.
    SparsemaxClassifier(C=np.inf).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def generator(array):
    return (row for row in array)


def as_dict(array):
    return dict(enumerate(array))


def lazy(array):
    return pytest.importorskip("polars").DataFrame(np.atleast_2d(array.T).T).lazy()


def rounded(array):
    torch = pytest.importorskip("torch")
    return torch.tensor(array).to(torch.bfloat16)


def with_gradient(array):
    return pytest.importorskip("torch").tensor(array.astype(float), requires_grad=True)


@pytest.mark.parametrize(
    ("unreadable", "advice"),
    [
        (generator, "A generator was found. Give a list"),
        (as_dict, "A dict was found. Give a list"),
        (lazy, r"A LazyFrame was found, .* collect\(\) it"),
        (rounded, r"bfloat16 was found, .* use float\(\)"),
        (with_gradient, r"requires? gradients?.* detach\(\)"),
    ],
)
def test_objects_whose_values_are_not_read(unreadable, advice):
    model, error = EntmaxClassifier().fit(X, y), (TypeError, ValueError)

    def refused(name, call, *args, **given):
        with pytest.raises(error, match=f"^{name} must .*({advice})"):
            call(*args, **given)

    refused("X", model.fit, unreadable(X), y)
    refused("X", model.predict, unreadable(X))
    for given in (y, SETS, DISTRIBUTIONS):
        refused("y", model.fit, X, unreadable(given))
        refused("y", model.score, X, unreadable(given))
    refused("sample_weight", model.fit, X, y, unreadable(WEIGHT))
    for name in ("available", "offset"):
        refused(name, model.fit, X, y, **{name: unreadable(np.ones((12, 3)))})
    refused("scores", entmax, unreadable(X))


def test_columns_of_lists():
    frame = pd.DataFrame({"height": X[:, 0], "place": X[:, 1:].tolist()})
    message = "X must be .*Lists were found in place of numbers, in column 'place'"
    assert_refused(f"{message}. numpy.stack", fit, frame, y)
    assert_refused("X must be .*Lists were found", fit, frame["place"], y)
    # Lists of one label each.
    labels = pd.Series([[label] for label in y])
    assert_refused("y must be a 0/1 indicator .*MultiLabelBinarizer", fit, X, labels)


def test_a_sparse_matrix_that_is_a_dict():
    expected = EntmaxClassifier().fit(X, y)
    model = EntmaxClassifier().fit(sparse.dok_array(X), y)
    assert np.abs(model.coef_ - expected.coef_).max() < 1e-6
    assert model.score(sparse.dok_array(X), y) == expected.score(X, y)


def test_memory_views():
    expected = EntmaxClassifier().fit(X, y, WEIGHT)
    views = memoryview(X), memoryview(y), memoryview(WEIGHT)
    model = EntmaxClassifier().fit(*views)
    assert np.array_equal(model.coef_, expected.coef_)
    assert model.score(*views) == expected.score(X, y)
    sets = EntmaxClassifier().fit(X, memoryview(SETS))
    assert np.array_equal(sets.coef_, EntmaxClassifier().fit(X, SETS).coef_)
