"""Label sets of which 30 % of the training labels are hidden, at random.

    SKPROB_DATA=... python benchmarks/unknown_labels.py --save docs/measurements

Micro-F1 of the test rows in per cent, of SigmoidClassifier(C=0.1), which predicts most
of these sets better than the default C=1, as a mean over thirty random splits of all
rows, into as many training and test rows as the official split has, with another draw
of the hidden entries each time. "left out" has NaN there, "as absent" has zeros, and
"70 % of rows" are complete labels of that many rows. Differences are from complete
labels in the same split, with the standard error of their mean over the splits. Splits
share rows, so that the true error is larger.

``--causes`` has the same splits of the two sets that lose most. "cuts by all" has
hidden entries in the fit alone, and cuts chosen by all labels. "best C" is the
difference of the C that has the best mean on the test rows, of five, "loo" that of
``C="loo"``, which is chosen by the known training labels, and "C=1" that of the
default. "filled in" has ten copies of each row in the fit, with hidden entries drawn
from the probabilities that logistic regression on the features and the known labels
gives them.
"""

import argparse
import csv
import warnings
from functools import partial
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
HIDDEN, N_SPLITS = 0.3, 30
CAUSE_SETS, N_COPIES = ["emotions", "birds"], 10
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


def random_splits(name):
    """For each split its rows, labels of which some are NaN, and a sample of rows."""
    official = splits(name)[0]
    n_train, parts = len(official.Y_train), [official.X_train, official.X_test]
    is_sparse = sparse.issparse(official.X_train)
    X_all = sparse.vstack(parts, format="csr") if is_sparse else np.vstack(parts)
    Y_all = np.vstack([official.Y_train, official.Y_test]).astype(float)
    for seed in range(N_SPLITS):
        rng = np.random.default_rng(seed)
        train, test = np.split(rng.permutation(len(Y_all)), [n_train])
        part = scaled(X_all[train], X_all[test], Y_all[train], Y_all[test])
        hidden = rng.random(part.Y_train.shape) < HIDDEN
        left_out = np.where(hidden, np.nan, part.Y_train)
        yield part, left_out, rng.random(n_train) >= HIDDEN, rng


def row(name):
    results = []
    for part, left_out, some, _ in random_splits(name):
        X, Y = part.X_train, part.Y_train
        pairs = [(X, Y), (X, left_out), (X, np.nan_to_num(left_out))]
        pairs.append((X[some], Y[some]))
        results.append([micro_f1(*pair, part) for pair in pairs])
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


def f1_by_rule(X, Y, part, labels, fit):
    """With the default threshold, chosen by the known labels of left-out rows."""
    p = np.empty(Y.shape)
    for train, left_out in KFold(3, shuffle=True, random_state=0).split(X):
        p[left_out] = fit(X[train], Y[train]).predict_proba(X[left_out])
    known, labels = ~np.isnan(labels), sparse.csr_array(np.nan_to_num(labels))
    about = np.ones(len(Y)), None, "cube", False, False, known
    rule = StackedLabels(LabelCuts("micro")).fit_sample(Sample([p], labels, *about))
    return f1_of(part, rule.predict(fit(X, Y).predict_proba(part.X_test)))


def row_of_causes(name):
    results, by_C = [], []
    without_cuts = partial(fitted, threshold=0.5)
    for part, left_out, some, rng in random_splits(name):
        X, Y = part.X_train, part.Y_train
        complete = micro_f1(X, Y, part)
        by_C.append([micro_f1(X, left_out, part, C) - complete for C in CS])
        scores = [
            micro_f1(X[some], Y[some], part),
            f1_by_rule(X, left_out, part, Y, without_cuts),
            *(micro_f1(X, left_out, part, C) for C in ("loo", 1)),
            f1_by_rule(X, left_out, part, left_out, partial(filled_in, rng=rng)),
        ]
        results.append(np.array(scores) - complete)
    by_C, (fewer, by_all, *of_C, filled) = np.array(by_C), np.transpose(results)
    best = by_C[:, by_C.mean(axis=0).argmax()]
    columns = by_C[:, CS.index(0.1)], fewer, by_all, best, *of_C, filled
    return [name, *map(shown, columns)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--causes", action="store_true", help="the second table alone")
    arguments = parser.parse_args()
    header = ["data", "complete", "left out", "difference", "70 % of rows", "as absent"]
    file_name, names, row_of = "unknown_labels", SETS, row
    if arguments.causes:
        header = ["data", "left out", "70 % of rows", "cuts by all", "best C", "loo"]
        header += ["C=1", "filled in"]
        file_name, names = "unknown_labels_causes", CAUSE_SETS
        row_of = row_of_causes
    rows = [header]
    for name in names:
        rows.append(row_of(name))
        print(*rows[-1], sep="  ", flush=True)
    if arguments.save:
        with open(arguments.save / f"{file_name}.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
