"""Libraries that take any scikit-learn classifier, each with its own results."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.preprocessing import scale

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier

# Their own warnings are none of ours.
pytestmark = pytest.mark.filterwarnings("default")


def imported(name):
    """A library; the test that asks for it is skipped where it is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shap(n_classes):
    shap = imported("shap")
    X, y = load_wine(return_X_y=True)
    X, y = scale(X), np.minimum(y, n_classes - 1)
    model = EntmaxClassifier().fit(X, y)
    explainer = shap.LinearExplainer(model, X)
    values = np.asarray(explainer.shap_values(X))
    assert values.shape[:2] == X.shape
    # Expected scores plus the contributions of the features are the scores.
    scores = explainer.expected_value + values.sum(axis=1)
    assert_allclose(scores, model.decision_function(X), atol=1e-8)


def test_mapie():
    classification = imported("mapie.classification")
    X, y = load_digits(return_X_y=True)
    X, X_rest, y, y_rest = train_test_split(X / 16, y, random_state=0)
    X_conform, X_test, y_conform, y_test = train_test_split(
        X_rest, y_rest, random_state=0
    )
    model = SparsemaxClassifier().fit(X, y)
    conformal = classification.SplitConformalClassifier(
        model, confidence_level=0.95, prefit=True
    ).conformalize(X_conform, y_conform)
    labels, sets = conformal.predict_set(X_test)
    assert_array_equal(labels, model.predict(X_test))
    covered = sets[np.arange(len(y_test)), y_test, 0]
    # 113 rows: two standard errors of a coverage of 0.95 are 0.04.
    assert covered.mean() > 0.91
    assert sets.sum(axis=1).mean() < 3


def test_imbalanced_learn():
    imported("imblearn")
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    X, y = load_iris(return_X_y=True)
    few = np.flatnonzero((y < 2) | (np.arange(150) % 5 == 0))
    X, y = X[few], y[few]
    model = make_pipeline(RandomOverSampler(random_state=0), EntmaxClassifier())
    balanced = model.fit(X, y)[-1]
    # Repeating rows is a weight on them.
    X_more, y_more = model[0].fit_resample(X, y)
    assert (np.bincount(y_more) == 50).all()
    assert_array_equal(balanced.coef_, EntmaxClassifier().fit(X_more, y_more).coef_)
    plain = EntmaxClassifier().fit(X, y)
    rare = X[y == 2]
    assert (
        balanced.predict_proba(rare)[:, 2].mean()
        > plain.predict_proba(rare)[:, 2].mean()
    )


def test_optuna():
    optuna = imported("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = load_wine(return_X_y=True)
    X = scale(X)

    def objective(trial):
        model = EntmaxClassifier(
            alpha=trial.suggest_float("alpha", 1, 2),
            C=trial.suggest_float("C", 1e-4, 1, log=True),
            tol=1e-3,
        )
        return cross_val_score(model, X, y, cv=3).mean()

    sampler = optuna.samplers.TPESampler(seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    study.optimize(objective, n_trials=8)
    assert study.best_value > 0.95
    model = EntmaxClassifier(**study.best_params).fit(X, y)
    assert model.mapping_.alpha == study.best_params["alpha"]


@pytest.mark.parametrize("file_format", ["cloudpickle", "skops"])
def test_mlflow(file_format, tmp_path):
    mlflow = imported("mlflow.sklearn")
    X, y = load_iris(return_X_y=True)
    model = SoftmaxClassifier().fit(X, y)
    trusted = {}
    if file_format == "skops":
        imported("skops")
        trusted = {"skops_trusted_types": ["skprob.linear_model.SoftmaxClassifier"]}
    # Requirements are given: to infer them takes a minute.
    mlflow.save_model(
        model,
        tmp_path / "model",
        serialization_format=file_format,
        pip_requirements=["skprob"],
        **trusted,
    )
    loaded = mlflow.load_model(str(tmp_path / "model"))
    assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
