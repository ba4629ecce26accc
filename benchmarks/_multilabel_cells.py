"""The cells of ``multilabel_table.py``: one model, tuned on one split of a set."""

import warnings
from time import process_time
from typing import NamedTuple

import numpy as np
from _multilabel_models import DEFAULTS, PAPER, TUNED
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from skprob.metrics import harmonic_macro_f1_score


class Effort(NamedTuple):
    """How much is done."""

    penalties: np.ndarray
    max_iter: int


FULL = Effort(10.0 ** -np.arange(10), max_iter=200)
QUICK = Effort(FULL.penalties[1:4], max_iter=100)


def micro(Y, predicted):
    return f1_score(Y, predicted, average="micro", zero_division=0)


def paper_cell(data, name, effort):
    """Micro-F1 and macro-F1 on the test rows, each chosen on its own."""
    model, rules = PAPER[name]
    metrics = [micro, harmonic_macro_f1_score]
    scores = fold_scores(
        model, rules, metrics, data, effort.penalties, 5, effort.max_iter
    )
    found = []
    for metric, mean in zip(metrics, scores.mean(axis=-1), strict=True):
        i, rule = np.unravel_index(mean.argmax(), mean.shape)
        path = effort.penalties[: i + 1]
        predicted = test_sets(model, rules, data, path, rule, effort.max_iter)
        found.append(100 * metric(data.Y_test, predicted))
    return found


def tuned_cell(data, name, effort):
    """Sets of the best of the models, penalties and rules by micro-F1 over folds.

    True and predicted sets of the test rows, and the mean over the folds with its
    standard error.
    """
    models, rules = TUNED[name]
    large = sparse.issparse(data.X_train)
    # Of a large set the best penalties are small, and three folds are enough.
    penalties = effort.penalties[4:7] if large else effort.penalties[:4]
    n_folds = 3 if large else 5
    scores = np.concatenate(
        [
            fold_scores(
                model, rules, [micro], data, penalties, n_folds, effort.max_iter
            )
            for model in models
        ]
    )
    mean = scores.mean(axis=-1)
    best = np.unravel_index(mean.argmax(), mean.shape)
    m, i, rule = best
    path = penalties[: i + 1]
    predicted = test_sets(models[m], rules, data, path, rule, effort.max_iter)
    sets = np.asarray(data.Y_test, bool), np.asarray(predicted, bool)
    return *sets, mean[best], scores[best].std(ddof=1) / np.sqrt(n_folds)


def default_cell(data, name, effort):
    """True and predicted sets of the test rows, and seconds of the processor."""
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        start = process_time()
        model = clone(DEFAULTS[name]).fit(data.X_train, data.Y_train)
        seconds = process_time() - start
        predicted = model.predict(data.X_test)
    return np.asarray(data.Y_test, bool), np.asarray(predicted, bool), seconds


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


def along_the_path(model, penalties, X, Y, max_iter):
    """Yield the model fitted at each penalty in turn, the strongest first."""
    model = clone(model)
    prefix = next(
        key.removesuffix("C") for key in model.get_params() if key.endswith("C")
    )
    model.set_params(**{f"{prefix}max_iter": max_iter})
    for penalty in penalties:
        model.set_params(**{f"{prefix}C": 1 / (penalty * len(Y))})
        # Weak penalties stop at max_iter, and a fold may be without some label.
        with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
            model.fit(X, Y)
        yield model
