"""Time and accuracy of the mappings beside scipy, torch and the entmax package.

Both sides of each comparison run in turn in one process on the same scores: standard
normal ones times a spread. skprob and scipy use one thread; torch is timed with its
default number of threads and with one. A second table has the largest error of each
side against fifty digits, for scores with and without an offset.

    python benchmarks/mappings.py [--quick] [--save-table PATH] [--save-plot PATH]
"""

import argparse
import itertools
import sys
from decimal import Decimal, localcontext

import numpy as np
import scipy.special
from _report import as_markdown, environment, interleaved, save_ratios, save_text

import skprob
from skprob.mappings import entmax, softmax, sparsemax

try:
    import entmax as entmax_package
    import torch
except ImportError as error:
    sys.exit(
        f'{error.name} is missing: this benchmark needs pip install "skprob[bench]" '
        "(with the CPU build of torch)."
    )

SHAPES = [(60_000, 10), (10_000, 100), (1_000, 1_000), (100, 32_000)]
QUICK_SHAPES = [(n // 10, n_classes) for n, n_classes in SHAPES]
SPREADS = [1, 4]
DTYPES = [np.float64, np.float32]
OFFSETS = [0, 1e3, 1e6]

TIMES_HEADER = [
    *("mapping", "scores", "dtype", "spread", "other side", "threads"),
    *("ms", "theirs", "ratio", "goal"),
]
ERRORS_HEADER = ["mapping", "dtype", "offset", "largest error", "other side", "theirs"]

# mapping, other side, ours, theirs, how many times as fast it should be
COMPARISONS = [
    (
        "softmax",
        "scipy softmax",
        softmax,
        lambda z: scipy.special.softmax(z.numpy(), axis=-1),
        None,
    ),
    ("softmax", "torch softmax", softmax, lambda z: torch.softmax(z, -1), None),
    (
        "sparsemax",
        "entmax sparsemax",
        sparsemax,
        lambda z: entmax_package.sparsemax(z, -1),
        1,
    ),
    (
        "entmax 1.5",
        "entmax entmax15",
        lambda z: entmax(z, 1.5),
        lambda z: entmax_package.entmax15(z, -1),
        1,
    ),
    *(
        (
            f"entmax {alpha}",
            "entmax entmax_bisect",
            lambda z, alpha=alpha: entmax(z, alpha),
            lambda z, alpha=alpha: entmax_package.entmax_bisect(z, alpha, -1),
            3,
        )
        for alpha in (1.05, 1.25, 1.75, 2.5)
    ),
]


def main():
    """Print the tables; save what is asked for."""
    arguments = parse_arguments()
    threads = sorted({torch.get_num_threads(), 1}, reverse=True)
    print(environment(torch, skprob))
    print(f"skprob and scipy: 1 thread; torch: {threads} threads. Medians of rounds.")
    shapes = QUICK_SHAPES if arguments.quick else SHAPES
    times, errors = [], []
    for shape, dtype, spread in itertools.product(shapes, DTYPES, SPREADS):
        print("\n{}×{}, {}, spread {}".format(*shape, dtype.__name__, spread))
        for line in compare_times(shape, dtype, spread, threads, arguments.repeats):
            times.append(line)
            print("{}: {}, {} thread(s): {} and {} ms".format(line[0], *line[4:8]))
    for dtype in DTYPES:
        errors += compare_errors(dtype)
    tables = "\n\n".join(
        [as_markdown(TIMES_HEADER, times), as_markdown(ERRORS_HEADER, errors)]
    )
    print("\n" + tables)
    missed = [line for line in times if line[-1] and float(line[-2]) < line[-1]]
    print(f"\n{len(missed)} of {sum(bool(line[-1]) for line in times)} goals missed.")
    if arguments.save_table:
        save_text(arguments.save_table, tables)
    if arguments.save_plot:
        plot(arguments.save_plot, times)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--repeats", type=int, default=7, help="rounds (default: 7)")
    parser.add_argument("--save-table", metavar="PATH", help="Markdown file")
    parser.add_argument("--save-plot", metavar="PATH", help="picture of the ratios")
    return parser.parse_args()


def compare_times(shape, dtype, spread, threads, repeats):
    """One line for each comparison and number of threads of torch."""
    scores = spread * np.random.default_rng(0).standard_normal(shape)
    scores = scores.astype(dtype)
    tensor = torch.from_numpy(scores)
    for (name, other, ours, theirs, goal), n_threads in itertools.product(
        COMPARISONS, threads
    ):
        if other.startswith("scipy") and n_threads > 1:
            continue
        torch.set_num_threads(n_threads)
        medians = interleaved(
            {
                "ours": lambda ours=ours: ours(scores),
                "theirs": lambda theirs=theirs: theirs(tensor),
            },
            repeats,
        )
        yield (
            name,
            "{}×{}".format(*shape),
            dtype.__name__,
            spread,
            other,
            n_threads,
            f"{1e3 * medians['ours']:.2f}",
            f"{1e3 * medians['theirs']:.2f}",
            f"{medians['theirs'] / medians['ours']:.2f}",
            goal or "",
        )


def compare_errors(dtype):
    """One line for each comparison and offset: largest errors over a few rows."""
    for (name, other, ours, theirs, _), offset in itertools.product(
        COMPARISONS, OFFSETS
    ):
        scores = offset + np.random.default_rng(0).standard_normal((10, 20))
        scores = scores.astype(dtype)
        alpha = {"softmax": 1.0, "sparsemax": 2.0}.get(name) or float(name.split()[1])
        exact = [entmax_in_fifty_digits(row, alpha) for row in scores]
        found = ours(scores), theirs(torch.from_numpy(scores))
        ours_error, theirs_error = (
            max(
                abs(Decimal(float(a)) - b)
                for row, reference in zip(p, exact, strict=True)
                for a, b in zip(row, reference, strict=True)
            )
            for p in found
        )
        yield (
            name,
            dtype.__name__,
            f"{offset:g}",
            f"{float(ours_error):.1e}",
            other,
            f"{float(theirs_error):.1e}",
        )


def entmax_in_fifty_digits(scores, alpha):
    """The defining equation, solved by bisection."""
    with localcontext(prec=50):
        z = [Decimal(float(score)) - Decimal(float(max(scores))) for score in scores]
        if alpha == 1:
            powers = [d.exp() for d in z]
            return [power / sum(powers) for power in powers]
        beta = Decimal(alpha) - 1

        def at(tau):
            return [max(beta * d - tau, Decimal(0)) ** (1 / beta) for d in z]

        low, high = Decimal(-1), Decimal(0)
        for _ in range(120):
            middle = (low + high) / 2
            if sum(at(middle)) > 1:
                low = middle
            else:
                high = middle
        return at(low)


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
