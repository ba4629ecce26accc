"""With softmax it is scikit-learn's LogisticRegression, to 1e-6."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier, LinearClassifier, SoftmaxClassifier

# At tolerances this tight either search may end because rounding lets no step gain.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*in this precision:Warning"),
    pytest.mark.filterwarnings("ignore:.*line search"),
    pytest.mark.filterwarnings("ignore:newton-cg failed to converge"),
]


def bundled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X)[:900], y[:900]


def text():
    """TF-IDF of the sentences of descriptions that scikit-learn bundles, as CSR."""
    sentences, sources = [], []
    for name in ("iris", "wine", "digits", "breast_cancer", "diabetes"):
        description = getattr(datasets, f"load_{name}")().DESCR
        long_sentences = [s for s in description.split("\n") if len(s.split()) > 3]
        sentences += long_sentences
        sources += [name] * len(long_sentences)
    return TfidfVectorizer().fit_transform(sentences), np.array(sources)


DATA = {
    "iris": lambda: bundled(datasets.load_iris),
    "wine": lambda: bundled(datasets.load_wine),
    "digits": lambda: bundled(datasets.load_digits),
    "breast_cancer": lambda: bundled(datasets.load_breast_cancer),
    "text": text,
}


def weights(y):
    return np.random.default_rng(0).uniform(0.2, 3, len(y))


def assert_same(X, y, *, C, fit_intercept=True, class_weight=None, sample_weight=None):
    shared = {"C": C, "fit_intercept": fit_intercept, "class_weight": class_weight}
    # Newton's steps go all the way to the optimum, for CSR too.
    reference = LogisticRegression(**shared, solver="newton-cg", tol=1e-12)
    reference.fit(X, y, sample_weight)
    model = SoftmaxClassifier(**shared, tol=1e-10, max_iter=20_000)
    model.fit(X, y, sample_weight=sample_weight)
    assert_allclose(model.coef_, reference.coef_, atol=1e-6)
    # With more than two classes a constant that all intercepts share has no effect.
    # Ours sum to zero; those of LogisticRegression do up to its solver's rounding.
    centred = reference.intercept_ - reference.intercept_.mean() * (
        len(reference.classes_) > 2
    )
    assert_allclose(model.intercept_, centred, atol=1e-6)
    assert_allclose(model.predict_proba(X), reference.predict_proba(X), atol=1e-6)
    assert (model.classes_ == reference.classes_).all()


@pytest.mark.parametrize(
    ("name", "C", "weighted"),
    [
        ("iris", 0.01, "class_weight"),
        ("iris", 1.0, None),
        ("wine", 0.01, "balanced"),
        ("wine", 1.0, "sample_weight"),
        ("digits", 0.01, None),
        ("digits", 1.0, "class_weight"),
        ("breast_cancer", 0.01, "sample_weight"),
        ("breast_cancer", 1.0, "balanced"),
        ("text", 0.01, "class_weight"),
        ("text", 1.0, "sample_weight"),
    ],
)
def test_agrees(name, C, weighted):
    X, y = DATA[name]()
    options = {
        None: {},
        "sample_weight": {"sample_weight": weights(y)},
        "class_weight": {"class_weight": {np.unique(y)[0]: 3.0}},
        "balanced": {"class_weight": "balanced"},
    }
    assert_same(X, y, C=C, **options[weighted])


@pytest.mark.parametrize("name", ["iris", "breast_cancer"])
def test_agrees_without_intercept_and_hardly_penalised(name):
    X, y = DATA[name]()
    assert_same(X, y, C=1.0, fit_intercept=False)
    assert_same(X, y, C=10.0)


def test_agrees_without_penalty():
    X, y = datasets.load_iris(return_X_y=True)
    X, y = X[50:, :2], y[50:]  # Two classes that overlap.
    assert_same(X, y, C=np.inf)


def test_agrees_on_20_newsgroups(data):
    newsgroups = data("news20_bydate")
    X = newsgroups["X_train"][::40].astype(np.float64)
    assert_same(X, newsgroups["y_train"][::40], C=1.0)


@pytest.mark.parametrize(
    "twin",
    [
        EntmaxClassifier(alpha=1, C=1.0),
        LinearClassifier("softmax"),
        LinearClassifier(loss="log"),
        EntmaxClassifier(alpha=1 + 1e-9, C=1.0),
    ],
    ids=repr,
)
def test_other_names_for_the_same_model(twin):
    X, y = DATA["iris"]()
    reference = SoftmaxClassifier(tol=1e-8).fit(X, y)
    twin.set_params(tol=1e-8).fit(X, y)
    assert_allclose(twin.coef_, reference.coef_, atol=1e-6)
    assert_allclose(twin.predict_proba(X), reference.predict_proba(X), atol=1e-6)
