"""Time of one evaluation of the objective, in units of one read of the data.

An evaluation is the value and the gradient of the training objective; with it comes a
Hessian product, which a Newton method needs many of. Both are given as multiples of
the time of ``X @ w`` with a vector w, the least that any method needs to look at X
once. They are timed in turn in one process and the shortest of the repeats counts. A
second table has the growth of the time with each of the three sizes, a third the memory
of a fit in addition to X.

    python benchmarks/evaluation.py [--quick] [--threads N] [--cpu]
                                    [--save-table PATH] [--save-plot PATH]

The data are synthetic, or mnist if SKPROB_DATA is the folder that holds mnist.npz.
"""

import argparse
import itertools
import os
import time
import tracemalloc
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from _report import as_markdown, environment, interleaved, save_ratios, save_text
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_info, threadpool_limits

import skprob
from skprob import LinearClassifier
from skprob.losses import FenchelYoungLoss
from skprob.mappings import Entmax, Softmax, Sparsemax
from skprob.objective import LinearObjective, split_rows
from skprob.targets import LabelTarget

MAPPINGS = {"softmax": Softmax(), "sparsemax": Sparsemax(), "entmax 1.5": Entmax(1.5)}
N_CLASSES = [2, 10, 100]
DTYPES = [np.float64, np.float32]
# Streaming reads that an evaluation with ten classes may take.
GOAL = 3

TIMES_HEADER = [
    *("X", "dtype", "classes", "mapping"),
    *("read, ms", "evaluation, reads", "Hessian product, reads"),
]
GROWTH_HEADER = ["mapping", "ten times as many", "from", "to", "time, times"]
MEMORY_HEADER = ["mapping", "classes", "X, MB", "fit beside X, MB"]


def main():
    """Print the tables, and save those of the options."""
    arguments = parse_arguments()
    name, X = data(arguments.quick)
    clock = time.process_time if arguments.cpu else time.perf_counter
    timed = partial(interleaved, repeats=arguments.repeats, summary=min, clock=clock)
    with threadpool_limits(arguments.threads, user_api="blas"):
        blas = [i["num_threads"] for i in threadpool_info() if i["user_api"] == "blas"]
        print(environment(skprob))
        print(f"{name}, {X.shape[0]}×{X.shape[1]}; threads of BLAS: {max(blas)}.")
        kind = "processor" if arguments.cpu else "elapsed"
        print(f"Shortest {kind} time of {arguments.repeats} repeats.\n")
        times = []
        for line in compare_times(X, timed):
            times.append(line)
            print(*line, sep=", ", flush=True)
        growth = list(compare_growth(X, timed))
        memory = list(compare_memory(X))
    tables = "\n\n".join(
        as_markdown(header, rows)
        for header, rows in (
            (TIMES_HEADER, times),
            (GROWTH_HEADER, growth),
            (MEMORY_HEADER, memory),
        )
    )
    print("\n" + tables)
    if arguments.save_table:
        save_text(arguments.save_table, tables)
    if arguments.save_plot:
        plot(arguments.save_plot, times)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--threads", type=int, help="of BLAS (default: its own)")
    parser.add_argument(
        "--cpu",
        action="store_true",
        help="processor time, for a machine with other work (use --threads 1)",
    )
    parser.add_argument("--repeats", type=int, default=9, help="rounds (default: 9)")
    parser.add_argument("--save-table", metavar="PATH", help="Markdown file")
    parser.add_argument("--save-plot", metavar="PATH", help="picture of the ratios")
    return parser.parse_args()


def data(quick):
    """Name and features, in float64."""
    folder = os.environ.get("SKPROB_DATA")
    if folder:
        with np.load(Path(folder) / "mnist.npz") as file:
            name, X = "mnist", file["X_train"] / 255.0
    else:
        rng = np.random.default_rng(0)
        name, X = "synthetic", rng.standard_normal((60_000, 784))
        # It has the share of zeros of mnist, for the comparison with CSR.
        X[rng.random(X.shape) < 0.8] = 0
    return name, np.ascontiguousarray(X[:: 10 if quick else 1])


def problem(X, mapping, n_classes):
    """Objective, parameters as large as after a fit, and a direction."""
    rng = np.random.default_rng(0)
    labels = rng.integers(n_classes, size=X.shape[0])
    target = LabelTarget(labels, n_classes, X.dtype)
    blocks = split_rows(X, target, np.ones(X.shape[0]))
    objective = LinearObjective(blocks, FenchelYoungLoss(mapping), l2=1e-5)
    parameters, direction = rng.standard_normal((2, objective.n_parameters)) / 5
    return objective, parameters, direction


def compare_times(X, timed):
    """One line for each layout, dtype, number of classes and mapping."""
    for layout, dtype in itertools.product(("dense", "CSR"), DTYPES):
        data = X.astype(dtype, copy=False)
        data = sparse.csr_array(data) if layout == "CSR" else data
        w = np.random.default_rng(0).standard_normal(X.shape[1]).astype(dtype)
        for n_classes, (name, mapping) in itertools.product(
            N_CLASSES, MAPPINGS.items()
        ):
            objective, parameters, direction = problem(data, mapping, n_classes)
            point = objective.at(parameters)
            seconds = timed(
                {
                    "read": lambda data=data, w=w: data @ w,
                    "evaluation": lambda o=objective, t=parameters: (
                        o.value_and_gradient(t)
                    ),
                    "product": lambda h=point.hessian_product, v=direction: h(v),
                }
            )
            yield (
                layout,
                np.dtype(dtype).name,
                n_classes,
                name,
                f"{1e3 * seconds['read']:.2f}",
                f"{seconds['evaluation'] / seconds['read']:.2f}",
                f"{seconds['product'] / seconds['read']:.2f}",
            )


def compare_growth(X, timed):
    """One line for each mapping and size: the time of ten times as much of it."""
    n_samples, n_features = X.shape
    few_rows, few_features = X[::10].copy(), X[:, ::10].copy()
    for name, mapping in MAPPINGS.items():
        complete = problem(X, mapping, 10)
        for size, fewer, more, small, large in (
            (
                "rows",
                n_samples // 10,
                n_samples,
                problem(few_rows, mapping, 10),
                complete,
            ),
            (
                "features",
                -(-n_features // 10),
                n_features,
                problem(few_features, mapping, 10),
                complete,
            ),
            ("classes", 10, 100, complete, problem(X, mapping, 100)),
        ):
            seconds = timed(
                {
                    "small": lambda p=small: p[0].value_and_gradient(p[1]),
                    "large": lambda p=large: p[0].value_and_gradient(p[1]),
                }
            )
            ratio = seconds["large"] / seconds["small"]
            yield name, size, fewer, more, f"{ratio:.1f}"


def compare_memory(X):
    """One line for each number of classes: the peak of what a fit allocates."""
    rng = np.random.default_rng(0)
    for n_classes in N_CLASSES:
        y = rng.integers(n_classes, size=len(X))
        model = LinearClassifier("entmax", max_iter=3, tol=0)
        tracemalloc.start()
        with warnings.catch_warnings():
            # A few iterations show all that a fit allocates.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        yield "entmax 1.5", n_classes, f"{X.nbytes / 1e6:.0f}", f"{peak / 1e6:.0f}"


def plot(path, times):
    """The evaluations of each group, over the goal."""
    ratios = {}
    for layout, dtype, n_classes, _, _, evaluation, _ in times:
        label = f"{layout} {dtype}, {n_classes} classes"
        ratios.setdefault(label, []).append(GOAL / float(evaluation))
    save_ratios(path, f"{GOAL} streaming reads of X over one evaluation", ratios)


if __name__ == "__main__":
    main()
