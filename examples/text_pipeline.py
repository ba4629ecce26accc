"""Text: which part of scikit-learn a paragraph documents.

The paragraphs of scikit-learn's own docstrings are the documents, and the subpackage
they stand in is the class. The weights of the words are a sparse matrix, which stays
sparse from the vectoriser to the classifier. Paragraphs of one docstring are never on
both sides of the split. For a new sentence, softmax has something to say about every
subpackage; entmax names those that come into question.
"""

import inspect

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.utils.discovery import all_estimators

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.metrics import brier_loss, mean_support_size

SUBPACKAGES = [
    "cluster",
    "covariance",
    "decomposition",
    "ensemble",
    "feature_extraction",
    "feature_selection",
    "gaussian_process",
    "linear_model",
    "manifold",
    "naive_bayes",
    "neighbors",
    "preprocessing",
    "svm",
    "tree",
]

paragraphs = {}
for name, estimator in all_estimators():
    subpackage = estimator.__module__.split(".")[1]
    if subpackage in SUBPACKAGES:
        for paragraph in inspect.getdoc(estimator).split("\n\n"):
            if len(paragraph.split()) >= 8:
                # A paragraph that several classes share counts once.
                paragraphs.setdefault(paragraph, (subpackage, name))
texts = np.array(list(paragraphs), dtype=object)
subpackages, groups = np.array(list(paragraphs.values())).T
train, test = next(
    GroupShuffleSplit(test_size=0.3, random_state=0).split(texts, groups=groups)
)
print(f"{len(train)} paragraphs to learn from, {len(test)} to test on\n")

sentence = "Find groups of similar samples by the distance between neighbors."
print(f"{'':17} accuracy  Brier  support of {len(SUBPACKAGES)}")
answers = {}
for classifier in SoftmaxClassifier(C=10), EntmaxClassifier(alpha=1.5, C=10):
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), classifier)
    model.fit(texts[train], subpackages[train])
    p = model.predict_proba(texts[test])
    name = type(classifier).__name__
    print(
        f"{name:17} {model.score(texts[test], subpackages[test]):8.3f}  "
        f"{brier_loss(subpackages[test], p, classes=model.classes_):5.3f}  "
        f"{mean_support_size(p):7.1f}"
    )
    answers[name] = model.predict_proba([sentence])[0]

print(f"\n{sentence}")
for name, p in answers.items():
    named = [f"{model.classes_[k]} {p[k]:.2f}" for k in np.argsort(-p)[:4] if p[k] > 0]
    others = np.count_nonzero(p) - len(named)
    print(f"{name:17} {', '.join(named)}, and {others} others")
