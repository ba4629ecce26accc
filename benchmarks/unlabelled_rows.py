"""Rows without a label, left out or learnt as a class: ``python unlabelled_rows.py``.

Birds has such rows. From the other sets the most frequent label is removed, which
leaves rows without any. All models have their defaults, and all test rows count. The F1
of a row is one where it has no label and none is predicted. ``SKPROB_DATA`` names the
folder with the data, ``--save`` a file for the table. It takes a minute or two.
"""

import argparse
import csv
import warnings
from pathlib import Path

import numpy as np
from _multilabel_data import Data, scaled, splits
from sklearn.metrics import f1_score
from threadpoolctl import threadpool_limits

from skprob import (
    EntmaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
)

SETS = ["birds", "emotions", "scene", "reuters21578_modapte90"]
MODELS = {
    "softmax": SoftmaxClassifier,
    "1.5-entmax": EntmaxClassifier,
    "sparsemax": SparsemaxClassifier,
}
HEADS = [
    "data",
    "rows without a label, %",
    "mapping",
    "rows without a label are",
    "micro-F1",
    "macro-F1",
    "example-F1",
    "subset",
    "empty",
]


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    rows, gains = [HEADS], []
    for name in args.sets:
        data = splits(name, scaled if name == "birds" else without_the_first)
        empty = 100 * np.mean([(~split.Y_test.any(axis=1)).mean() for split in data])
        first = [name, f"{empty:.0f}"]
        for title, classifier in MODELS.items():
            left_out = mean_figures(data, classifier(none_class=False))
            learnt = mean_figures(data, classifier())
            gains.append(learnt - left_out)
            rows.append([*first, title, "left out", *rounded(left_out)])
            rows.append([*first, title, "a class", *rounded(learnt)])
        sigmoid = mean_figures(data, SigmoidClassifier())
        rows.append([*first, "sigmoid", "kept", *rounded(sigmoid)])
        print(*rows[-7:], sep="\n", flush=True)
    for title, values in ("mean", np.mean(gains, 0)), ("least", np.min(gains, 0)):
        rows.append([f"gain of the class, {title}", "", "", "", *rounded(values)])
        print(rows[-1])
    if args.save:
        with args.save.open("w", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)


def without_the_first(X_train, X_test, Y_train, Y_test):
    """A split without the label that most training rows have."""
    first = Y_train.sum(axis=0).argmax()
    Y_train, Y_test = (np.delete(Y, first, axis=1) for Y in (Y_train, Y_test))
    return scaled(X_train, X_test, Y_train, Y_test)


def mean_figures(data, model):
    """The mean of the figures over the splits, in per cent."""
    return 100 * np.mean([figures(split, model) for split in data], axis=0)


def figures(split: Data, model):
    """Three F1 scores, and the shares of right and of empty predictions."""
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        sets = model.fit(split.X_train, split.Y_train).predict(split.X_test)
    Y = split.Y_test
    micro, macro = (
        f1_score(Y, sets, average=a, zero_division=0) for a in ("micro", "macro")
    )
    example = f1_score(Y, sets, average="samples", zero_division=1)
    right = (Y == sets).all(axis=1).mean()
    return micro, macro, example, right, (~sets.any(axis=1)).mean()


def rounded(values):
    """The figures with one decimal."""
    return [f"{value:.1f}" for value in values]


if __name__ == "__main__":
    main()
