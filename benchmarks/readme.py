"""Write the picture and the figures of the README and of a page of benchmarks.

    python benchmarks/readme.py

The sets of digits are means over twenty random splits: half of the images for the fit,
a quarter each for the calibration and the test. The iterations are those that a script
in `examples` computes when this runs. The table of the README replaces the text between
its lines "begin sets" and "end sets". The page reads `sets.csv` and `badly_scaled.csv`.
The picture is `docs/_static/readme.png`.
"""

import contextlib
import csv
import io
import runpy
import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from skprob import EntmaxClassifier, SoftmaxClassifier
from skprob.decision import ConformalSets
from skprob.metrics import mean_set_size, set_coverage

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "docs" / "measurements"
COLOURS = {"softmax": "#4573c4", "entmax": "#d9a441", "conformal": "#c24a5c"}
LINES = {
    "softmax": "softmax: best digits until\ntheir probabilities sum to …",
    "entmax": "entmax: positive probabilities",
    "conformal": "ConformalSets(coverage=…)",
}


LEVELS = [0.95, 0.97, 0.98, 0.99]


def run(name):
    """Global variables of an example script after it has run."""
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def until(p, level):
    """The most probable classes of each row, until their sum reaches a level."""
    order = np.argsort(-p, axis=1)
    falling = np.take_along_axis(p, order, axis=1)
    sets = np.zeros(p.shape, dtype=int)
    before = np.cumsum(falling, axis=1) - falling
    np.put_along_axis(sets, order, before < level, axis=1)
    return sets


def measure_sets(n_splits=20):
    """Mean coverage and size of sets of digits, by the kind and the level."""
    X, y = load_digits(return_X_y=True)
    results = {}
    for seed in range(n_splits):
        X_fit, X_rest, y_fit, y_rest = train_test_split(
            X / 16, y, test_size=0.5, random_state=seed
        )
        X_cal, X_test, y_cal, y_test = train_test_split(
            X_rest, y_rest, test_size=0.5, random_state=seed
        )
        softmax = SoftmaxClassifier().fit(X_fit, y_fit)
        p = softmax.predict_proba(X_test)
        entmax = EntmaxClassifier().fit(X_fit, y_fit).predict_proba(X_test)
        sets = {("entmax", None): (entmax > 0).astype(int)}
        for level in LEVELS:
            model = ConformalSets(softmax, coverage=level, cv="prefit")
            sets["conformal", level] = model.fit(X_cal, y_cal).predict_set(X_test)
            sets["softmax", level] = until(p, level)
        for key, each in sets.items():
            coverage = set_coverage(y_test, each, classes=range(10))
            results.setdefault(key, []).append((coverage, mean_set_size(each)))
    return {key: np.mean(values, axis=0) for key, values in results.items()}


def sets_table(measured):
    """Head and rows: coverage and size of three kinds of sets of digits."""
    names = {
        ("softmax", 0.98): "softmax: best digits until their sum is 98 %",
        ("entmax", None): "entmax: digits with a positive probability",
        ("conformal", 0.98): "ConformalSets, coverage 98 %",
    }
    rows = [["digits in the set", "true digit in the set", "mean number of digits"]]
    for key, name in names.items():
        coverage, size = measured[key]
        rows.append([name, f"{coverage:.1%}", f"{size:.2f}"])
    return rows


def iterations_table(iterations):
    """Head and rows: iterations on features in their own units."""
    heads = ["data", "LogisticRegression, iterations", "SoftmaxClassifier, iterations"]
    # The first number is that of a fit that stops at a hundred.
    rows = [[name, *(f"{n:,}" for n in ns[1:])] for name, ns in iterations.items()]
    return [heads, *rows]


def markdown(rows):
    """A table in Markdown, of which the first row is the head."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def with_figures(readme, **sections):
    """Text of the README with the sections by name."""
    for name, text in sections.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, has_begin, remaining = readme.partition(begin)
        _, has_end, after = remaining.partition(end)
        if not (has_begin and has_end):
            raise ValueError(f"The README has no place for {name!r}.")
        readme = f"{before}{begin}\n{text}\n{end}{after}"
    return readme


def draw_coverage(ax, measured):
    """Coverage of held-out rows against the size of the sets, with the levels."""
    for kind, label in LINES.items():
        of_kind = {key: value for key, value in measured.items() if key[0] == kind}
        points = {level: value for (_, level), value in of_kind.items()}
        coverage, size = np.transpose(list(points.values()))
        ax.plot(size, 100 * coverage, "o-", color=COLOURS[kind], label=label)
        for level, (share, number) in points.items():
            if level is not None:
                ax.annotate(
                    f"{level:.0%}",
                    (number, 100 * share),
                    xytext=(5, -11),
                    textcoords="offset points",
                    fontsize="small",
                )
    ax.set(
        xlabel="mean number of digits in a set",
        ylabel="sets with the true digit (%)",
        title="digits: sets and their coverage on held-out rows",
        ylim=(95, 100.3),
        xlim=(0.8, 4.4),
    )
    ax.legend(fontsize="small", loc="lower right")


def draw_picture(measured):
    """Regions of iris under two mappings, and coverage against size on the digits."""
    sys.path.insert(0, str(ROOT / "docs" / "code"))
    import matplotlib.pyplot as plt
    from regions import add_species_legend, draw_regions

    from skprob import SparsemaxClassifier

    figure, (left, middle, right) = plt.subplots(
        1, 3, figsize=(12, 4), layout="constrained", width_ratios=[1, 1, 1.2]
    )
    draw_regions(left, SoftmaxClassifier(C=10))
    left.set_title("softmax rules nothing out")
    draw_regions(middle, SparsemaxClassifier(C=10))
    middle.set(title="sparsemax names the possible species", ylabel="")
    for ax in (left, middle):
        add_species_legend(ax)
    draw_coverage(right, measured)
    return figure


def main():
    matplotlib.use("agg")
    measured = measure_sets()
    tables = {
        "sets": sets_table(measured),
        "badly_scaled": iterations_table(run("badly_scaled")["iterations"]),
    }
    for name, rows in tables.items():
        with open(TABLES / f"{name}.csv", "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    path = ROOT / "README.md"
    path.write_text(with_figures(path.read_text(), sets=markdown(tables["sets"])))
    draw_picture(measured).savefig(ROOT / "docs" / "_static" / "readme.png", dpi=110)


if __name__ == "__main__":
    main()
