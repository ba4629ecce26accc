"""
Text classification, and the possible classes of a text
=======================================================

Classify texts in a pipeline, and see how many classes are possible. The texts are the
paragraphs of scikit-learn's docstrings, the classes its subpackages. The weights of the
words stay a sparse matrix from the vectoriser to the classifier. They are small
numbers, for which ``C=1`` is too strong a penalty. ``C="auto"``, the default of
`EntmaxClassifier`, takes a weaker one.
"""

import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GroupShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.utils.discovery import all_estimators

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.metrics import mean_support_size

SUBPACKAGES = (
    "cluster decomposition ensemble feature_selection gaussian_process linear_model "
    "manifold naive_bayes neighbors preprocessing svm tree"
).split()

paragraphs = {}  # A paragraph that several classes share counts once.
for name, estimator in all_estimators():
    subpackage = estimator.__module__.split(".")[1]
    for paragraph in inspect.getdoc(estimator).split("\n\n"):
        if subpackage in SUBPACKAGES and len(paragraph.split()) >= 8:
            paragraphs.setdefault(paragraph, (subpackage, name))
texts = np.array(list(paragraphs), dtype=object)
subpackages, classes = np.array(list(paragraphs.values())).T
# All paragraphs of a docstring are on the same side of the split.
splitter = GroupShuffleSplit(test_size=0.3, random_state=0)
train, test = next(splitter.split(texts, groups=classes))

sentence = "Find groups of similar samples by the distance between neighbors."
answers = {}
for classifier in SoftmaxClassifier(C="auto"), EntmaxClassifier(alpha=1.5):
    model = make_pipeline(TfidfVectorizer(sublinear_tf=True), classifier)
    model.fit(texts[train], subpackages[train])
    p = model.predict_proba(texts[test])
    name = type(classifier).__name__
    accuracy = model.score(texts[test], subpackages[test])
    print(f"{name:17} accuracy {accuracy:.3f}, {mean_support_size(p):4.1f} possible")
    answers[name] = model.predict_proba([sentence])[0]

# %%
# The two models have about the same accuracy. The figure has the probabilities for one
# sentence: entmax names the possible subpackages, under softmax all are possible.
order = np.argsort(answers["EntmaxClassifier"])
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharey=True, layout="constrained")
figure.suptitle(f"“{sentence}”")
for ax, (name, p) in zip(axes, answers.items(), strict=True):
    ax.barh(model.classes_[order], p[order], color="#d1495b")
    ax.set(title=f"{name}: {np.count_nonzero(p)} possible", xlabel="probability")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/text_pipeline.png"
