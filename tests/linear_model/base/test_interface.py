"""The conventions of scikit-learn around a fit: parameters, copies, frames, routing."""

import ast
import copy
import inspect
import pickle
import re
from textwrap import indent

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr, get_tags

from skprob import (
    EntmaxClassifier,
    LinearClassifier,
    PerturbMaxClassifier,
    SoftmaxClassifier,
)
from skprob.linear_model._docstrings import with_shared_sections
from skprob.losses import LogLoss
from skprob.mappings import Entmax, Sparsemax
from skprob.metrics import BrierScorer

from ...estimators import CLASSES
from ...versions import since_1_8
from ..data_sets import distributions, label_sets, labels

NAMES = ["length", "width", "height", "weight"]

of_every_class = pytest.mark.parametrize(
    "model", CLASSES, ids=lambda model: type(model).__name__
)


def as_pandas(X):
    return pd.DataFrame(X, columns=NAMES)


def as_polars(X):
    return pl.DataFrame(X, schema=NAMES)


FRAMES = [as_pandas, as_polars]


@of_every_class
def test_parameters_are_documented_in_order_with_their_defaults(model):
    cls = type(model)
    section = cls.__doc__.split("Parameters\n")[1].split("Attributes\n")[0]
    documented = [
        line.strip() for line in section.splitlines() if " : " in line and "=" in line
    ]
    signature = inspect.signature(cls).parameters.values()
    assert [line.split(" : ")[0] for line in documented] == [p.name for p in signature]
    for line, parameter in zip(documented, signature, strict=True):
        assert ast.literal_eval(line.split("default=")[1]) == parameter.default


@of_every_class
def test_attributes_are_documented(model):
    """All that some fit sets, and nothing that no fit sets."""
    section = model.__doc__.split("Attributes\n")[1].split("See Also\n")[0]
    documented = re.findall(r"(?m)^ *(\w+) : ", section)
    assert len(documented) == len(set(documented))
    fits = [(clone(model), labels()), (clone(model), label_sets())]
    if isinstance(model, PerturbMaxClassifier):
        learnt = PerturbMaxClassifier("student_t", loss="log", learn_noise=True, tol=1)
        fits += [(learnt, labels()), (clone(learnt).set_params(loadings=1), labels())]
    if "loo_scores_" in documented:
        # The default losses of these two are not convex, which C="loo" needs.
        names = "SparseSoftmaxClassifier", "TaylorSoftmaxClassifier"
        is_refused = type(model).__name__ in names
        convex = LinearClassifier() if is_refused else clone(model)
        fits.append((convex.set_params(C="loo"), labels()))
    if "l1_ratio_" in documented:
        fits.append((clone(model).set_params(l1_ratios=[0.5], cv=2), labels()))
    fitted = set()
    for each, (X, y) in fits:
        each.fit(as_pandas(X), y)
        names = (name for name in dir(each) if re.fullmatch(r"[A-Za-z]\w*_", name))
        fitted |= {name for name in names if hasattr(each, name)}
    assert set(documented) == fitted


@pytest.mark.parametrize("margin", ["", "    "])
def test_shared_sections_are_indented_as_the_docstring_is(margin):
    """From Python 3.13 the compiler takes the indentation of docstrings away."""

    class Own(LinearClassifier):
        pass

    Own.__doc__ = "Own.\n\n" + indent(
        "Parameters\n---\nC : float, default=2.0\n{parameters}\n\n"
        "Attributes\n---\nC_ : float\n    The C.\n{attributes}\n",
        margin,
    )
    names = re.findall(rf"(?m)^{margin}(\w+) : ", with_shared_sections(Own).__doc__)
    assert {"C", "tol", "C_", "coef_"} < set(names)
    assert len(names) == len(set(names))


@of_every_class
def test_every_parameter_is_kept_as_it_is_given(model):
    cls = type(model)
    given = {name: object() for name in inspect.signature(cls).parameters}
    model = cls(**given)
    assert {name: getattr(model, name) for name in given} == given
    assert model.get_params(deep=False) == given


@of_every_class
def test_tags(model):
    tags = get_tags(model)
    assert tags.input_tags.sparse
    assert tags.classifier_tags.multi_label
    # Without an intercept no class can be favoured for every x.
    assert tags.classifier_tags.poor_score == (model.similarity == "cosine")


def test_nested_parameters():
    model = LinearClassifier(Entmax(alpha=1.2), loss=LogLoss(epsilon=0.1))
    parameters = model.get_params()
    assert (parameters["mapping__alpha"], parameters["loss__epsilon"]) == (1.2, 0.1)
    model.set_params(mapping__alpha=1.9, loss__epsilon=0.2, C=3)
    assert (model.mapping.alpha, model.loss.epsilon, model.C) == (1.9, 0.2, 3)
    model.set_params(mapping=Sparsemax(), loss="auto")
    assert "mapping__alpha" not in model.get_params()
    with pytest.raises(ValueError, match="Invalid parameter 'beta'"):
        model.set_params(beta=1)


def test_a_subclass_has_its_own_parameters():
    class Shifted(SoftmaxClassifier):
        def __init__(self, *, shift=0.0, C=1.0):
            super().__init__(C=C)
            self.shift = shift

    assert "C" in SoftmaxClassifier().get_params()
    assert Shifted(shift=2.0).get_params() == {"shift": 2.0, "C": 1.0}
    assert "shift" not in SoftmaxClassifier().get_params()


def test_representations():
    assert repr(EntmaxClassifier()) == "EntmaxClassifier()"
    assert repr(EntmaxClassifier(1.2, C=2)) == "EntmaxClassifier(C=2, alpha=1.2)"
    model = LinearClassifier(Entmax(1.2))
    assert repr(model) == "LinearClassifier(mapping=Entmax(alpha=1.2))"


@of_every_class
def test_the_html_representation_links_to_no_page_that_is_not_there(model):
    # A fit adds a table of attributes, whose links are made in the same way.
    is_first = type(model) is type(CLASSES[0])
    for classifier in (model, clone(model).fit(*labels()))[: 2 if is_first else 1]:
        html = estimator_html_repr(make_pipeline(StandardScaler(), classifier))
        links = re.findall(r'href="([^"]+)"', html)
        assert any("StandardScaler" in link for link in links)
        assert not any("skprob" in link for link in links)


def test_copies_of_a_fitted_model(sample_classifier, tmp_path):
    check_copies(
        sample_classifier.set_params(threshold=0.2).fit(*label_sets()), tmp_path
    )


@pytest.mark.parametrize("load", [labels, distributions])
def test_copies_of_a_model_of_another_kind(load, tmp_path):
    check_copies(EntmaxClassifier().fit(*load()), tmp_path)


def check_copies(model, folder):
    X, _ = label_sets()
    joblib.dump(model, folder / "model.joblib")
    copies = [
        pickle.loads(pickle.dumps(model)),
        joblib.load(folder / "model.joblib"),
        copy.deepcopy(model),
    ]
    for other in copies:
        assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert_array_equal(other.predict(X), model.predict(X))
    assert not hasattr(clone(model), "coef_")
    assert repr(clone(model)) == repr(model)


def test_before_the_fit(sample_classifier):
    X, y = labels()
    for method in ("predict", "predict_proba", "predict_log_proba"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(sample_classifier, method)(X)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        sample_classifier.score(X, y)


@pytest.mark.parametrize("frame", FRAMES)
def test_data_frames(sample_classifier, frame):
    X, y = labels()
    model = clone(sample_classifier).fit(frame(X), y)
    assert_array_equal(model.feature_names_in_, NAMES)
    assert model.n_features_in_ == 4
    assert_allclose(model.coef_, sample_classifier.fit(X, y).coef_, atol=1e-6)
    assert_array_equal(model.predict(frame(X)), sample_classifier.predict(X))
    assert not hasattr(sample_classifier, "feature_names_in_")


@pytest.mark.parametrize("frame", FRAMES)
def test_features_that_differ_at_predict(frame):
    X, y = labels()
    model = EntmaxClassifier().fit(frame(X), y)
    swapped, missing = ["width", "length", "height", "weight"], NAMES[:3]
    with pytest.raises(
        ValueError, match=r"(?s)^The feature names.*must be in the same order"
    ):
        model.predict(frame(X)[swapped])
    with pytest.raises(
        ValueError, match=r"(?s)^The feature names.*yet now missing.*weight"
    ):
        model.predict_proba(frame(X)[missing])
    renamed = frame(X).rename({"weight": "mass"}) if frame is as_polars else None
    renamed = (
        as_pandas(X).rename(columns={"weight": "mass"}) if renamed is None else renamed
    )
    with pytest.raises(
        ValueError, match=r"(?s)^The feature names.*unseen at fit time.*mass"
    ):
        model.score(renamed, y)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X)
    model = EntmaxClassifier().fit(X, y)
    with pytest.warns(UserWarning, match="fitted without feature names"):
        model.predict(frame(X))


@pytest.mark.parametrize("names", [["a", "b", "c"], [0, 1, 2], [True, False, True]])
def test_series_of_labels(names):
    X, codes = labels()
    y = np.array(names)[codes]
    reference = EntmaxClassifier().fit(X, y)
    series = [pd.Series(y), pl.Series(y.tolist()), y.tolist()]
    series += [pd.Series(y.tolist(), dtype=object)]
    if names[0] == "a":
        series += [
            pd.Series(y, dtype="category"),
            pl.Series(y.tolist(), dtype=pl.Categorical),
        ]
    for other in series:
        model = EntmaxClassifier().fit(X, other)
        assert_array_equal(model.classes_, reference.classes_)
        assert_array_equal(model.coef_, reference.coef_)
        assert model.score(X, other) == reference.score(X, y)


@pytest.mark.parametrize("load", [label_sets, distributions])
def test_frames_of_targets(load):
    X, Y = load()
    threshold = 0.2 if load is label_sets else "auto"
    reference = EntmaxClassifier(threshold=threshold).fit(X, Y)
    for other in (pd.DataFrame(Y), pl.DataFrame(Y), Y.tolist()):
        model = EntmaxClassifier(threshold=threshold).fit(X, other)
        assert model.target_type_ == reference.target_type_
        assert_array_equal(model.coef_, reference.coef_)
        assert model.score(X, other) == reference.score(X, Y)


@pytest.mark.parametrize("container", [pd.Series, pl.Series, list])
def test_series_of_weights(container):
    X, y = labels()
    weight = np.arange(1.0, 61)
    model = EntmaxClassifier().fit(X, y, sample_weight=container(weight))
    reference = EntmaxClassifier().fit(X, y, sample_weight=weight)
    assert_array_equal(model.coef_, reference.coef_)
    assert model.score(X, y, container(weight)) == reference.score(X, y, weight)


@since_1_8
def test_sample_weight_is_routed_through_pipelines_and_searches():
    X, y = labels()
    weight = np.where(y == 0, 5.0, 1.0)
    with config_context(enable_metadata_routing=True):
        classifier = EntmaxClassifier(1.5).set_fit_request(sample_weight=True)
        classifier.set_score_request(sample_weight=True)
        model = make_pipeline(StandardScaler(), classifier)
        model[0].set_fit_request(sample_weight=False)
        model.fit(X, y, sample_weight=weight)
        scaled = StandardScaler().fit_transform(X)
        reference = EntmaxClassifier(1.5).fit(scaled, y, sample_weight=weight)
        assert_array_equal(model[-1].coef_, reference.coef_)
        assert model.score(X, y, sample_weight=weight) == reference.score(
            scaled, y, sample_weight=weight
        )
        grid = {"entmaxclassifier__C": [0.1, 1.0]}
        search = GridSearchCV(model, grid, cv=2).fit(X, y, sample_weight=weight)
        reference.set_params(C=search.best_params_["entmaxclassifier__C"])
        reference.fit(scaled, y, sample_weight=weight)
        assert_array_equal(search.best_estimator_[-1].coef_, reference.coef_)
        # A scorer gets the weights if it asks for them.
        scores = {}
        for asks in (True, False):
            scorer = BrierScorer().set_score_request(sample_weight=asks)
            scores[asks] = cross_validate(
                model, X, y, params={"sample_weight": weight}, scoring=scorer, cv=2
            )["test_score"]
        assert (scores[True] != scores[False]).all()


def test_sample_weight_that_nobody_asked_for_is_an_error():
    X, y = labels()
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(SoftmaxClassifier(), {"C": [1.0]}, cv=2)
        with pytest.raises(ValueError, match="sample_weight"):
            search.fit(X, y, sample_weight=np.ones(60))


def test_weights_in_a_search_without_routing_reach_fit_and_score():
    X, y = labels()
    weight = np.where(y == 0, 5.0, 1.0)
    search = GridSearchCV(
        EntmaxClassifier(),
        {"C": [0.1, 1.0]},
        scoring={"brier": BrierScorer()},
        refit="brier",
        cv=2,
    ).fit(X, y, sample_weight=weight)
    reference = EntmaxClassifier(**search.best_params_).fit(X, y, sample_weight=weight)
    assert_array_equal(search.best_estimator_.coef_, reference.coef_)
