"""Label sets of which 30 % of the training labels are hidden, at random.

    SKPROB_DATA=... python benchmarks/unknown_labels.py --save docs/user_guide

Micro-F1 of the test rows in per cent, of SigmoidClassifier(C=0.1), which predicts most
of these sets better than the default C=1, as a mean over ten draws of the hidden
entries. "left out" has NaN there, "as absent" has zeros, and "70 % of rows" are
complete labels of that many rows. Differences from complete labels have the standard
error of their mean over the draws; the test rows are the same.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from _multilabel_data import splits
from sklearn.metrics import f1_score

from skprob import SigmoidClassifier

SETS = ["emotions", "scene", "birds", "yeast", "cal500", "enron"]
HIDDEN, N_DRAWS = 0.3, 10


def micro_f1(X, Y, part):
    with warnings.catch_warnings():
        # Labels in no row, and fits that end at max_iter.
        warnings.simplefilter("ignore")
        model = SigmoidClassifier(C=0.1).fit(X, Y)
    return 100 * f1_score(part.Y_test, model.predict(part.X_test), average="micro")


def row(name):
    parts, found = splits(name), []
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
            found.append([complete, *scores])
    complete, left_out, absent, fewer = np.transpose(found)

    def difference(scores):
        differences = scores - complete
        error = differences.std(ddof=1) / np.sqrt(len(differences))
        return f"{differences.mean():+.2f} ± {error:.2f}"

    return [
        name.split("_")[0],
        *(f"{scores.mean():.1f}" for scores in (complete, left_out)),
        difference(left_out),
        difference(fewer),
        f"{absent.mean():.1f}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    arguments = parser.parse_args()
    header = ["data", "complete", "left out", "difference", "70 % of rows", "as absent"]
    rows = [header]
    for name in SETS:
        rows.append(row(name))
        print(*rows[-1], sep="  ", flush=True)
    if arguments.save:
        with open(arguments.save / "unknown_labels.csv", "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
