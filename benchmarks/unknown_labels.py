"""Label sets of which 30 % of the training labels are hidden, at random.

    SKPROB_DATA=... python benchmarks/unknown_labels.py --save docs/user_guide

Micro-F1 of the test rows in per cent, of SigmoidClassifier(C=0.1), which predicts most
of these sets better than the default C=1, as a mean over ten draws of the hidden
entries. "left out" has NaN there, "as absent" has zeros, and "70 % of rows" are
complete labels of that many rows. Differences from complete labels have the standard
error of their mean over the draws; the test rows are the same.

With ``--splits`` the two sets that lose most are split at random, thirty times, into as
many training and test rows, with another draw of the hidden entries each time. "best C"
is the difference of the C that has the best mean on the test rows, of five. "filled in"
has ten copies of each row in the fit, with hidden entries drawn from the probabilities
that logistic regression on the features and the known labels gives them.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from _multilabel_data import scaled, splits
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold

from skprob import SigmoidClassifier
from skprob.decision import LabelCuts, Sample, StackedLabels

SETS = ["emotions", "scene", "birds", "yeast", "cal500", "enron"]
HIDDEN, N_DRAWS = 0.3, 10
SPLIT_SETS, N_SPLITS, N_COPIES = ["emotions", "birds"], 30, 10
CS = [0.02, 0.05, 0.1, 0.2, 0.5]


def fitted(X, Y, **parameters):
    arguments = {"sample_weight": parameters.pop("sample_weight", None)}
    with warnings.catch_warnings():
        # Labels in no row, and fits that end at max_iter.
        warnings.simplefilter("ignore")
        return SigmoidClassifier(**{"C": 0.1} | parameters).fit(X, Y, **arguments)


def f1_of(part, predicted):
    return 100 * f1_score(part.Y_test, predicted, average="micro")


def micro_f1(X, Y, part, C=0.1):
    return f1_of(part, fitted(X, Y, C=C).predict(part.X_test))


def row(name):
    parts, results = splits(name), []
    for part in parts:
        X, Y = part.X_train, np.asarray(part.Y_train, dtype=float)
        complete = micro_f1(X, Y, part)
        for draw in range(N_DRAWS if len(parts) == 1 else 1):
            rng = np.random.default_rng(draw)
            hidden = rng.random(Y.shape) < HIDDEN
            some = rng.random(len(Y)) >= HIDDEN
            scores = [
                micro_f1(X, np.where(hidden, np.nan, Y), part),
                micro_f1(X, np.where(hidden, 0, Y), part),
                micro_f1(X[some], Y[some], part),
            ]
            results.append([complete, *scores])
    complete, left_out, absent, fewer = np.transpose(results)

    return [
        name.split("_")[0],
        *(f"{scores.mean():.1f}" for scores in (complete, left_out)),
        shown(left_out - complete),
        shown(fewer - complete),
        f"{absent.mean():.1f}",
    ]


def shown(differences):
    """The mean with its standard error."""
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return f"{differences.mean():+.2f} ± {error:.2f}"


def filled_in(X, Y, rng):
    """A model of copies of the rows, whose hidden entries are drawn."""
    known = ~np.isnan(Y)
    p = fitted(X, Y, threshold=0.5).predict_proba(X)
    # Errors of the known labels, in deviations like those of features.
    errors = np.where(known, Y - p, 0)
    errors /= np.maximum(errors.std(axis=0), 1e-6)
    q = p.copy()
    for k in range(Y.shape[1]):
        rows, of_label = known[:, k], np.delete(errors, k, axis=1)
        if len(np.unique(Y[rows, k])) == 2:
            both = np.hstack([X, of_label])
            model = LogisticRegression(C=0.1, max_iter=1000)
            q[:, k] = model.fit(both[rows], Y[rows, k]).predict_proba(both)[:, 1]
    drawn = [np.where(known, Y, rng.random(Y.shape) < q) for _ in range(N_COPIES)]
    weight = np.full(N_COPIES * len(Y), 1 / N_COPIES)
    copies = np.tile(X, (N_COPIES, 1)), np.vstack(drawn)
    return fitted(*copies, threshold=0.5, sample_weight=weight)


def filled_in_f1(X, Y, part, rng):
    """With the default threshold, chosen by the known entries of left-out rows."""
    p = np.empty(Y.shape)
    for train, left_out in KFold(3, shuffle=True, random_state=0).split(X):
        model = filled_in(X[train], Y[train], rng)
        p[left_out] = model.predict_proba(X[left_out])
    labels, weight = sparse.csr_array(np.nan_to_num(Y)), np.ones(len(Y))
    about = weight, None, "cube", False, False, ~np.isnan(Y)
    rule = StackedLabels(LabelCuts("micro")).fit_sample(Sample([p], labels, *about))
    return f1_of(part, rule.predict(filled_in(X, Y, rng).predict_proba(part.X_test)))


def row_of_splits(name):
    """Differences over random splits of all rows of a set."""
    official, results, by_C = splits(name)[0], [], []
    n_train = len(official.X_train)
    X_all = np.vstack([official.X_train, official.X_test])
    Y_all = np.vstack([official.Y_train, official.Y_test]).astype(float)
    for seed in range(N_SPLITS):
        rng = np.random.default_rng(seed)
        train, test = np.split(rng.permutation(len(X_all)), [n_train])
        part = scaled(X_all[train], X_all[test], Y_all[train], Y_all[test])
        X, Y = part.X_train, part.Y_train
        left_out = np.where(rng.random(Y.shape) < HIDDEN, np.nan, Y)
        some = rng.random(len(Y)) >= HIDDEN
        complete = micro_f1(X, Y, part)
        by_C.append([micro_f1(X, left_out, part, C) - complete for C in CS])
        scores = micro_f1(X[some], Y[some], part), filled_in_f1(X, left_out, part, rng)
        results.append(np.array(scores) - complete)
    by_C, (fewer, filled) = np.array(by_C), np.transpose(results)
    best = by_C[:, by_C.mean(axis=0).argmax()]
    return [name, *map(shown, (by_C[:, CS.index(0.1)], fewer, best, filled))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--splits", action="store_true", help="random splits alone")
    arguments = parser.parse_args()
    header = ["data", "complete", "left out", "difference", "70 % of rows", "as absent"]
    file_name, names, row_of = "unknown_labels", SETS, row
    if arguments.splits:
        header = ["data", "left out", "70 % of rows", "best C", "filled in"]
        file_name, names = "unknown_labels_splits", SPLIT_SETS
        row_of = row_of_splits
    rows = [header]
    for name in names:
        rows.append(row_of(name))
        print(*rows[-1], sep="  ", flush=True)
    if arguments.save:
        with open(arguments.save / f"{file_name}.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
