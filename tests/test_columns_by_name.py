"""Columns of DataFrames are matched with the classes by name."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    EntmaxClassifierCV,
    LinearClassifier,
    PerturbMaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
)
from skprob._utils.checks import in_order, lined_up, names_of_columns
from skprob.attention import AttentionClassifier
from skprob.decision import RULES, LabelCuts
from skprob.inspection import PredictionDisplay, SupportSizeDisplay, coefficient_table
from skprob.mappings import NestedSoftmax, PerturbMax
from skprob.metrics import (
    BrierScorer,
    DistributionScorer,
    FenchelYoungScorer,
    brier_loss,
    canberra_distance,
    chebyshev_distance,
    clark_distance,
    cosine_similarity,
    fenchel_young_loss,
    harmonic_macro_f1_score,
    intersection_similarity,
    kullback_leibler_divergence,
)

from .linear_model.assertions import assert_refused
from .linear_model.data_sets import distributions, label_sets, labels

NAMES = ["sad", "happy", "calm", "angry"]
#: Another order of the columns, of four and of three.
SHUFFLED = {4: [2, 0, 3, 1], 3: [2, 0, 1]}


class Frames:
    """Frames of one library, with columns in the order of the names or in another."""

    def __init__(self, library):
        self._library = library

    def __call__(self, array, names=NAMES):
        columns = [np.ascontiguousarray(column) for column in np.asarray(array).T]
        return self._library.DataFrame(dict(zip(names, columns, strict=False)))

    def shuffled(self, array, names=NAMES):
        order = SHUFFLED[np.shape(array)[1]]
        return self(np.asarray(array)[:, order], [names[k] for k in order])

    def misnamed(self, array):
        return self(array, ["sad", "happy", "merry", "wild"])


@pytest.fixture
def frame():
    """Frames of pandas: `lined_up` reads those of all libraries for all callers."""
    return Frames(pd)


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def any_frame(request):
    """Frames of each library."""
    if request.param == "pyarrow":
        pyarrow = pytest.importorskip("pyarrow")
        return Frames(type("library", (), {"DataFrame": pyarrow.table}))
    return Frames(pytest.importorskip(request.param))


def named_labels():
    """X, labels by name, and for each row booleans and numbers in sorted order."""
    X, y = labels()
    rng = np.random.default_rng(0)
    y = np.array(sorted(NAMES[:3]))[y]
    available = (rng.random((60, 3)) < 0.6) | (y[:, None] == sorted(NAMES[:3]))
    return X, y, available, rng.normal(size=(60, 3))


def assert_misnamed(call, *args, **kwargs):
    message = r"missing: \['calm'.*unexpected: \['merry'"
    assert_refused(message, call, *args, **kwargs)


@pytest.mark.parametrize("given", ["available", "offset"])
def test_what_is_known_of_each_row(any_frame, given):
    X, y, available, offset = named_labels()
    known = {given: available if given == "available" else offset}
    names = sorted(NAMES[:3])
    shuffled = {given: any_frame.shuffled(known[given], names)}
    misnamed = {given: any_frame.misnamed(known[given])}
    reference = SoftmaxClassifier().fit(X, y, **known)
    model = SoftmaxClassifier().fit(X, y, **shuffled)
    assert_array_equal(model.coef_, reference.coef_)
    for method in "decision_function", "predict_proba", "predict_log_proba", "predict":
        call = getattr(model, method)
        assert_array_equal(call(X, **shuffled), call(X, **known))
        assert_misnamed(call, X, **misnamed)
    assert model.score(X, y, **shuffled) == model.score(X, y, **known)
    assert_misnamed(model.score, X, y, **misnamed)
    assert_misnamed(SoftmaxClassifier().fit, X, y, **misnamed)
    single = EntmaxClassifierCV([1.0], [1.0], cv=2, scoring=BrierScorer())
    search = EntmaxClassifierCV([1.0], [1.0], cv=2, scoring=BrierScorer())
    single.fit(X, y, **known)
    search.fit(X, y, **shuffled)
    assert_array_equal(search.scores_, single.scores_)
    assert_array_equal(search.coef_, single.coef_)
    assert search.score(X, y, **shuffled) == single.score(X, y, **known)
    assert_misnamed(search.fit, X, y, **misnamed)


def test_the_wrong_class_is_not_ruled_out():
    """The class c is named in the first column, and must have probability zero."""
    X, y = np.eye(3), ["a", "b", "c"]
    model = SoftmaxClassifier(C=10.0).fit(X, y)
    no_c = pd.DataFrame({"c": [False] * 3, "b": [True] * 3, "a": [True] * 3})
    p = model.predict_proba(X, available=no_c)
    assert_array_equal(p == 0, [[False, False, True]] * 3)


@pytest.mark.parametrize(
    "make", [label_sets, distributions], ids=["label_set", "distribution"]
)
def test_scores(any_frame, make):
    X, Y = make()
    model = EntmaxClassifier().fit(X, any_frame(Y))
    reference = EntmaxClassifier().fit(X, Y)
    assert_array_equal(model.coef_, reference.coef_)
    assert model.score(X, any_frame.shuffled(Y)) == reference.score(X, Y)
    assert_misnamed(model.score, X, any_frame.misnamed(Y))
    for scorer in BrierScorer(), FenchelYoungScorer():
        expected = scorer(reference, X, Y)
        assert scorer(model, X, any_frame.shuffled(Y)) == expected
        assert_misnamed(scorer, model, X, any_frame.misnamed(Y))
    weight = np.linspace(0, 1, 60)
    assert model.score(X, any_frame.shuffled(Y), weight) == reference.score(
        X, Y, weight
    )


def test_scores_of_distributions_by_a_measure(frame):
    X, D = distributions()
    model = EntmaxClassifier().fit(X, frame(D))
    scorer = DistributionScorer("intersection")
    assert scorer(model, X, frame.shuffled(D)) == scorer(model, X, D)
    assert_misnamed(scorer, model, X, frame.misnamed(D))


def test_scorers_of_scikit_learn_in_a_search_of_this_package(frame):
    X, Y = label_sets()
    search = EntmaxClassifierCV([1.0], [1.0], cv=2, scoring="f1_micro")
    search.fit(X, frame(Y))
    assert search.score(X, frame.shuffled(Y)) == search.score(X, Y)
    assert_misnamed(search.score, X, frame.misnamed(Y))


def test_thresholds(frame):
    X, Y = label_sets()
    model = EntmaxClassifier(threshold=0.2).fit(X, frame(Y))
    for cv in None, 3:
        expected = model.set_threshold(LabelCuts(), X, Y, cv=cv).predict(X)
        model.set_threshold(LabelCuts(), X, frame.shuffled(Y), cv=cv)
        assert_array_equal(model.predict(X), expected)
    assert_misnamed(model.set_threshold, "cv", X, frame.misnamed(Y))


def test_class_names_say_the_order(any_frame):
    X, Y = label_sets()
    reference = EntmaxClassifier(threshold=0.2, class_names=NAMES).fit(X, Y)
    model = EntmaxClassifier(threshold=0.2, class_names=NAMES)
    model.fit(X, any_frame.shuffled(Y))
    assert_array_equal(model.classes_, NAMES)
    assert_array_equal(model.coef_, reference.coef_)
    assert_misnamed(model.fit, X, any_frame.misnamed(Y))
    search = EntmaxClassifierCV([1.0], [1.0], cv=2, class_names=NAMES)
    expected = search.fit(X, Y).coef_
    assert_array_equal(search.fit(X, any_frame.shuffled(Y)).coef_, expected)


def test_class_names_and_dask():
    dd = pytest.importorskip("dask.dataframe")
    X, D = distributions()
    names = NAMES[:3]
    X = pd.DataFrame(X, columns=list("wxyz"))
    table = pd.DataFrame(D, columns=names)
    model = SoftmaxClassifier(class_names=names)
    expected = model.fit(X, table).coef_
    shuffled = dd.from_pandas(table[["calm", "sad", "happy"]], 3)
    model.fit(dd.from_pandas(X, 3), shuffled)
    assert_array_equal(model.classes_, names)
    assert_allclose(model.coef_, expected, rtol=1e-3)


@pytest.mark.parametrize(
    "classifier",
    [
        SoftmaxClassifier(),
        SoftmaxClassifier(none_class=True),
        AMSoftmaxClassifier(margin=0.0),
        SigmoidClassifier(),
        SparseSoftmaxClassifier(k=2, tol=0.1),
    ],
    ids=repr,
)
def test_a_warm_start_with_columns_in_another_order(frame, classifier):
    X, Y = label_sets()
    if classifier.none_class:
        Y = Y.copy()
        Y[:9] = 0
    model = classifier.set_params(threshold=0.2, max_iter=200)
    p = model.fit(X, frame(Y)).predict_proba(X)
    # No step is taken: the model is the one that was there.
    model.set_params(warm_start=True, max_iter=0, tol=1.0)
    model.fit(X, frame.shuffled(Y))
    order = SHUFFLED[4]
    assert_array_equal(model.classes_, np.take(NAMES, order))
    assert_allclose(model.predict_proba(X), p[:, order], atol=1e-12)
    refused = r"had the classes \['calm'.*have \['sad', 'happy', 'merry'"
    assert_refused(refused, model.fit, X, frame.misnamed(Y))


def test_a_warm_start_of_two_classes(frame):
    X, D = distributions(n_classes=2)
    model = SoftmaxClassifier().fit(X, frame(D, ["no", "yes"]))
    p = model.predict_proba(X)
    model.set_params(warm_start=True, max_iter=0, tol=1.0)
    model.fit(X, frame(D[:, ::-1], ["yes", "no"]))
    assert_array_equal(model.predict_proba(X), p[:, ::-1])


def test_a_warm_start_from_other_labels():
    X, y = labels()
    model = SoftmaxClassifier(warm_start=True).fit(X, y)
    assert_refused("had the classes", model.fit, X, y + 1)
    # An array has no names, and is matched by position.
    X, D = distributions()
    model = SoftmaxClassifier(warm_start=True).fit(X, D)
    model.fit(X, pd.DataFrame(D, columns=NAMES[:3])).fit(X, D)


@pytest.mark.parametrize("name", list(RULES))
def test_decision_rules(frame, name):
    _, Y = label_sets()
    rng = np.random.default_rng(0)
    p = Y + rng.random(Y.shape)
    p /= p.sum(axis=1, keepdims=True)
    rule = RULES[name]()
    given = {"X": rng.normal(size=(60, 2))}
    reference = RULES[name]().fit(p, Y, **given)
    expected = reference.predict(p, **given)
    rule.fit(frame(p), frame.shuffled(Y), **given)
    assert_array_equal(rule.label_names_, NAMES)
    for probabilities in p, frame(p), frame.shuffled(p):
        assert_array_equal(rule.predict(probabilities, **given), expected)
    assert_misnamed(rule.fit, frame(p), frame.misnamed(Y), **given)
    assert_misnamed(rule.predict, frame.misnamed(p), **given)
    # Only one of two has names.
    rule.fit(p, frame(Y), **given)
    assert_array_equal(rule.predict(frame.shuffled(p), **given), expected)


def test_a_rule_of_labels_in_another_order(frame):
    X, Y = label_sets()
    model = EntmaxClassifier(threshold=0.2).fit(X, frame(Y))
    p = model.predict_proba(X)
    rule = LabelCuts().fit(frame.shuffled(p), frame.shuffled(Y))
    message = r"fitted to the labels \['sad'.*fitted to \['calm', 'sad'"
    assert_refused(message, model.set_threshold, rule)
    model.threshold_ = rule
    assert_refused(message, model.predict, X)
    rule = LabelCuts().fit(frame(p), frame.shuffled(Y))
    assert_array_equal(model.set_threshold(rule).predict(X), rule.predict(p))


MEASURES = [
    canberra_distance,
    chebyshev_distance,
    clark_distance,
    cosine_similarity,
    intersection_similarity,
    kullback_leibler_divergence,
    brier_loss,
]


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.__name__)
def test_measures_of_distributions(frame, measure):
    _, D = distributions()
    p = np.random.default_rng(0).dirichlet(np.ones(3), 60)
    expected = measure(D, p)
    assert measure(frame(D), frame.shuffled(p)) == expected
    assert measure(frame.shuffled(D), frame(p)) == pytest.approx(expected, rel=1e-14)
    # Only one has names.
    assert measure(frame(D), p) == measure(D, frame(p)) == expected
    assert_misnamed(measure, frame(D), frame.misnamed(p))


def test_losses_of_label_sets_and_labels(frame):
    _, Y = label_sets()
    z = np.random.default_rng(0).normal(size=Y.shape)
    expected = fenchel_young_loss(Y, z)
    assert fenchel_young_loss(frame(Y), frame.shuffled(z)) == expected
    assert fenchel_young_loss(frame.shuffled(Y), z, classes=NAMES) == expected
    assert_misnamed(fenchel_young_loss, frame(Y), frame.misnamed(z))
    assert_misnamed(fenchel_young_loss, frame.misnamed(Y), z, classes=NAMES)
    # Labels are the names.
    _, y, *_ = named_labels()
    names, z = sorted(NAMES[:3]), z[:, :3]
    expected = fenchel_young_loss(y, z)
    for classes in None, names:
        value = fenchel_young_loss(y, frame.shuffled(z, names), classes=classes)
        assert value == expected
        assert_misnamed(fenchel_young_loss, y, frame.misnamed(z), classes=classes)


def test_a_measure_of_label_sets(frame):
    _, Y = label_sets()
    predicted = np.roll(Y, 1, axis=0)
    expected = harmonic_macro_f1_score(Y, predicted)
    assert harmonic_macro_f1_score(frame(Y), frame.shuffled(predicted)) == expected
    assert_misnamed(harmonic_macro_f1_score, frame(Y), frame.misnamed(predicted))


def test_searches_of_scikit_learn(frame):
    X, D = distributions()
    for scoring in None, BrierScorer():
        expected = cross_val_score(SoftmaxClassifier(), X, D, cv=3, scoring=scoring)
        model = SoftmaxClassifier(class_names=NAMES[:3])
        scores = cross_val_score(model, X, frame.shuffled(D), cv=3, scoring=scoring)
        assert_array_equal(scores, expected)
        search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3, scoring=scoring)
        search.fit(X, frame(D))
        assert search.score(X, frame.shuffled(D)) == search.score(X, D)


def test_classifiers_of_other_packages(frame):
    """Their classes have no names: a frame is taken by position."""
    X, Y = label_sets()
    model = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    scorer = FenchelYoungScorer("softmax")
    assert scorer(model, X, frame(Y)) == scorer(model, X, Y)
    f1 = make_scorer(harmonic_macro_f1_score)
    assert f1(model, X, frame(Y)) == f1(model, X, Y)


def test_attention(frame):
    for make in label_sets, distributions:
        X, Y = make()
        model = AttentionClassifier().fit(X, frame(Y))
        assert model.score(X, frame.shuffled(Y)) == model.score(X, Y)
        assert_misnamed(model.score, X, frame.misnamed(Y))


def test_displays(frame):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, Y = label_sets()
    model = SparsemaxClassifier(threshold=0.2, C=10.0).fit(X, frame(Y))
    p, predicted = model.predict_proba(X), model.predict(X)
    coverage = SupportSizeDisplay.from_estimator(model, X, Y).coverage
    assert 0 < coverage < 1
    display = SupportSizeDisplay.from_estimator(model, X, frame.shuffled(Y))
    assert display.coverage == coverage
    frames = {"predicted": frame(predicted), "y_true": frame.shuffled(Y)}
    display = SupportSizeDisplay.from_predictions(frame(p), **frames)
    assert display.coverage == coverage
    assert_misnamed(
        SupportSizeDisplay.from_predictions,
        p,
        y_true=frame(Y),
        predicted=frame.misnamed(predicted),
    )
    X, Y, p, predicted = X[:3], Y[:3], p[:3], predicted[:3]
    expected = PredictionDisplay.from_estimator(model, X, Y).target
    display = PredictionDisplay.from_estimator(model, X, frame.shuffled(Y)).target
    assert_array_equal(display, expected)
    frames = {"predicted": frame.shuffled(predicted), "y_true": frame(Y)}
    display = PredictionDisplay.from_predictions(p, **frames)
    assert_array_equal(display.target, expected)
    assert_array_equal(display.predicted, predicted > 0)
    pyplot.close("all")


def test_standard_errors(frame):
    X, _, available, offset = named_labels()
    rng = np.random.default_rng(1)
    y = np.array(sorted(NAMES[:3]))[rng.integers(3, size=60)]
    available |= y[:, None] == sorted(NAMES[:3])
    model = SoftmaxClassifier(C=np.inf, tol=1e-8)
    known = {"available": available, "offset": offset}
    model.fit(X, y, **known)
    names = sorted(NAMES[:3])
    shuffled = {key: frame.shuffled(a, names) for key, a in known.items()}
    expected = coefficient_table(model, X, y, **known)
    assert coefficient_table(model, X, y, **shuffled) == expected
    X, D = distributions()
    model.fit(X, frame(D))
    expected = coefficient_table(model, X, D)
    assert coefficient_table(model, X, frame.shuffled(D)) == expected
    assert_misnamed(coefficient_table, model, X, frame.misnamed(D))


# Names: numbers, defaults, duplicates and other kinds.


def test_numbers_are_names():
    X, D = distributions()
    stars = pd.DataFrame(D, columns=[5, 1, 3])
    model = SoftmaxClassifier().fit(X, stars)
    assert_array_equal(model.classes_, [5, 1, 3])
    assert set(model.predict(X)) == {5, 1, 3}
    assert model.score(X, stars[[1, 3, 5]]) == model.score(X, D)
    assert_refused(r"missing: \['5'\]", model.score, X, stars.rename(columns={5: 4}))
    # Text names the same classes.
    as_text = stars.rename(columns=str)[["1", "3", "5"]]
    assert model.score(X, as_text) == model.score(X, D)


def test_labels_that_are_numbers(frame):
    X, y, available, _ = named_labels()
    y = np.unique(y, return_inverse=True)[1]
    for numbers in np.array([0, 1, 2]), np.array([10, 20, 30]), np.array([1, 2, 3]):
        model = SoftmaxClassifier().fit(X, numbers[y])
        expected = model.predict_proba(X, available=available)
        shuffled = frame.shuffled(available, [str(number) for number in numbers])
        assert_array_equal(model.predict_proba(X, available=shuffled), expected)
        wrong = frame(available, ["a", "b", "c"])
        assert_refused("unexpected: .'a'", model.predict, X, available=wrong)
    table = pd.DataFrame(available, columns=[1, 2, 3])[[3, 1, 2]]
    assert_array_equal(model.predict_proba(X, available=table), expected)


def test_a_frame_made_of_an_array_is_taken_by_position():
    X, y, available, _ = named_labels()
    polars = pytest.importorskip("polars")
    for labels_ in y, np.unique(y, return_inverse=True)[1] + 1:
        model = SoftmaxClassifier().fit(X, labels_)
        expected = model.predict_proba(X, available=available)
        for unnamed in pd.DataFrame(available), polars.DataFrame(available):
            p = model.predict_proba(X, available=unnamed)
            assert_array_equal(p, expected)
    # Default names in another order are refused.
    table = pd.DataFrame(available)[[2, 0, 1]]
    model = SoftmaxClassifier().fit(X, y)
    assert_refused(r"unexpected: \['2', '0', '1'\]", model.predict, X, available=table)
    X, D = distributions()
    for table in pd.DataFrame(D), polars.DataFrame(D):
        model = SoftmaxClassifier().fit(X, table)
        shuffled = table[[table.columns[k] for k in (2, 0, 1)]]
        assert model.score(X, shuffled) == model.score(X, table) == model.score(X, D)
        p = SoftmaxClassifier().fit(X, pd.DataFrame(D, columns=NAMES[:3]))
        assert p.score(X, table) == p.score(X, D)


def test_a_model_without_names_takes_frames_by_position(frame):
    for make in label_sets, distributions:
        X, Y = make()
        model = EntmaxClassifier().fit(X, Y)
        assert model.score(X, frame(Y)) == model.score(X, Y)


@pytest.mark.parametrize("names", [["a", "b", "a"], ["1", 1, "c"]])
def test_a_name_that_is_there_twice(names):
    X, D = distributions()
    twice = pd.DataFrame(D, columns=names)
    model = SoftmaxClassifier().fit(X, pd.DataFrame(D, columns=["a", "b", "1"]))
    # pandas' interface for other libraries refuses the first, too.
    message = "y must (have|be) .*(distinct names|unique column names)"
    for call in SoftmaxClassifier().fit, model.score:
        assert_refused(message, call, X, twice)
    assert_refused(message, BrierScorer(), model, X, twice)
    message = r"must have columns with distinct names"
    assert_refused("offset " + message, model.predict, X, offset=twice)
    assert_refused("available " + message, model.predict, X, available=twice)
    assert_refused("probabilities " + message, brier_loss, D, twice)


def test_names_that_are_neither_text_nor_numbers():
    X, D = distributions()
    for columns in (
        pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)]),
        pd.IntervalIndex.from_breaks([0, 1, 2, 5]),
        pd.date_range("2024-01-01", periods=3),
        ["a", 2, None],
        [0.0, np.nan, 1.0],  # The columns of pandas.get_dummies(dummy_na=True).
    ):
        table = pd.DataFrame(D, columns=columns)
        model = SoftmaxClassifier().fit(X, table)
        assert_array_equal(model.classes_, [str(name) for name in table.columns])
        assert model.score(X, table.iloc[:, [2, 0, 1]]) == model.score(X, D)


def test_a_long_list_of_names_is_shortened():
    table = pd.DataFrame(np.zeros((1, 40)), columns=[f"x{k}" for k in range(40)])
    classes = np.array([f"y{k}" for k in range(40)])
    assert_refused(
        r"unexpected: \['x0'.* 'x9'\] and 30 more", in_order, "y", table, classes
    )


def test_frames_keep_their_kind_and_others_are_left_alone(frame):
    table = frame([[1, 2, 3]])
    _, (first, second) = lined_up(first=table, second=frame.shuffled([[1, 2, 3]]))
    assert first is table
    assert type(second) is type(table)
    assert_array_equal(np.asarray(second), [[1, 2, 3]])
    array = np.ones((2, 3))
    assert in_order("y", array, np.array(NAMES[:3])) is array
    assert names_of_columns("y", array) is None
    assert names_of_columns("y", frame([[1]])) is None


def test_nests_and_loadings_with_names():
    X, y = labels()
    X, y = X[:30], y[:30]
    names = ["calm", "happy", "sad"]
    y, order = np.array(names)[y % 3], [2, 0, 1]
    nests, loadings = [0, 1, 0], np.array([[1.0], [0.0], [3.0]])
    for mapping, parameter, array, named in (
        (NestedSoftmax(scales=0.4), "nests", nests, pd.Series(nests, index=names)),
        (PerturbMax(), "loadings", loadings, pd.DataFrame(loadings, index=names)),
    ):
        fits = [
            LinearClassifier(clone(mapping).set_params(**{parameter: given})).fit(X, y)
            for given in (array, named.iloc[order])
        ]
        assert_array_equal(fits[1].predict_proba(X), fits[0].predict_proba(X))
        wrong = clone(mapping).set_params(
            **{parameter: named.rename({"calm": "merry"})}
        )
        assert_misnamed(LinearClassifier(wrong).fit, X, y)
        part = "entries" if parameter == "nests" else "rows"
        message = f"{parameter} must have the {part} .* Rename the {part}, or give"
        assert_refused(message, LinearClassifier(wrong).fit, X, y)
    learnt = [
        PerturbMaxClassifier(learn_noise=True, loadings=given, n_init=1, tol=0.1).fit(
            X[::2], y[::2]
        )
        for given in (loadings, pd.DataFrame(loadings, index=names).iloc[order])
    ]
    assert_array_equal(learnt[0].loadings_, learnt[1].loadings_)
