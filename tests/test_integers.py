"""Arguments that are integers: every kind of integer, and nothing else."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris

from skprob import (
    EntmaxClassifierCV,
    PerturbMaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparseSoftmaxClassifier,
)
from skprob.attention import AttentionClassifier, taylor_attention
from skprob.decision import ConformalSets, TopK
from skprob.mappings import (
    PerturbMax,
    Softmax,
    SparseSoftmax,
    gumbel_max,
    gumbel_softmax,
    sparsemax,
)
from skprob.metrics import precision_at_k

X, y = load_iris(return_X_y=True)
X, y = X[::3], y[::3]
Y = np.column_stack([y != 0, X[:, 0] > 5.8, X[:, 1] > 3]).astype(int)
Z = X[:, :3]
LOADINGS = np.ones((3, 4))


def probabilities(model, X=X, y=y):
    return model.fit(X, y).predict_proba(X)


def adaptive_sets(free_ranks):
    model = ConformalSets(
        SoftmaxClassifier(),
        score_function="adaptive",
        rank_penalty=0.1,
        free_ranks=free_ranks,
    )
    return model.fit(X, y).predict_set(X)


def with_threshold(cv):
    model = SigmoidClassifier().fit(X, Y)
    return model.set_threshold("micro", X, Y, cv=cv).predict(X)


CALLS = {
    "Mapping.sample": lambda n: Softmax().sample(Z, size=n, random_state=0),
    "relaxed_sample": lambda n: Softmax().relaxed_sample(Z, size=n, random_state=0),
    "gumbel_max": lambda n: gumbel_max(Z, size=n, random_state=0),
    "gumbel_softmax": lambda n: gumbel_softmax(Z, size=n, random_state=0),
    "SparseSoftmax": lambda n: SparseSoftmax(k=n)(Z),
    "n_quantiles": lambda n: PerturbMax(n_quantiles=n)(Z),
    "n_points": lambda n: PerturbMax(loadings=LOADINGS, n_points=n)(Z),
    "random_state": lambda n: PerturbMax(
        loadings=LOADINGS, n_points=64, random_state=n
    )(Z),
    "max_iter": lambda n: probabilities(SoftmaxClassifier(max_iter=n, tol=10.0)),
    "k": lambda n: probabilities(SparseSoftmaxClassifier(k=n)),
    "loadings": lambda n: probabilities(
        PerturbMaxClassifier(loadings=n, learn_noise=True, n_init=1, tol=1.0),
        X[::12],
        y[::12],
    ),
    "n_neighbors": lambda n: probabilities(AttentionClassifier(n_neighbors=n)),
    "Cs": lambda n: probabilities(EntmaxClassifierCV(alphas=(1,), Cs=n, cv=2)),
    "cv": lambda n: probabilities(EntmaxClassifierCV(alphas=(1,), Cs=(0.1, 1), cv=n)),
    "TopK": lambda n: SigmoidClassifier(threshold=TopK(n)).fit(X, Y).predict(X),
    "set_threshold": with_threshold,
    "free_ranks": adaptive_sets,
    "precision_at_k": lambda n: precision_at_k(Y, X[:, :3], k=n),
    "order": lambda n: taylor_attention(Z, Z, Z, order=n),
    "axis": lambda n: sparsemax(np.ones((2, 2, 2)), axis=n),
}


@pytest.mark.parametrize("name", CALLS)
def test_all_types_of_integers_are_the_same(name):
    expected = CALLS[name](2)
    for number in np.int8(2), np.uint64(2):
        assert_array_equal(CALLS[name](number), expected)


@pytest.mark.parametrize("name", CALLS)
def test_other_values_are_refused_by_name(name):
    for value in True, np.True_, 2.0, np.float64(2), np.nan, "2", 2 + 0j:
        words = f"{re.escape(repr(value))}|{re.escape(str(value))}"
        with pytest.raises(ValueError, match=words):
            CALLS[name](value)
