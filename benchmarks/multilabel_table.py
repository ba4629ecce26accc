"""Label sets: the table of the sparsemax paper again, and what is better today.

The first table repeats table 2 of Martins and Astudillo, "From softmax to sparsemax"
(ICML 2016), by its protocol. Rows without a label are dropped and the features
standardised with the training rows. The penalty and a decision rule are chosen by the
mean F1 over five folds of the training file (scene's, which is ordered by label, is
shuffled first), for micro-F1 and for macro-F1, the harmonic mean of macro-precision and
macro-recall, on their own; then one fit to all training rows is measured on the test
rows.

The second table is of micro-F1 alone: more models, all tuned in one way over penalty
and one cut for all labels, entmax over alpha as well. "entmax, auto" searches C and
alpha and leaves the cut to the estimator. Beside the test score stands the mean score
over the folds with its standard error. The third table is of defaults, nothing tuned.

The sets are read from the folder that SKPROB_DATA names. Without it, only emotions is
fetched, from OpenML, where it has no official split.

    python benchmarks/multilabel_table.py --save-table multilabel_table.txt
"""

import argparse
import os
import warnings
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import fetch_openml
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier
from skprob.mappings import sparsemax
from skprob.metrics import harmonic_macro_f1_score

SETS = ["emotions", "scene", "birds", "cal500", "reuters21578_modapte90"]
TABLES = ["paper", "tuned", "defaults"]
#: Micro-F1 and macro-F1 of the paper, in per cent.
PUBLISHED = {
    ("emotions", "logistic"): (66.75, 68.56),
    ("emotions", "softmax"): (67.34, 67.51),
    ("emotions", "sparsemax"): (66.38, 66.07),
    ("scene", "logistic"): (70.96, 72.95),
    ("scene", "softmax"): (74.01, 75.03),
    ("scene", "sparsemax"): (73.45, 74.57),
    ("birds", "logistic"): (45.78, 33.77),
    ("birds", "softmax"): (48.67, 37.06),
    ("birds", "sparsemax"): (49.44, 39.13),
    ("cal500", "logistic"): (48.88, 24.49),
    ("cal500", "softmax"): (47.46, 23.51),
    ("cal500", "sparsemax"): (48.47, 26.20),
}
#: Why we are more than 0.3 away from the paper, as far as we know.
REASONS = {
    (
        "emotions",
        "sparsemax",
    ): "t = 3.5 at the same penalty has the published macro-F1; "
    "our folds prefer t = 4 by 0.4, half a standard error",
    (
        "scene",
        "logistic",
    ): "the shuffle of the training file, and so the folds, are not published",
    **{
        ("cal500", model): "the paper's split is not known; ours is a random one"
        for model in ("logistic", "softmax", "sparsemax")
    },
}
PENALTIES = 10.0 ** -np.arange(10)
CUTS = np.geomspace(0.004, 0.6, 26)


class Data(NamedTuple):
    """A set, prepared."""

    X_train: np.ndarray | sparse.csr_array
    X_test: np.ndarray | sparse.csr_array
    Y_train: np.ndarray
    Y_test: np.ndarray


class Effort(NamedTuple):
    """How much is done."""

    penalties: np.ndarray = PENALTIES
    max_iter: int = 200


QUICK = Effort(PENALTIES[1:4], 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one set, few penalties")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--jobs", type=int, default=2, help="processes that search")
    parser.add_argument("--save-table", type=Path, metavar="TEXT")
    options = parser.parse_args()
    effort = QUICK if options.quick else Effort()
    sets = options.sets
    if options.quick or not os.environ.get("SKPROB_DATA"):
        sets = ["emotions"]

    begun = perf_counter()
    data = {name: load(name) for name in sets}
    makers = {"paper": paper_table, "tuned": tuned_table, "defaults": default_table}
    tables = [
        "\n".join(makers[name](data, effort, options.jobs)) for name in options.tables
    ]
    table = "\n\n".join(tables) + "\n"
    print(table)
    print(f"All of it took {perf_counter() - begun:.0f} seconds.")
    if options.save_table:
        options.save_table.write_text(table)


# Data


def load(name):
    """A set without its unlabelled rows, its features scaled by the training rows."""
    X_train, X_test, Y_train, Y_test = read(name)
    if name == "scene":
        # Its file is ordered by label.
        order = np.random.default_rng(0).permutation(len(Y_train))
        X_train, Y_train = X_train[order], Y_train[order]
    train, test = Y_train.any(axis=1), Y_test.any(axis=1)
    X_train, X_test = X_train[train], X_test[test]
    # Divided by deviations, rare words would weigh most: text stays as it is.
    if not sparse.issparse(X_train):
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return Data(X_train, X_test, Y_train[train], Y_test[test])


def read(name):
    folder = os.environ.get("SKPROB_DATA")
    if not folder:
        X, Y = fetch_openml(name, version=4, return_X_y=True, as_frame=False)
        return split(X, (Y == "TRUE").astype(int))
    with np.load(Path(folder) / f"{name}.npz") as file:
        arrays = dict(file)
    if "X" in arrays:
        return split(arrays["X"].astype(float), arrays["Y"])
    X = [features(arrays, f"X_{part}") for part in ("train", "test")]
    return [*X, arrays["Y_train"], arrays["Y_test"]]


def split(X, Y):
    """For sets without an official split."""
    return train_test_split(X, Y, test_size=0.2, random_state=0)


def features(arrays, key):
    if key in arrays:
        return arrays[key].astype(float)
    parts = (arrays[f"{key}_{part}"] for part in ("data", "indices", "indptr"))
    return sparse.csr_array(tuple(parts), arrays[f"{key}_shape"]).astype(float)


# The models, each with its decision rules: functions of a fitted model and X that give
# one prediction for each rule.


def one_vs_rest(**parameters):
    return OneVsRestClassifier(LogisticRegression(**parameters))


class LogisticOrConstant(LogisticRegression):
    """For a chain: a label that all rows of a fold have, or none, is the constant."""

    def fit(self, X, y):
        """Fit, or keep the constant."""
        self.classes_ = np.array([0, 1])
        self.constant_ = y[0] if (y == y[0]).all() else None
        return self if self.constant_ is not None else super().fit(X, y)

    def predict(self, X):
        """0 or 1 for each row."""
        if self.constant_ is None:
            return super().predict(X)
        return np.full(X.shape[0], self.constant_)

    def predict_proba(self, X):
        """The probabilities of 0 and of 1."""
        if self.constant_ is None:
            return super().predict_proba(X)
        return np.tile([1 - self.constant_, self.constant_], (X.shape[0], 1))

    def __sklearn_is_fitted__(self):
        return hasattr(self, "constant_")


def logistic_rules(model, X):
    return cut_at(model.predict_proba(X), np.linspace(0.05, 0.5, 10))


def softmax_rules(model, X):
    p = model.predict_proba(X)
    return cut_at(p, np.arange(1, 11) / p.shape[1])


def sparsemax_rules(model, X):
    z = model.decision_function(X)
    return [sparsemax(t * z) > 0 for t in np.arange(1, 5.5, 0.5)]


def cut_rules(model, X):
    return cut_at(model.predict_proba(X), CUTS)


def own_rule(model, X):
    return [model.predict(X)]


def cut_at(p, cuts):
    return [p > cut for cut in cuts]


FAST = {"tol": 1e-6, "warm_start": True}
PAPER = {
    "logistic": (one_vs_rest(), logistic_rules),
    "softmax": (SoftmaxClassifier(threshold=0, **FAST), softmax_rules),
    "sparsemax": (SparsemaxClassifier(threshold=0, **FAST), sparsemax_rules),
}
ALPHAS = [1.25, 1.5, 1.75]
#: Several models under one name are chosen between, too.
TUNED = {
    "one-vs-rest": ([one_vs_rest()], cut_rules),
    "chain": ([ClassifierChain(LogisticOrConstant())], cut_rules),
    "softmax": ([SoftmaxClassifier(threshold=0, warm_start=True)], cut_rules),
    "sparsemax": ([SparsemaxClassifier(threshold=0, warm_start=True)], cut_rules),
    "entmax": (
        [EntmaxClassifier(alpha=a, threshold=0, warm_start=True) for a in ALPHAS],
        cut_rules,
    ),
    "entmax, auto": (
        [EntmaxClassifier(alpha=a, warm_start=True) for a in ALPHAS],
        own_rule,
    ),
}
DEFAULTS = {
    "one-vs-rest": one_vs_rest(),
    "softmax": SoftmaxClassifier(),
    "sparsemax": SparsemaxClassifier(),
    "entmax": EntmaxClassifier(),
}


# Tuning


def micro(Y, predicted):
    return f1_score(Y, predicted, average="micro", zero_division=0)


def along_the_path(model, penalties, X, Y, max_iter):
    """Yield the model fitted at each penalty in turn, the strongest first."""
    model = clone(model)
    prefix = next(
        key.removesuffix("C") for key in model.get_params() if key.endswith("C")
    )
    model.set_params(**{f"{prefix}max_iter": max_iter})
    for penalty in penalties:
        model.set_params(**{f"{prefix}C": 1 / (penalty * len(Y))})
        with warnings.catch_warnings():
            # Weak penalties stop at max_iter, or leave a fold without some label.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.simplefilter("ignore", UserWarning)
            yield model.fit(X, Y)


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


def test_score(model, rules, metric, data, penalties, rule, max_iter):
    """Per cent on the test rows, after a fit at the last penalty."""
    path = along_the_path(model, penalties, data.X_train, data.Y_train, max_iter)
    *_, fitted = path
    return 100 * metric(data.Y_test, rules(fitted, data.X_test)[rule])


def paper_row(data, name, effort):
    """Micro-F1 and macro-F1 on the test rows, each chosen on its own."""
    model, rules = PAPER[name]
    metrics = [micro, harmonic_macro_f1_score]
    with threadpool_limits(1):
        scores = fold_scores(
            model, rules, metrics, data, effort.penalties, 5, effort.max_iter
        )
        found = []
        for metric, mean in zip(metrics, scores.mean(axis=-1), strict=True):
            i, rule = np.unravel_index(mean.argmax(), mean.shape)
            path = effort.penalties[: i + 1]
            found.append(
                test_score(model, rules, metric, data, path, rule, effort.max_iter)
            )
    return found


class Tuned(NamedTuple):
    """A cell of the second table."""

    test: float
    mean: float
    error: float


def tuned_row(data, name, effort):
    """Micro-F1 of the best of the models, penalties and rules."""
    models, rules = TUNED[name]
    large = sparse.issparse(data.X_train)
    # Of a large set the best penalties are small, and three folds are enough.
    penalties = effort.penalties[4:7] if large else effort.penalties[:6]
    n_folds = 3 if large else 5
    with threadpool_limits(1):
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
        test = test_score(
            models[m], rules, micro, data, penalties[: i + 1], rule, effort.max_iter
        )
    error = scores[best].std(ddof=1) / np.sqrt(n_folds)
    return Tuned(test, mean[best], error)


# Tables


def paper_table(data, effort, n_jobs):
    pairs = [pair for pair in PUBLISHED if pair[0] in data]
    rows = Parallel(n_jobs)(
        delayed(paper_row)(data[name], model, effort) for name, model in pairs
    )
    yield "Table 2 of the paper: micro-F1 / macro-F1 on the test rows, in per cent"
    yield ""
    yield f"{'':24}{'skprob':>15}{'published':>15}{'difference':>15}"
    for pair, scores in zip(pairs, rows, strict=True):
        published = PUBLISHED[pair]
        difference = np.subtract(scores, published)
        yield (
            f"{pair[0]:12}{pair[1]:12}{scores[0]:7.2f} /{scores[1]:6.2f}"
            f"{published[0]:7.2f} /{published[1]:6.2f}"
            f"{difference[0]:+7.2f} /{difference[1]:+6.2f}"
        )
    yield ""
    yield "Differences above 0.3:"
    for pair, scores in zip(pairs, rows, strict=True):
        if np.abs(np.subtract(scores, PUBLISHED[pair])).max() > 0.3:
            yield f"- {pair[0]}, {pair[1]}: {REASONS.get(pair, 'reason not known')}."


def tuned_table(data, effort, n_jobs):
    # Those that take longest first.
    pairs = [(name, model) for name in reversed(data) for model in TUNED]
    rows = Parallel(n_jobs)(
        delayed(tuned_row)(data[name], model, effort) for name, model in pairs
    )
    found = dict(zip(pairs, rows, strict=True))
    yield "Tuned for micro-F1: on the test rows (mean over folds ± standard error)"
    yield ""
    yield heading(data)
    for model in TUNED:
        cells = [found[name, model] for name in data]
        yield f"{model:12}" + "".join(
            f"{cell.test:6.1f} ({cell.mean:4.1f} ± {cell.error:3.1f})" for cell in cells
        )


def default_table(data, effort, n_jobs):
    yield "Defaults, nothing tuned: micro-F1 on the test rows"
    yield ""
    yield heading(data)
    for name, model in DEFAULTS.items():
        cells = []
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for X_train, X_test, Y_train, Y_test in data.values():
                predicted = clone(model).fit(X_train, Y_train).predict(X_test)
                cells.append(100 * micro(Y_test, predicted))
        yield f"{name:12}" + "".join(f"{cell:19.1f}" for cell in cells)


def heading(data):
    return f"{'':12}" + "".join(f"{name[:8]:>19}" for name in data)


if __name__ == "__main__":
    main()
