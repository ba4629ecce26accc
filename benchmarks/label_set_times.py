"""Label sets, or a logistic regression for each: ``python label_set_times.py``.

`SigmoidClassifier` and `OneVsRestClassifier` of `LogisticRegression`, with L-BFGS and
with liblinear, learn a logistic regression for each label, at C = 1. Columns are the
processor time of defaults, where ours also chooses cuts by three folds and theirs cuts
at one half; and that of the loosest tolerance whose objective is within 1e-3 and 1e-6
of the optimum. All take turns in one run on one thread; times are medians. liblinear
penalises the intercept and so has another optimum: only its default is timed.
``SKPROB_DATA`` names the folder with the data, ``--sets`` some of the sets, ``--save``
a file for the table.
"""

import argparse
import csv
import statistics
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from _multilabel_data import splits
from _report import environment
from one_vs_rest import one_a_label, one_fit, quickest, seconds
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from threadpoolctl import threadpool_limits

import skprob
from skprob import SigmoidClassifier

SYNTHETIC = "synthetic"
SETS = ["emotions", "scene", "yeast", "birds", "cal500", "enron", "bibtex"]
SETS += ["reuters21578_modapte90", SYNTHETIC]
TARGETS = [1e-3, 1e-6]
# On these the optimum takes one fit a label minutes.
DEFAULTS_ONLY = [SYNTHETIC]
HEADER = ["data", "rows × features", "labels", "default", "default: lbfgs"]
HEADER += ["default: liblinear", "1e-3", "1e-3: lbfgs", "1e-6", "1e-6: lbfgs"]


def synthetic(n_rows=12_920, n_columns=500, n_labels=983):
    """Sparse rows of norm one, with rare labels by a linear teacher of low rank."""
    rng = np.random.default_rng(0)
    size = n_rows, n_columns
    X = sparse.random_array(size, density=0.03, rng=rng, format="csr")
    norms = np.sqrt(X.multiply(X).sum(axis=1))
    X = sparse.csr_array(sparse.diags_array(1 / np.maximum(norms, 1e-9)) @ X)
    teacher = rng.normal(size=(n_columns, 20)) @ rng.normal(size=(20, n_labels))
    scores = X @ teacher
    spread = scores.std()
    scores += spread * rng.normal(size=scores.shape) / 2
    scores += 0.7 * spread * rng.normal(size=n_labels)
    Y = (scores > np.quantile(scores, 0.995)).astype(int)
    # scikit-learn's have no intercept for a label in no row.
    return X, Y[:, Y.any(axis=0)]


def data_of(name):
    """Training rows, with the labels that occur in some of them."""
    if name == SYNTHETIC:
        return synthetic()
    X, _, Y, _ = next(iter(splits(name)))
    return X, Y[:, Y.any(axis=0)]


def with_liblinear():
    """Their other solver, at its default tolerance."""
    return OneVsRestClassifier(LogisticRegression(solver="liblinear"))


def objective(X, Y, model):
    """The mean loss of all labels plus the penalty, of either model."""
    if isinstance(model, SigmoidClassifier):
        coef, intercept = model.coef_, model.intercept_
    else:
        coef = np.vstack([m.coef_ for m in model.estimators_])
        intercept = np.hstack([m.intercept_ for m in model.estimators_])
    scores = np.asarray(X @ coef.T) + intercept
    loss = np.logaddexp(0, scores) - Y * scores
    return (loss.sum() + np.sum(coef**2) / 2) / X.shape[0]


def measure(name, n_rounds):
    """A line of the table."""
    X, Y = data_of(name)
    makers = [SigmoidClassifier, partial(one_a_label, 1e-4), with_liblinear]
    has_targets = name not in DEFAULTS_ONLY
    best = objective(X, Y, one_fit(1e-9).fit(X, Y)) if has_targets else np.nan
    for target in TARGETS if has_targets else []:
        for make in (one_fit, one_a_label):
            _, tol = quickest(make, X, Y, best, target)
            makers.append(None if tol is None else partial(make, tol))
    times = [[] for _ in makers]
    for _ in range(n_rounds):
        for of_maker, make in zip(times, makers, strict=True):
            taken = np.nan if make is None else seconds(partial(make().fit, X, Y))[0]
            of_maker.append(taken)
    shape = f"{X.shape[0]:,} × {X.shape[1]:,}"
    medians = [statistics.median(of_maker) for of_maker in times]
    missing = [np.nan] * (len(HEADER) - 3 - len(medians))
    return [name, shape, Y.shape[1], *medians, *missing]


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    print(environment(skprob))
    lines = [HEADER]
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        for name in args.sets:
            name, shape, n_labels, *times = measure(name, args.repeats)
            cells = ["–" if np.isnan(time) else f"{time:.2g}" for time in times]
            lines.append([name, shape, n_labels, *cells])
            print(*lines[-1], sep=", ", flush=True)
    if args.save:
        with args.save.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)


if __name__ == "__main__":
    main()
