"""The cells of ``multilabel_table.py``: one model on one split of a set."""

import warnings
from typing import NamedTuple

import numpy as np
from _multilabel_models import DEFAULTS, PAPER, PATHS, probabilities
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from skprob import EntmaxClassifier
from skprob.metrics import harmonic_macro_f1_score


class Effort(NamedTuple):
    """How much is done."""

    penalties: np.ndarray
    n_penalties: int
    max_iter: int


FULL = Effort(10.0 ** -np.arange(10), n_penalties=13, max_iter=200)
QUICK = Effort(FULL.penalties[1:4], n_penalties=4, max_iter=100)


def micro(Y, predicted):
    return f1_score(Y, predicted, average="micro", zero_division=0)


def paper_cell(data, name, effort):
    """Micro-F1 and macro-F1 on the test rows, each chosen on its own."""
    model, rules = PAPER[name]
    metrics = [micro, harmonic_macro_f1_score]
    scores = fold_scores(
        model, rules, metrics, data, effort.penalties, 5, effort.max_iter
    )
    results = []
    for metric, mean in zip(metrics, scores.mean(axis=-1), strict=True):
        i, rule = np.unravel_index(mean.argmax(), mean.shape)
        path = effort.penalties[: i + 1]
        predicted = test_sets(model, rules, data, path, rule, effort.max_iter)
        results.append(100 * metric(data.Y_test, predicted))
    return results


class Candidate(NamedTuple):
    """A penalty, with micro-F1 out of fold and the sets of the test rows."""

    penalty: float
    score: float
    sets: np.ndarray


def path_cell(data, name, effort):
    """The candidates of one model.

    Out-of-fold probabilities are there for each penalty, in half decades from much to
    little. The path ends after two penalties in a row whose micro-F1 is more than 0.1
    points below the best.
    """
    model, rule = PATHS[name]
    large = sparse.issparse(data.X_train)
    penalties = 10.0 ** ((-0.5 if large else 1) - np.arange(effort.n_penalties) / 2)
    X, Y = data.X_train, data.Y_train
    folds = list(KFold(3 if large else 5, shuffle=True, random_state=0).split(Y))
    polytope = "simplex" if isinstance(model, EntmaxClassifier) else "cube"
    paths = [along_the_path(model, penalties, X[train], Y[train]) for train, _ in folds]
    complete = along_the_path(model, penalties, X, Y)
    results, best, n_worse = [], 0.0, 0
    for penalty, fitted, *of_folds in zip(penalties, complete, *paths, strict=True):
        p = np.zeros(Y.shape)
        for of_fold, (_, test) in zip(of_folds, folds, strict=True):
            p[test] = probabilities(of_fold, X[test])
        of_test = probabilities(fitted, data.X_test)
        score, sets = scored(rule, p, Y, folds, polytope, of_test)
        results.append(Candidate(penalty, score, sets))
        n_worse = n_worse + 1 if score < best - 0.1 else 0
        best = max(best, score)
        if n_worse == 2:
            break
    return results


def scored(rule, p, Y, folds, polytope, of_test):
    """Micro-F1 over folds, each by a rule of the others, and sets of test rows."""
    sets = np.zeros(Y.shape, int)
    for train, test in folds:
        of_fold = clone(rule).fit(p[train], Y[train], polytope=polytope)
        sets[test] = of_fold.predict(p[test])
    rule = clone(rule).fit(p, Y, polytope=polytope)
    return 100 * micro(Y, sets), rule.predict(of_test).astype(bool)


def default_cell(data, name, effort):
    """True and predicted sets of the test rows."""
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        model = clone(DEFAULTS[name]).fit(data.X_train, data.Y_train)
        predicted = model.predict(data.X_test)
    return np.asarray(data.Y_test, bool), np.asarray(predicted, bool)


def fold_scores(model, rules, metrics, data, penalties, n_folds, max_iter):
    """Array (metrics, penalties, rules, folds) of scores in per cent."""
    folds = KFold(n_folds).split(data.Y_train)
    X, Y = data.X_train, data.Y_train
    scores = [
        [
            [
                [100 * metric(Y[test], p) for p in rules(fitted, X[test])]
                for metric in metrics
            ]
            for fitted in along_the_path(model, penalties, X[train], Y[train], max_iter)
        ]
        for train, test in folds
    ]  # (folds, penalties, metrics, rules)
    return np.transpose(scores, (2, 1, 3, 0))


def test_sets(model, rules, data, penalties, rule, max_iter):
    """Predictions for the test rows, after a fit at the last penalty."""
    path = along_the_path(model, penalties, data.X_train, data.Y_train, max_iter)
    *_, fitted = path
    return rules(fitted, data.X_test)[rule]


def along_the_path(model, penalties, X, Y, max_iter=None):
    """Yield the model fitted at each penalty in turn, the strongest first."""
    model = clone(model)
    prefix = next(
        key.removesuffix("C") for key in model.get_params() if key.endswith("C")
    )
    if max_iter is not None:
        model.set_params(**{f"{prefix}max_iter": max_iter})
    for penalty in penalties:
        model.set_params(**{f"{prefix}C": 1 / (penalty * len(Y))})
        # Weak penalties stop at max_iter, and a fold may be without some label.
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
            model.fit(X, Y)
        yield model
