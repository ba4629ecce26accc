"""Rows without a label, left out or learnt as a class: ``python unlabelled_rows.py``.

Birds has such rows. Of the other sets the most frequent label is taken away, which
leaves rows without any. All models have their defaults, and all test rows count. The
F1 of a row is one where it has no label and none is predicted. ``SKPROB_DATA`` names
the folder with the data, ``--save`` a file for the table. It takes a minute or two.
"""

import argparse
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
HEADINGS = ["micro", "macro", "example", "subset", "empty"]


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    headings = "".join(f"{heading:>9}" for heading in HEADINGS)
    lines = [f"{'in per cent of the test rows':40}{headings}"]
    gains = []
    for name in args.sets:
        data = splits(name, scaled if name == "birds" else without_the_first)
        empty = 100 * np.mean([(~split.Y_test.any(axis=1)).mean() for split in data])
        lines += ["", f"{name} ({empty:.0f} without a label)"]
        for title, classifier in MODELS.items():
            out = row(data, classifier(none_class=False))
            learnt = row(data, classifier())
            gains.append(learnt - out)
            lines += [line(f"{title}, left out", out), line(f"{title}, none", learnt)]
        lines.append(line("sigmoid", row(data, SigmoidClassifier())))
        print("\n".join(lines[-9:]), flush=True)
    gains = np.array(gains)
    lines += ["", "What the class gains:"]
    lines += [line("mean", gains.mean(axis=0)), line("least", gains.min(axis=0))]
    text = "\n".join(lines) + "\n"
    print(text)
    if args.save:
        args.save.write_text(text)


def without_the_first(X_train, X_test, Y_train, Y_test):
    """A split without the label that most training rows have."""
    first = Y_train.sum(axis=0).argmax()
    Y_train, Y_test = (np.delete(Y, first, axis=1) for Y in (Y_train, Y_test))
    return scaled(X_train, X_test, Y_train, Y_test)


def row(data, model):
    """The mean of the figures over the splits, in per cent."""
    return 100 * np.mean([figures(split, model) for split in data], axis=0)


def figures(split: Data, model):
    """Three F1 scores, and the shares of right and of empty predictions."""
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        found = model.fit(split.X_train, split.Y_train).predict(split.X_test)
    Y = split.Y_test
    micro, macro = (
        f1_score(Y, found, average=a, zero_division=0) for a in ("micro", "macro")
    )
    example = f1_score(Y, found, average="samples", zero_division=1)
    right = (Y == found).all(axis=1).mean()
    return micro, macro, example, right, (~found.any(axis=1)).mean()


def line(title, values):
    """A line of the table."""
    return f"  {title:38}" + "".join(f"{value:9.1f}" for value in values)


if __name__ == "__main__":
    main()
