"""Models that are saved and loaded, and what whoever loads them has to trust."""

import copy
import io
import pickle
import re
import sys
import zipfile

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    LinearClassifier,
    SigmoidClassifier,
    SparsemaxClassifier,
)
from skprob.attention import AttentionClassifier
from skprob.decision import ExampleF1, LeastCost
from skprob.losses import LogLoss
from skprob.mappings import Entmax, Mapping, Softmax, Temperature

from .linear_model.data_sets import label_sets, labels


def by_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


def by_skops(model):
    skops = pytest.importorskip("skops.io", reason="needs the extra skprob[test]")
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    assert types == [f"skprob.linear_model.{type(model).__name__}"]
    return skops.loads(data, trusted=types)


def by_pickle(model):
    data = pickle.dumps(model)
    # Where in a package a class is defined is not saved.
    assert re.findall(rb"skprob\.[\w.]+", data)
    assert not re.findall(rb"skprob\.[\w.]*\b_\w+", data)
    return pickle.loads(data)


WAYS = [by_pickle, by_joblib, by_skops]


def assert_same_predictions(loaded, model, X):
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert_array_equal(loaded.predict(X), model.predict(X))
    assert repr(loaded) == repr(model)


def test_every_classifier(classifier):
    X, y = labels()
    model = classifier.set_params(tol=0.1).fit(X, y)
    copies = [save(model) for save in WAYS]
    for loaded in copies:
        assert_same_predictions(loaded, model, X)
        assert repr(loaded.mapping_) == repr(model.mapping_)
        assert repr(loaded.loss_) == repr(model.loss_)
    # They are whole: a fit of one is that of the original.
    expected = model.fit(X, y).coef_
    for loaded in copies:
        assert_array_equal(loaded.fit(X, y).coef_, expected)


@pytest.mark.parametrize("save", WAYS)
@pytest.mark.parametrize(
    "model",
    [
        SparsemaxClassifier(),
        SigmoidClassifier(alpha=2.0, threshold="common_cut"),
        EntmaxClassifier(threshold=ExampleF1()),
        LinearClassifier(Temperature(Entmax(1.2), 0.5), LogLoss()),
    ],
    ids=str,
)
def test_label_sets(model, save):
    X, Y = label_sets()
    assert_same_predictions(save(model.fit(X, Y)), model, X)


@pytest.mark.parametrize("save", WAYS)
def test_pandas_objects_of_parameters(save):
    """skops cannot save them: they are saved as arrays and names."""
    X, y = labels()
    names = np.array(["b", "c", "a"])
    costs = pd.DataFrame([[0, 2, 1], [5, 0, 1], [1, 1, 0]], index=names, columns=names)
    factors = pd.Series([1.0, 2.0, 0.5, 1.0], index=list("wxyz"))
    model = SparsemaxClassifier(threshold=LeastCost(costs), margin=costs, C=0.1)
    model.set_params(penalty_factors=factors).fit(X, names[y])
    loaded = save(model)
    assert_same_predictions(loaded, model, X)
    pd.testing.assert_frame_equal(loaded.threshold.costs, costs)
    pd.testing.assert_frame_equal(loaded.margin, costs)
    pd.testing.assert_series_equal(loaded.penalty_factors, factors)
    assert_array_equal(loaded.fit(X, names[y]).coef_, model.coef_)


@pytest.mark.parametrize("save", [by_pickle, by_joblib])
def test_attention(save):
    X, Y = label_sets()
    model = AttentionClassifier(Entmax(1.2)).fit(X, Y)
    assert_same_predictions(save(model), model, X)


@pytest.mark.parametrize("save", WAYS)
def test_before_a_fit(save):
    X, _ = labels()
    loaded = save(LinearClassifier(Entmax(1.2)))
    with pytest.raises(NotFittedError):
        loaded.predict(X)


def test_a_copy_in_memory_shares_what_was_fitted():
    X, y = labels()
    model = EntmaxClassifier(1.2, tol=0.1).fit(X, y)
    before = dict(vars(model))
    copied = copy.copy(model)
    assert type(copied) is EntmaxClassifier
    assert vars(copied).keys() == before.keys()
    assert all(vars(copied)[name] is value for name, value in before.items())
    copied.coef_ = 2 * model.coef_
    assert model.coef_ is before["coef_"]
    assert_same_predictions(copy.deepcopy(model), model, X)


def test_a_pipeline():
    skops = pytest.importorskip("skops.io", reason="needs the extra skprob[test]")
    X, y = labels()
    model = make_pipeline(StandardScaler(), AMSoftmaxClassifier()).fit(X, y)
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    assert types == ["skprob.linear_model.AMSoftmaxClassifier"]
    assert_same_predictions(skops.loads(data, trusted=types), model, X)


class Doubled(Mapping):
    def probabilities(self, scores):
        return Softmax().probabilities(2 * scores)


def test_a_mapping_of_ones_own_is_the_second_type():
    skops = pytest.importorskip("skops.io", reason="needs the extra skprob[test]")
    X, y = labels()
    model = LinearClassifier(Doubled()).fit(X, y)
    data = skops.dumps(model)
    types = skops.get_untrusted_types(data=data)
    class_path = f"{Doubled.__module__}.Doubled"
    assert sorted(types) == sorted(["skprob.linear_model.LinearClassifier", class_path])
    # It can be loaded where its module can be imported.
    assert_same_predictions(pickle.loads(pickle.dumps(model)), model, X)


def test_what_this_version_does_not_have_is_named():
    state = LinearClassifier(Entmax()).__getstate__()
    for name in (
        "skprob.mappings.Sharpmax",
        "skprob.mappings.entmax._entmax.Entmax",
        "os.sep",
    ):
        state["mapping"]["class of skprob"] = name
        with pytest.raises(ValueError, match=f"saved with {name}, which this version"):
            LinearClassifier().__setstate__(state)


@pytest.fixture
def hostile_module(monkeypatch, tmp_path):
    """Name of a module that can be imported, and fails the test when it is."""
    (tmp_path / "hostile.py").write_text("raise SystemExit('hostile code ran')\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "hostile"
    assert "hostile" not in sys.modules


NAMES_OF_OTHERS = [
    "{}.Softmax",
    "{}.skprob.mappings.Softmax",
    "skprob.{}.Softmax",
    "skprob.mappings.{}.Softmax",
    "{}",
]


@pytest.mark.parametrize("name", NAMES_OF_OTHERS)
def test_a_skops_file_imports_no_other_module(hostile_module, monkeypatch, name):
    skops = pytest.importorskip("skops.io", reason="needs the extra skprob[test]")
    # Also where it could be found inside the package.
    folder = str(sys.path[0])
    for package in ("skprob", "skprob.mappings"):
        module = sys.modules[package]
        monkeypatch.setattr(module, "__path__", [*module.__path__, folder])
    original = io.BytesIO(skops.dumps(EntmaxClassifier().fit(*labels())))
    name, changed = name.format(hostile_module), io.BytesIO()
    with zipfile.ZipFile(original) as old, zipfile.ZipFile(changed, "w") as new:
        for file in old.namelist():
            content = old.read(file)
            if file == "schema.json":
                assert b"skprob.mappings.Entmax" in content
                content = content.replace(b"skprob.mappings.Entmax", name.encode())
            new.writestr(file, content)
    data = changed.getvalue()
    trusted = ["skprob.linear_model.EntmaxClassifier"]
    assert skops.get_untrusted_types(data=data) == trusted
    with pytest.raises(ValueError, match=f"saved with {name}, which this version"):
        skops.loads(data, trusted=trusted)


@pytest.mark.parametrize(
    "name",
    [
        "skprob.mappings.softmax",
        "skprob.mappings.MAPPINGS",
        "skprob.mappings.MappingLike",
        "skprob.mappings.np",
        "skprob.mappings",
        "skprob",
        "skprob.__init__.Entmax",
        ".mappings.Entmax",
        "",
        ["skprob.mappings.Entmax"],
        None,
    ],
    ids=repr,
)
def test_only_public_classes_are_restored(name):
    state = LinearClassifier(Entmax()).__getstate__()
    state["mapping"]["class of skprob"] = name
    message = re.escape(f"saved with {name}, which this version")
    with pytest.raises(ValueError, match=message):
        LinearClassifier().__setstate__(state)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_coefficients(n_classes):
    X, y = labels(n_classes)
    X[:, 1] = 0
    model = EntmaxClassifier().fit(X, y)
    coef, p = model.coef_, model.predict_proba(X)
    assert model.sparsify() is model
    assert model.coef_.format == "csr"
    assert model.coef_.nnz == coef.size * 3 // 4
    for loaded in (model, by_pickle(model)):
        for rows in (X, X.astype(np.float32)):
            np.testing.assert_allclose(loaded.predict_proba(rows), p, atol=1e-6)
        assert_array_equal(loaded.predict(X), p.argmax(axis=1))
        assert loaded.decision_function(X).shape == model.decision_function(X).shape
    assert_array_equal(model.densify().coef_, coef)
    assert model.densify() is model
    again = model.sparsify().set_params(warm_start=True).fit(X, y)
    assert isinstance(again.coef_, np.ndarray)
    assert again.n_iter_ == 0
    with pytest.raises(NotFittedError):
        EntmaxClassifier().sparsify()
    with pytest.raises(NotFittedError):
        EntmaxClassifier().densify()
