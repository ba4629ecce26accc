"""Probabilities that are related to label sets, and how examples are drawn."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import softmax

from skprob.decision import RULES


def related_sets(seed, *, n_samples=80, n_labels=5, polytope="simplex", empty=False):
    """Features, probabilities that are related to sets, and the sets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, 3))
    scores = 2 * X @ rng.normal(size=(3, n_labels)) - 0.5
    labels = (scores + rng.logistic(size=scores.shape) > 0).astype(int)
    if not empty:
        labels[~labels.any(axis=1), 0] = 1
    p = softmax(scores, axis=1) if polytope == "simplex" else 1 / (1 + np.exp(-scores))
    return X, p, labels


def with_zeros_stored(array):
    n_rows, n_columns = array.shape
    indices, indptr = (
        np.tile(np.arange(n_columns), n_rows),
        n_columns * np.arange(n_rows + 1),
    )
    return sparse.csr_array((array.ravel(), indices, indptr), shape=array.shape)


def micro_f1(labels, sets, weight=None):
    weight = np.ones(len(sets)) if weight is None else weight
    hits, total = weight @ (labels * sets), weight @ (labels + sets)
    return 2 * hits.sum() / total.sum()


# Each example fits a rule or more, and a rule has few routes.
fewer = settings(max_examples=settings().max_examples // 3)
seeds = st.integers(0, 10**6)
polytopes = st.sampled_from(["simplex", "cube"])
rules = st.sampled_from(sorted(RULES))
