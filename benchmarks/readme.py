"""Write the figures and the picture of the README, by the scripts that measure them.

    python benchmarks/readme.py

The demonstration, the sets of digits and the iterations are those that the scripts in
`examples` compute when this runs, and the picture is one of theirs. The ratios of time
are read from the file that `benchmarks/fit.py` wrote. Text between the lines "begin
NAME" and "end NAME" of the README is replaced.
"""

import contextlib
import io
import runpy
from pathlib import Path

import matplotlib

ROOT = Path(__file__).resolve().parents[1]
FIT_TIMES = ROOT / "docs" / "user_guide" / "fit_times.txt"
# Problems with many rows, with many classes, and small ones.
PROBLEMS = {
    "letter": "letter, 16,000 × 16, 26 classes",
    "digits, raw": "digits, 1,797 × 64, raw",
    "mnist": "mnist, 60,000 × 784",
    "pendigits": "pendigits, 7,494 × 16",
    "500 classes": "10,000 × 50, 500 classes",
    "digits, scaled": "digits, standardised",
    "news20": "20 newsgroups, sparse, 21,209 words",
    "breast cancer, raw": "breast cancer, 569 × 30",
}


def table(head, rows):
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def run(name):
    """Global variables of an example script after it has run."""
    with contextlib.redirect_stdout(io.StringIO()):
        return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def demo():
    """Brier scores of the demonstration."""
    found = run("demo")
    rows = [
        [name, f"{score:.3f}", f"{found['mean_support_size'](found['p'][name]):.1f}"]
        for name, score in found["brier"].items()
    ]
    true_size = found["mean_support_size"](found["truth"])
    possible = f"possible digits ({true_size:.1f} in truth)"
    return table(["model and target", "squared distance to the truth", possible], rows)


def sets():
    """Coverage and size of sets of digits, and the module of the example."""
    example = run("sets_with_a_guarantee")
    names = {
        ("softmax", 0.98): "softmax, until the sum is 98 %",
        ("entmax", None): "entmax, all positive probabilities",
        ("conformal", 0.98): "`ConformalSets`, 98 %",
    }
    rows = []
    for key, name in names.items():
        coverage, size = example["found"][key]
        rows.append([name, f"{coverage:.1%}", f"{size:.2f}"])
    return table(["digits in the set", "true digit in the set", "mean size"], rows)


def scales():
    """Iterations on badly scaled features."""
    by_data = {}
    for data, model, iterations, _ in run("badly_scaled")["results"]:
        if model != "LogisticRegression()":  # stopped at a hundred
            by_data.setdefault(data, []).append(f"{iterations:,}")
    rows = [[data, *iterations] for data, iterations in by_data.items()]
    return table(["data", "`LogisticRegression`", "`SoftmaxClassifier`"], rows)


def times():
    """Ratios of time, from the file of `benchmarks/fit.py`."""
    lines = FIT_TIMES.read_text().splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rival, ratio = (cells[2].index(f"1e-06: {name}") for name in ("rival", "ratio"))
    measured = {}
    for row in cells:
        if row[1:3] == ["softmax", "1"]:
            measured.setdefault(row[0], row)  # the first table is of one thread
    rows = []
    for problem, text in PROBLEMS.items():
        row = measured[problem]
        least = "at least " if ">" in row[rival] else ""
        times = f"{least}{float(row[ratio]):.2g}"
        rows.append([text, row[rival].split()[0], times])
    heads = ["data", "fastest solver of scikit-learn", "skprob, times as fast"]
    return table(heads, rows)


def with_figures(readme, **sections):
    """Text of the README with the sections by name."""
    for name, text in sections.items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, found, rest = readme.partition(begin)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"The README has no place for {name!r}.")
        readme = f"{before}{begin}\n{text}\n{end}{after}"
    return readme


def main():
    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    path = ROOT / "README.md"
    text = with_figures(
        path.read_text(), demo=demo(), sets=sets(), scales=scales(), times=times()
    )
    path.write_text(text)
    plt.close("all")
    runpy.run_path(str(ROOT / "examples" / "sets_with_a_guarantee.py"))
    plt.savefig(ROOT / "docs" / "_static" / "readme.png", dpi=100)


if __name__ == "__main__":
    main()
