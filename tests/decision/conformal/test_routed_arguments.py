"""Sets where the classifier takes arguments about rows: available classes, offsets."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import VotingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    EntmaxClassifier,
    EntmaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
)
from skprob.decision import ConformalSets

FOLDS = KFold(3, shuffle=True, random_state=0)


def rows_with_choice_sets(n_classes=4, n_samples=240):
    """Rows whose class depends on features, offsets and the classes on offer."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 3))
    offset = 2 * rng.normal(size=(n_samples, n_classes))
    available = rng.random((n_samples, n_classes)) < 0.6
    available[np.arange(n_samples), rng.integers(n_classes, size=n_samples)] = True
    noise = rng.gumbel(size=(n_samples, n_classes))
    utility = X @ rng.normal(size=(3, n_classes)) + offset + noise
    y = np.where(available, utility, -np.inf).argmax(axis=1)
    return X, y, {"available": available, "offset": offset}


def of_rows(arguments, rows):
    return {name: array[rows] for name, array in arguments.items()}


def nonconformity(score_function, model, X, arguments, alpha=1.5):
    """Nonconformity of the available classes, by loops; infinity for the others."""
    z = model.decision_function(X, **arguments)
    if z.ndim == 1:
        z = np.stack([-z / 2, z / 2], axis=1)
    p = model.predict_proba(X, **arguments)
    available = arguments["available"]
    result = np.full(p.shape, np.inf)
    for i, k in np.argwhere(available):
        if score_function == "threshold":
            result[i, k] = 1 - p[i, k]
        elif score_function == "adaptive":
            result[i, k] = p[i][available[i] & (p[i] >= p[i, k])].sum()
        else:
            better = z[i][available[i] & (z[i] > z[i, k])]
            result[i, k] = ((better - z[i, k]) ** (1 / (alpha - 1))).sum() ** (
                alpha - 1
            )
    if score_function != "entmax":
        result[np.arange(len(p)), p.argmax(axis=1)] = 0
    return result


@pytest.mark.parametrize(
    ("score_function", "inner", "by", "n_classes"),
    [
        ("entmax", SoftmaxClassifier(), "class", 2),
        ("entmax", EntmaxClassifier(), None, 4),
        ("threshold", EntmaxClassifier(), None, 2),
        ("threshold", SoftmaxClassifier(), "class", 4),
        ("adaptive", SoftmaxClassifier(), "class", 2),
        ("adaptive", EntmaxClassifier(), None, 4),
    ],
    ids=str,
)
def test_left_out_rows_have_their_arguments(score_function, inner, by, n_classes):
    """They were predicted without, as if all classes were available."""
    X, y, arguments = rows_with_choice_sets(n_classes)
    model = ConformalSets(
        inner, coverage=0.8, score_function=score_function, by=by, cv=FOLDS
    )
    model.fit(X, y, **arguments)
    scores = np.empty(arguments["offset"].shape)
    for train, left_out in FOLDS.split(X):
        of_fold = clone(inner).fit(X[train], y[train], **of_rows(arguments, train))
        scores[left_out] = nonconformity(
            score_function, of_fold, X[left_out], of_rows(arguments, left_out)
        )
    limit = np.empty(n_classes)
    for k in range(n_classes):
        rows = np.arange(len(y)) if by is None else np.flatnonzero(y == k)
        rank = int(np.ceil(round((len(rows) + 1) * 0.8, 9)))
        limit[k] = np.sort(scores[rows, y[rows]])[rank - 1]
    assert_allclose(model.quantile_, limit if by else limit[0], rtol=1e-9, atol=1e-12)
    fitted = clone(inner).fit(X, y, **arguments)
    expected = nonconformity(score_function, fitted, X, arguments) <= limit * (
        1 + 1e-12
    )
    sets = model.predict_set(X, **arguments)
    assert_array_equal(sets, expected)
    assert not sets[~arguments["available"]].any()
    p = model.predict_proba(X, **arguments)
    assert_allclose(p.sum(axis=1), 1)
    not_empty = sets.any(axis=1)
    assert_array_equal(p[not_empty] > 0, sets[not_empty])
    assert not p[~arguments["available"]].any()
    best = fitted.predict(X, **arguments)
    assert_array_equal(model.predict(X, **arguments), best)
    weight = np.arange(len(y)) % 3
    accuracy = np.average(best == y, weights=weight)
    assert model.score(X, y, weight, **arguments) == pytest.approx(accuracy)


def test_known_parts_make_sets_small():
    """Without the offsets the sets had to cover all that is known from them."""
    X, y, arguments = rows_with_choice_sets()
    offset = {"offset": 4 * arguments["offset"]}
    y = (offset["offset"] + np.random.default_rng(1).gumbel(size=(240, 4))).argmax(1)
    sets = ConformalSets(SoftmaxClassifier()).fit(X, y, **offset)
    size = sets.predict_set(X, **offset).sum(axis=1).mean()
    without = ConformalSets(SoftmaxClassifier()).fit(X, y).predict_set(X)
    assert size < 1.5 < without.sum(axis=1).mean()


def test_unavailable_labels_are_in_no_set():
    X, _, arguments = rows_with_choice_sets()
    available = arguments["available"]
    Y = (available & (np.random.default_rng(1).random(available.shape) < 0.5)) * 1
    names = list("dbca")
    frames = [pd.DataFrame(a, columns=names) for a in (Y, available)]
    for inner, score_function in (
        (EntmaxClassifier(), "entmax"),
        (SigmoidClassifier(2.0), "threshold"),
    ):
        model = ConformalSets(inner, score_function=score_function, cv=FOLDS)
        model.fit(X, frames[0], available=frames[1])
        sets = model.predict_set(X, available=frames[1][list("abcd")])
        assert not sets[~available].any()
        assert sets[Y == 1].mean() > 0.85
        p = model.predict_proba(X, available=available)
        assert_array_equal(p > 0, sets == 1)


def test_a_fitted_classifier_gets_the_arguments():
    X, y, arguments = rows_with_choice_sets()
    inner = SoftmaxClassifier().fit(
        X[::2], y[::2], **of_rows(arguments, slice(0, 240, 2))
    )
    rows = slice(1, 240, 2)
    model = ConformalSets(inner, cv="prefit")
    model.fit(X[rows], y[rows], **of_rows(arguments, rows))
    scores = nonconformity("entmax", inner, X[rows], of_rows(arguments, rows))
    expected = np.sort(scores[np.arange(120), y[rows]])[int(np.ceil(121 * 0.9)) - 1]
    assert model.quantile_ == pytest.approx(expected, rel=1e-12)
    wrong = arguments["available"].copy()
    wrong[3, y[3]] = False
    with pytest.raises(ValueError, match="class of row 3 is not available"):
        model.fit(X, y, available=wrong)
    with pytest.raises(ValueError, match=r"arguments of decision_function.*'groups'"):
        model.fit(X, y, groups=y)


def test_arguments_that_differ_from_those_of_the_calibration():
    X, y, arguments = rows_with_choice_sets()
    model = ConformalSets(SoftmaxClassifier(), cv=FOLDS)
    model.fit(X, y, offset=arguments["offset"], available=None)
    for method in (model.predict_set, model.predict, model.predict_proba):
        with pytest.raises(ValueError, match=r"in fit, \['offset'\]; got \[\]"):
            method(X)
        with pytest.raises(ValueError, match=r"got \['available', 'offset'\]"):
            method(X, **arguments)
    with pytest.raises(ValueError, match=r"in fit, \['offset'\]; got \[\]"):
        model.score(X, y)
    with pytest.raises(ValueError, match=r"in fit, \[\]; got \['offset'\]"):
        model.fit(X, y).predict_set(X, offset=arguments["offset"])


class Verbose(GaussianNB):
    """An option of ``fit`` and of ``predict_proba`` has the same name."""

    def fit(self, X, y, verbose=True):
        assert not verbose
        return super().fit(X, y)

    def predict_proba(self, X, verbose=None):
        assert verbose is None
        return super().predict_proba(X)


def test_options_of_the_fit_are_not_of_predictions():
    X, y, _ = rows_with_choice_sets()
    model = ConformalSets(Verbose()).fit(X, y, verbose=False)
    expected = ConformalSets(GaussianNB()).fit(X, y)
    assert_array_equal(model.predict_set(X), expected.predict_set(X))


@pytest.mark.parametrize(
    ("score_function", "by"), [("entmax", "class"), ("threshold", None)]
)
def test_routed_arguments_give_the_same_sets(score_function, by):
    X, y, arguments = rows_with_choice_sets()
    X = StandardScaler().fit_transform(X)
    model = ConformalSets(
        SoftmaxClassifier(), coverage=0.7, score_function=score_function, by=by
    )
    expected = clone(model).fit(X, y, **arguments)
    methods = "predict_set", "predict", "predict_proba"
    results = {name: getattr(expected, name)(X, **arguments) for name in methods}
    accuracy = expected.score(X, y, **arguments)
    request = dict.fromkeys(arguments, True)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = SoftmaxClassifier().set_fit_request(**request)
        with pytest.raises(UnsetMetadataPassedError, match="available"):
            clone(model).set_params(estimator=inner).fit(X, y, **arguments)
        inner.set_decision_function_request(**request)
        inner.set_predict_proba_request(**request)
        for estimator in (inner, make_pipeline(StandardScaler(), inner)):
            routed = clone(model).set_params(estimator=estimator)
            routed.fit(X, y, **arguments)
            assert_allclose(routed.quantile_, expected.quantile_, rtol=1e-6)
            for name, result in results.items():
                routed_result = getattr(routed, name)(X, **arguments)
                assert_allclose(routed_result, result, atol=1e-6)
            assert routed.score(X, y, **arguments) == accuracy
            routed.set_params(score_function="adaptive", by=None)
            p = routed.predict_proba(X, **arguments)
            assert_allclose(p, results["predict_proba"], atol=1e-6)
        # Arguments that its predictions decline are used in the fit alone.
        decline = dict.fromkeys(arguments, False)
        inner.set_decision_function_request(**decline)
        inner.set_predict_proba_request(**decline)
        routed = clone(model).set_params(estimator=inner).fit(X, y, **arguments)
        assert routed.predict_set(X).shape == (240, 4)
        with pytest.raises(ValueError, match=r"in fit, \[\]; got"):
            routed.predict_set(X, **arguments)


@pytest.mark.parametrize("score_function", ["entmax", "threshold", "adaptive"])
def test_aliases_of_routed_arguments_give_the_same_sets(score_function):
    """New rows needed the argument's name, and pipelines had unavailable classes."""
    X, y, arguments = rows_with_choice_sets()
    X, available = StandardScaler().fit_transform(X), arguments["available"]
    model = ConformalSets(
        SoftmaxClassifier(), coverage=0.99, score_function=score_function, cv=FOLDS
    )
    expected = clone(model).fit(X, y, available=available)
    expected = expected.predict_set(X, available=available)
    with sklearn.config_context(enable_metadata_routing=True):
        inner = SoftmaxClassifier().set_fit_request(available="shops")
        inner.set_decision_function_request(available="shops")
        inner.set_predict_proba_request(available="shops")
        for estimator in (inner, make_pipeline(inner)):
            routed = clone(model).set_params(estimator=estimator)
            routed.fit(X, y, shops=available)
            assert_array_equal(routed.predict_set(X, shops=available), expected)
            assert not routed.predict_proba(X, shops=available)[~available].any()
            with pytest.raises(ValueError, match=r"\['shops'\]; got \['available'\]"):
                routed.predict_set(X, available=available)


def test_wrong_arguments_of_new_rows_are_refused():
    """The errors said that no argument was given."""
    X, y, arguments = rows_with_choice_sets()
    model = ConformalSets(SoftmaxClassifier(), cv=FOLDS).fit(X, y, **arguments)
    for name, wrong in (
        ("offset", 1.0),
        ("available", sparse.csr_array(arguments["available"])),
        ("offset", arguments["offset"][:-1]),
    ):
        with pytest.raises(ValueError, match=f"^{name} must"):
            model.predict_set(X, **{**arguments, name: wrong})


def test_a_fitted_pipeline_needs_metadata_routing():
    X, y, arguments = rows_with_choice_sets()
    inner = make_pipeline(SoftmaxClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="metadata routing for a pipeline"):
        ConformalSets(inner, cv="prefit").fit(X, y, **arguments)


def requesting(model):
    """The classifier, which requests choice sets where routing is enabled."""
    if sklearn.get_config()["enable_metadata_routing"]:
        for method in ("fit", "score", "decision_function", "predict_proba"):
            if hasattr(model, f"set_{method}_request"):
                getattr(model, f"set_{method}_request")(available=True)
    return model


def in_pipeline(model):
    return Pipeline([("scale", StandardScaler()), ("last", model)])


def in_search(model):
    name = "last__C" if isinstance(model, Pipeline) else "C"
    return GridSearchCV(model, {name: [0.5]}, cv=2)


def one_fit():
    return requesting(SoftmaxClassifier(C=0.5))


AROUND = {
    "search": lambda: in_search(requesting(SoftmaxClassifier())),
    "pipeline": lambda: in_pipeline(one_fit()),
    "search of a pipeline": lambda: in_search(in_pipeline(one_fit())),
    "pipeline of a search": lambda: in_pipeline(in_search(one_fit())),
    "own search": lambda: requesting(EntmaxClassifierCV([1], [0.5], cv=2)),
    "pipeline of own search": lambda: in_pipeline(
        requesting(EntmaxClassifierCV([1], [0.5], cv=2))
    ),
}


@pytest.mark.parametrize(
    ("is_routed", "score_function"), [(False, "entmax"), (True, "threshold")]
)
@pytest.mark.parametrize("around", AROUND)
def test_choice_sets_reach_the_model_inside(around, score_function, is_routed):
    """Searches and pipelines were calibrated as if all classes were available."""
    X, y, arguments = rows_with_choice_sets()
    X, available = StandardScaler().fit_transform(X), arguments["available"]
    sets = ConformalSets(
        SoftmaxClassifier(C=0.5), coverage=0.8, score_function=score_function, cv=FOLDS
    )
    expected = clone(sets).fit(X, y, available=available)
    with sklearn.config_context(enable_metadata_routing=is_routed):
        inner = AROUND[around]()
        is_step = "pipeline" in around and not is_routed
        given = {"last__available" if is_step else "available": available}
        model = clone(sets).set_params(estimator=inner)
        if around == "pipeline of a search" and is_routed:
            with pytest.raises(ValueError, match="and Pipeline predicts without it"):
                model.fit(X, y, **given)
            return
        model.fit(X, y, **given)
        # Scalers of the folds differ a little.
        assert model.quantile_ == pytest.approx(expected.quantile_, rel=0.02)
        fitted, rows = clone(inner).fit(X, y, **given), slice(None, None, 2)
        plain = one_fit().fit(X, y, available=available)
        plain = clone(sets).set_params(estimator=plain, cv="prefit")
        plain.fit(X[rows], y[rows], available=available[rows])
        for estimator in (fitted, FrozenEstimator(fitted)):
            prefit = clone(sets).set_params(estimator=estimator, cv="prefit")
            prefit.fit(X[rows], y[rows], **of_rows(given, rows))
            assert prefit.quantile_ == pytest.approx(plain.quantile_, rel=1e-4)
            for method in ("predict_set", "predict", "predict_proba"):
                result = getattr(prefit, method)(X, **given)
                target = getattr(plain, method)(X, available=available)
                assert_allclose(result, target, atol=1e-4)
            with pytest.raises(ValueError, match="rows were predicted in fit"):
                prefit.predict_set(X)


@pytest.mark.parametrize("is_routed", [False, True])
@pytest.mark.parametrize("cv", [2, "prefit"])
def test_estimators_that_predict_without_choice_sets(cv, is_routed):
    """Their sets had unavailable classes, without an error."""
    X, y, arguments = rows_with_choice_sets()
    given = {"available": arguments["available"]}
    with sklearn.config_context(enable_metadata_routing=is_routed):
        inners = [CalibratedClassifierCV(one_fit(), cv=2)]
        if is_routed:
            inners.append(VotingClassifier([("one", one_fit())], voting="soft"))
        for inner in inners:
            if cv == "prefit":
                inner.fit(X, y, **given)
            name = type(inner).__name__
            message = f"available is an argument .* Softmax.* and {name} predicts with"
            with pytest.raises(ValueError, match=message):
                ConformalSets(inner, cv=cv).fit(X, y, **given)
            # Choice sets that the model declines in predictions are of its fit alone.
            if is_routed and cv == 2:
                model = one_fit().set_decision_function_request(available=False)
                model.set_predict_proba_request(available=False)
                inner = CalibratedClassifierCV(model, cv=2)
                sets = ConformalSets(inner, cv=cv).fit(X, y, **given).predict_set(X)
                assert sets.shape == (240, 4)


def test_onnx_has_no_input_for_them():
    X, y, arguments = rows_with_choice_sets()
    model = ConformalSets(SoftmaxClassifier()).fit(X, y, **arguments)
    with pytest.raises(NotImplementedError, match=r"\['available', 'offset'\]"):
        model.onnx_parser()


def test_groups_need_metadata_routing():
    """The error said that groups were None."""
    X, y, _ = rows_with_choice_sets()
    model = ConformalSets(SoftmaxClassifier(), cv=GroupKFold(3))
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        model.fit(X, y, groups=np.arange(240) % 10)
