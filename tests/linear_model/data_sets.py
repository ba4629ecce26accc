"""Small data of the three kinds, the same at every call."""

import numpy as np
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.preprocessing import scale


def labels(n_classes=3, n_samples=60):
    """X (n_samples, 4) and overlapping classes y."""
    X, y = make_classification(
        n_samples,
        n_features=4,
        n_informative=3,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=0.7,
        flip_y=0.1,
        random_state=0,
    )
    return X, y


def label_sets():
    """X (60, 4) and an indicator with one to four labels in each row."""
    X, Y = make_multilabel_classification(
        60, n_features=4, n_classes=4, allow_unlabeled=False, random_state=0
    )
    return scale(X), Y


def distributions(n_classes=3):
    """X (60, 4) and rows on the simplex that depend on X, some entries zero."""
    X, _ = labels()
    rng = np.random.default_rng(0)
    scores = X @ rng.normal(size=(4, n_classes)) + rng.normal(size=(60, n_classes))
    weight = np.maximum(scores - scores.mean(axis=1, keepdims=True) + 0.5, 0)
    return X, weight / weight.sum(axis=1, keepdims=True)


def choices(n_samples=120, n_classes=4, seed=0):
    """Features, labels and choice sets, all of them of every size."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    available = rng.random((n_samples, n_classes)) < 0.6
    utility = X @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=available.shape)
    available[np.arange(n_samples), utility.argmax(axis=1)] = True
    available[:8] = True
    utility[~available] = -np.inf
    return X, utility.argmax(axis=1), available


#: Each kind of target with its data.
KINDS = {"class": labels, "label_set": label_sets, "distribution": distributions}


def cut_for(kind, cut):
    """The threshold for a kind of target: a cut of label sets, and none of others."""
    return cut if kind == "label_set" else "auto"


def default_score(model, X, y, **known):
    """The score of a search without ``scoring``, as its page has it.

    Minus the mean squared distance of probabilities and target; of label sets the
    micro-F1 score. The classes are 0, 1 and so on.
    """
    if model.target_type_ == "label_set":
        predicted = model.predict(X, **known)
        return 2 * np.sum(predicted * y) / (predicted.sum() + y.sum())
    p = model.predict_proba(X, **known)
    target = np.eye(p.shape[1])[y] if model.target_type_ == "class" else y
    return -np.square(p - target).sum(axis=1).mean()
