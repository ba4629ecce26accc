"""Time and accuracy of every mapping, and of scipy, torch and the entmax package.

The mappings are those that are registered, at their defaults and at more values of
alpha. What else computes the same is given below; where that is nothing, a mapping
has its own time and error alone. Both sides of each comparison run in turn in one
process on the same scores: standard normal ones times a spread. Times are those of the
processor, on one thread. A second table has the largest error of each side against
fifty digits, for scores with and without an offset.

With ``--only-noises`` there is another table instead: the time of perturb-max in units
of softmax's, in a call and in a fit, for each named noise.

    python benchmarks/mappings.py [--quick] [--save-table PATH] [--save-plot PATH]
    python benchmarks/mappings.py --only-noises --save-table PATH
"""

import argparse
import itertools
import math
import sys
import time
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.special
from _report import as_markdown, environment, interleaved, save_ratios, save_text
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import skprob
from skprob import PerturbMaxClassifier, SoftmaxClassifier
from skprob.mappings import MAPPINGS, Entmax, PerturbMax, Softmax

try:
    import entmax as entmax_package
    import torch
    from _references import probabilities
except ImportError as error:
    sys.exit(
        f'{error.name} is missing: this benchmark needs pip install ".[bench]" '
        "(with the CPU build of torch)."
    )

SHAPES = [(60_000, 10), (10_000, 100), (1_000, 1_000), (100, 32_000)]
QUICK_SHAPES = [(n // 10, n_classes) for n, n_classes in SHAPES]
NOISES = [
    *("gumbel", "normal", "logistic", "laplace", "exponential", "uniform", "cauchy"),
    *("student_t", "generalized_normal", "skew_normal"),
]
SPREADS = [1, 4]
DTYPES = [np.float64, np.float32]
OFFSETS = [0, 1e3, 1e6]
# Besides the default, 1.5.
ALPHAS = [1.05, 1.25, 1.75, 2.5]
# A comparison has no further round after this time.
SECONDS = 20

TIMES_HEADER = [
    *("mapping", "scores", "dtype", "spread", "other side"),
    *("ms", "theirs", "ratio", "goal"),
]
# Perturb-max: scores, and rounds of a fit.
NOISE_SHAPE, FIT_REPEATS = (16_000, 26), 7
NOISES_HEADER = ["noise", "call / softmax's", "fit / softmax's", "fit by log loss"]
ERRORS_HEADER = ["mapping", "dtype", "offset", "largest error", "other side", "theirs"]


class Peer(NamedTuple):
    """Another program that computes a mapping, and the goal for skprob's speed-up."""

    name: str
    function: object
    goal: float | None = None


def torch_taylor(z):
    weight = 1 + z * (1 + z / 2)
    return weight / weight.sum(-1, keepdim=True)


def torch_top_k(z):
    # Any of equal scores may be kept. With an offset, float32 has many of them.
    top, where = z.topk(min(10, z.shape[-1]), -1)
    return torch.zeros_like(z).scatter(-1, where, torch.softmax(top, -1))


#: By the representation of the mapping. Torch expressions are those of usual code.
PEERS = {
    "Softmax()": [
        Peer("scipy softmax", lambda z: scipy.special.softmax(z.numpy(), axis=-1)),
        Peer("torch softmax", lambda z: torch.softmax(z, -1)),
    ],
    "Sparsemax()": [
        Peer("entmax sparsemax", lambda z: entmax_package.sparsemax(z, -1), 1)
    ],
    "Entmax()": [Peer("entmax entmax15", lambda z: entmax_package.entmax15(z, -1), 1)],
    **{
        f"Entmax(alpha={alpha})": [
            Peer(
                "entmax entmax_bisect",
                lambda z, alpha=alpha: entmax_package.entmax_bisect(z, alpha, -1),
                3,
            )
        ]
        for alpha in ALPHAS
    },
    "TaylorSoftmax()": [Peer("torch expression", torch_taylor)],
    "SparseSoftmax()": [Peer("torch expression", torch_top_k)],
    "EntropyInvariantSoftmax()": [
        Peer(
            "torch expression",
            lambda z: torch.softmax(math.log(z.shape[-1]) * z, -1),
        )
    ],
}
MEMBERS = [
    *(mapping() for mapping in MAPPINGS.values()),
    *(Entmax(alpha) for alpha in ALPHAS),
]


def main():
    """Print the tables, and save those of the options."""
    arguments = parse_arguments()
    if arguments.only_noises:
        noises = as_markdown(NOISES_HEADER, compare_noises(arguments.quick))
        print(noises)
        if arguments.save_table:
            save_text(arguments.save_table, noises)
        return
    torch.set_num_threads(1)
    print(environment(torch, skprob))
    shapes = QUICK_SHAPES if arguments.quick else SHAPES
    times, errors = [], []
    for shape, dtype, spread in itertools.product(shapes, DTYPES, SPREADS):
        print("\n{}×{}, {}, spread {}".format(*shape, dtype.__name__, spread))
        for line in compare_times(shape, dtype, spread, arguments.repeats):
            times.append(line)
            mapping, *_, peer, ours, theirs, _, _ = line
            beside = f"; {peer}: {theirs} ms" if peer else ""
            print(f"{mapping}: {ours} ms{beside}")
    for dtype in DTYPES:
        errors += compare_errors(dtype, n_rows=1 if arguments.quick else 10)
    tables = "\n\n".join(
        as_markdown(*table)
        for table in ((TIMES_HEADER, times), (ERRORS_HEADER, errors))
    )
    print("\n" + tables)
    missed = [line for line in times if line[-1] and float(line[-2]) < line[-1]]
    print(f"\n{len(missed)} of {sum(bool(line[-1]) for line in times)} goals missed.")
    if arguments.save_table:
        save_text(arguments.save_table, f"{environment(torch, skprob)}\n\n{tables}")
    if arguments.save_plot:
        plot(arguments.save_plot, times)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument(
        "--only-noises", action="store_true", help="the table of perturb-max"
    )
    parser.add_argument("--repeats", type=int, default=7, help="rounds (default: 7)")
    parser.add_argument("--save-table", metavar="PATH", help="Markdown file")
    parser.add_argument("--save-plot", metavar="PATH", help="picture of the ratios")
    return parser.parse_args()


def compare_times(shape, dtype, spread, repeats):
    """One line for each mapping and peer."""
    scores = spread * np.random.default_rng(0).standard_normal(shape)
    scores = scores.astype(dtype)
    tensor = torch.from_numpy(scores)
    for mapping in MEMBERS:
        for peer in PEERS.get(repr(mapping), [None]):
            contenders = {"ours": lambda mapping=mapping: mapping(scores)}
            if peer:
                contenders["theirs"] = lambda peer=peer: peer.function(tensor)
            medians = interleaved(contenders, repeats, SECONDS, clock=time.process_time)
            line = [mapping, "{}×{}".format(*shape), dtype.__name__, spread]
            line += [peer.name if peer else ""]
            line += [f"{1e3 * seconds:.2f}" for seconds in medians.values()]
            if peer:
                line += [f"{medians['theirs'] / medians['ours']:.2f}", peer.goal or ""]
            yield line if peer else [*line, "", "", ""]


def compare_errors(dtype, n_rows):
    """One line for each mapping, peer and offset."""
    for mapping, offset in itertools.product(MEMBERS, OFFSETS):
        scores = offset + np.random.default_rng(0).standard_normal((n_rows, 20))
        scores = scores.astype(dtype)
        exact = [probabilities(mapping, row) for row in scores]
        ours = largest_error(mapping(scores), exact)
        for peer in PEERS.get(repr(mapping), [None]):
            line = [mapping, dtype.__name__, f"{offset:g}", f"{ours:.1e}"]
            if peer:
                results = np.asarray(peer.function(torch.from_numpy(scores)))
                line += [peer.name, f"{largest_error(results, exact):.1e}"]
            yield line if peer else [*line, "", ""]


@threadpool_limits.wrap(limits=1)  # Threads of BLAS that wait take CPU time, too.
def compare_noises(quick):
    """A line for each named noise: CPU time of perturb-max over that of softmax."""
    n_rows, n_classes = NOISE_SHAPE
    shape = (n_rows // 10 if quick else n_rows, n_classes)
    scores = np.random.default_rng(0).standard_normal(shape)
    X, y = load_digits(return_X_y=True)
    X = StandardScaler().fit_transform(X)

    def ratio(ours, softmax, repeats):
        contenders = {"ours": ours, "softmax": softmax}
        times = interleaved(contenders, repeats, SECONDS, clock=time.process_time)
        return f"{times['ours'] / times['softmax']:.0f}"

    lines = []
    for noise in NOISES:
        mapping, softmax = PerturbMax(noise), Softmax()
        line = [noise, ratio(partial(mapping, scores), partial(softmax, scores), 7)]
        for loss in "auto", "log":
            model = PerturbMaxClassifier(noise, loss=loss)
            fits = partial(model.fit, X, y), partial(SoftmaxClassifier().fit, X, y)
            line.append(ratio(*fits, FIT_REPEATS))
        lines.append(line)
    return lines


def largest_error(results, exact):
    """Largest absolute difference, in the digits of the exact numbers."""
    pairs = zip(results.ravel().tolist(), itertools.chain(*exact), strict=True)
    return float(max(abs(p - reference) for p, reference in pairs))


def plot(path, times):
    """The ratios of the comparisons that have a goal, over that goal."""
    ratios = {}
    for mapping, *_, ratio, goal in times:
        if goal:
            label = f"{mapping}, goal {goal}×"
            ratios.setdefault(label, []).append(float(ratio) / goal)
    save_ratios(path, "As fast as the entmax package, over the goal", ratios)


if __name__ == "__main__":
    main()
