"""Models run by onnxruntime, and the models themselves: ``python deployment.py``.

Each classifier is fitted to digits, or to a made label set, and converted to ONNX. The
table has, for all rows in float32, the largest difference of a probability, the rows
with another label or set, those with another support, and the time of onnxruntime in
units of ours (labels and probabilities; one thread, median of calls in turns): for one
row at a time and for all rows at once. ``--save`` names a CSV file.
"""

import argparse
import csv
import sys
from functools import partial
from pathlib import Path

import numpy as np
import onnxruntime
import skl2onnx
from _report import as_markdown, environment, interleaved
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from skprob import (
    AMSoftmaxClassifier,
    EntmaxClassifier,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
    TaylorSoftmaxClassifier,
)

LABELS = [
    LogisticRegression(),
    SoftmaxClassifier(),
    EntmaxClassifier(1.25),
    EntmaxClassifier(1.5),
    EntmaxClassifier(1.7),
    SparsemaxClassifier(),
    EntmaxClassifier(2.5),
    TaylorSoftmaxClassifier(order=2),
    SparseSoftmaxClassifier(k=3),
    AMSoftmaxClassifier(),
]
LABEL_SETS = [SigmoidClassifier(), SigmoidClassifier(alpha=2.0), SparsemaxClassifier()]
HEADER = [
    *("model", "target", "largest difference", "other labels", "other supports"),
    *("time of one row", "time of all rows"),
]


def problems():
    """Models with their data and a name of what is learnt."""
    X, y = load_digits(return_X_y=True)
    for model in LABELS:
        yield model, scale(X), y, "digits"
    X, Y = make_multilabel_classification(2000, 50, n_classes=20, random_state=0)
    for model in LABEL_SETS:
        yield model, scale(X), Y, "label sets"


def session(model, X):
    """A session of onnxruntime for a converted model, with one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    converted = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
    return onnxruntime.InferenceSession(
        converted.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def predictions(model, X):
    """Ours: labels or sets, and probabilities."""
    return model.predict(X), model.predict_proba(X)


def measure(model, X, y, repeats):
    """One row of the table, without the names of model and target."""
    model.set_params(max_iter=1000, tol=1e-3).fit(X, y)
    X = X.astype(np.float32)
    running = session(model, X)
    (labels, p), (own_labels, ours) = running.run(None, {"X": X}), predictions(model, X)
    different = np.reshape(labels != own_labels, (len(X), -1)).any(axis=1)
    supports = ((p > 0) != (ours.astype(p.dtype) > 0)).any(axis=1)
    ratios = []
    for rows, rounds in ((X[:1], 20 * repeats), (X, repeats)):
        seconds = interleaved(
            {
                "theirs": partial(running.run, None, {"X": rows}),
                "ours": partial(predictions, model, rows),
            },
            rounds,
        )
        ratios.append(seconds["theirs"] / seconds["ours"])
    return [
        f"{np.abs(p - ours).max():.1e}",
        int(different.sum()),
        int(supports.sum()),
        *(f"{ratio:.2f}" for ratio in ratios),
    ]


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    table = []
    with threadpool_limits(1):
        for model, X, y, target in problems():
            name = repr(model)
            print(f"{name}, {target}", file=sys.stderr)
            table.append([name, target, *measure(model, X, y, args.repeats)])
    print(environment(onnxruntime, skl2onnx))
    print(as_markdown(HEADER, table))
    if args.save:
        with args.save.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER, *table])


if __name__ == "__main__":
    main()
