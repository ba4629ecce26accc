"""Time and memory of label sets with thousands of labels, sparse and dense.

Rows have about five of 5,000 labels, those with the highest scores of a linear teacher
and some noise. Each model is fitted in a process of its own, for a fixed number of
iterations with the default threshold, and predicts the training rows and a fifth as
many new ones. Times are of the processor, on one thread. Memory is the peak of the
process's resident set up to that point (``ru_maxrss``): Python, the libraries and the
data are part of it.

    python benchmarks/many_labels.py [--quick] [--save-table PATH]
"""

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np
from _report import as_markdown, environment, save_text
from scipy import sparse
from sklearn.metrics import f1_score
from threadpoolctl import threadpool_limits

import skprob
from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier

SIZES = {"n_samples": 20_000, "n_features": 500, "n_labels": 5_000, "max_iter": 10}
QUICK_SIZES = {"n_samples": 2_000, "n_features": 50, "n_labels": 500, "max_iter": 10}
CLASSIFIERS = {
    "sparsemax": SparsemaxClassifier,
    "entmax": EntmaxClassifier,
    "softmax": SoftmaxClassifier,
}
# How y comes and what is predicted. All probabilities of softmax are positive, so that
# CSR would only take more memory.
CONTENDERS = [("sparsemax", "CSR"), ("entmax", "CSR"), ("softmax", "dense")]

HEADER = [
    *("mapping", "labels", "iteration: s", "fit: MB", "predict_proba: s", "result: MB"),
    *("predict: s", "in all: MB", "micro-F1"),
]


def main():
    """Print the table; save it if asked to."""
    arguments = parse_arguments()
    if arguments.one:
        name, kind, sizes = json.loads(arguments.one)
        with threadpool_limits(1):
            print(json.dumps(measure(CLASSIFIERS[name], kind, **sizes)))
        return
    sizes = QUICK_SIZES if arguments.quick else SIZES
    print(environment(skprob))
    print(", ".join(f"{name} {value:,}" for name, value in sizes.items()))
    lines = []
    for name, kind in CONTENDERS:
        task = json.dumps([name, kind, sizes])
        command = [sys.executable, __file__, "--one", task]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        lines.append([name, kind, *json.loads(result.stdout)])
        print("{}, {}: {} s an iteration, {} MB".format(*lines[-1]))
    table = as_markdown(HEADER, lines)
    print("\n" + table)
    if arguments.save_table:
        save_text(arguments.save_table, table)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the size")
    parser.add_argument("--save-table", metavar="PATH", help="Markdown file")
    parser.add_argument("--one", metavar="JSON", help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(classifier, kind, n_samples, n_features, n_labels, max_iter):
    """The entries of one line of the table, measured in this process."""
    X, Y = label_sets(n_samples + n_samples // 5, n_features, n_labels)
    if kind == "dense":
        Y = Y.toarray()
    model = classifier(sparse_output=kind == "CSR", max_iter=max_iter)
    with warnings.catch_warnings():
        # The iterations are few, and so may be the rows of a label.
        warnings.simplefilter("ignore", UserWarning)
        _, fit = timed(lambda: model.fit(X[:n_samples], Y[:n_samples]))
    peak_of_fit = peak_memory()
    p, predict_proba = timed(lambda: model.predict_proba(X))
    size = p.nbytes if kind == "dense" else sum_of_bytes(p)
    del p
    gc.collect()
    predicted, predict = timed(lambda: model.predict(X))
    f1 = f1_score(Y[n_samples:], predicted[n_samples:], average="micro")
    return [
        f"{fit / model.n_iter_:.1f}",
        f"{peak_of_fit:.0f}",
        f"{predict_proba:.1f}",
        f"{size / 1e6:.0f}",
        f"{predict:.1f}",
        f"{peak_memory():.0f}",
        f"{f1:.3f}",
    ]


def label_sets(n_samples, n_features, n_labels, rank=20):
    """X and the CSR indicator of the labels that a linear teacher gives its rows.

    The teacher's weights are of low rank, so that labels are related, and some labels
    are more common than others.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_samples, n_features))
    topics = rng.standard_normal((n_features, rank)) / np.sqrt(n_features)
    weights = rng.standard_normal((rank, n_labels))
    weights *= 4 / np.linalg.norm(weights, axis=0)
    popularity = 0.5 * rng.standard_normal(n_labels)
    sizes = 1 + rng.poisson(4, size=n_samples)
    columns = []
    for start in range(0, n_samples, 100):
        scores = X[start : start + 100] @ topics @ weights + popularity
        scores += 0.5 * rng.standard_normal(scores.shape)
        best = np.argsort(-scores, axis=1)
        of_rows = zip(best, sizes[start : start + 100], strict=True)
        # Copies: a view would keep the order of all labels in memory.
        columns += [row[:size].copy() for row, size in of_rows]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.concatenate(columns)
    ones = np.ones(len(columns), dtype=np.int8)
    return X, sparse.csr_array((ones, columns, indptr), shape=(n_samples, n_labels))


def sum_of_bytes(p):
    return p.data.nbytes + p.indices.nbytes + p.indptr.nbytes


def timed(call):
    start = time.process_time()
    result = call()
    return result, time.process_time() - start


def peak_memory():
    """In megabytes, of this process so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


if __name__ == "__main__":
    main()
