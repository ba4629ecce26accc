"""The directive ``fit-times`` shows the times that ``benchmarks/fit.py`` measured.

::

    .. fit-times:: fit_times.txt
       :mappings: softmax
       :problems: letter; mnist

Without the options all mappings and problems are shown. The times are those to a
relative suboptimality of 1e-6 with C = 1 on one thread.
"""

import re

from list_table import list_table
from measured import cells, listed, tables
from sphinx.util.docutils import SphinxDirective

SIZES = {
    "iris, raw": "iris, 150 × 4",
    "iris, scaled": "iris, standardised",
    "wine, raw": "wine, 178 × 13",
    "wine, scaled": "wine, standardised",
    "breast cancer, scaled": "breast cancer, standardised",
    "200 x 5": "200 × 5, 3 classes",
    "digits, raw": "digits, 1,797 × 64",
    "digits, scaled": "digits, standardised",
    "breast cancer, raw": "breast cancer, 569 × 30",
    "breast cancer, scaled, no intercept": "breast cancer, standardised, no intercept",
    "badly scaled columns": "columns on very different scales",
    "wide": "100 × 5,000, 4 classes",
    "letter": "letter, 16,000 × 16, 26 classes",
    "pendigits": "pendigits, 7,494 × 16",
    "news20": "20 newsgroups, 21,209 words, sparse",
    "500 classes": "10,000 × 50, 500 classes",
    "400,000 rows": "400,000 × 50, 20 classes",
    "mnist": "mnist, 60,000 × 784",
}
PROGRAMS = {"L-BFGS-B": "SciPy, L-BFGS-B", "LBFGS": "torch, LBFGS"}
HEADS = [
    "data",
    "mapping",
    "fastest rival",
    "fastest rival, seconds",
    "skprob, seconds",
    "skprob, times as fast",
]
# A larger ratio says only that the rival is not made for the problem.
MOST_TIMES = 100


def seconds(cell):
    """Name of a solver and its seconds: ``>30 (4e-04)`` did not reach the accuracy."""
    name, time = re.fullmatch(r"(\S+) ([~>]?[\d.]+)(?: \(.*\))?", cell).groups()
    name = PROGRAMS.get(name, name)
    if time.startswith(">"):
        return name, f"not reached in {time[1:]}"
    return name, time.lstrip("~")


def times_as_fast(ratio, reached):
    """A ratio of times in two digits, as a lower bound where it is one."""
    if float(ratio) > MOST_TIMES:
        return f"over {MOST_TIMES}"
    digits = 2 if float(ratio) < 1 else 1 if float(ratio) < 10 else 0
    return f"{'' if reached else 'over '}{float(ratio):.{digits}f}"


def fit_times(text, mappings=None, problems=None):
    """Head and rows of the table: the rows of a problem follow each other."""
    lines = [cells(line) for line in tables(text)[0]]
    order = list(dict.fromkeys(line[0] for line in lines))
    lines.sort(key=lambda line: order.index(line[0]))
    head = lines[0]
    rival, ours, ratio = (
        head.index(f"1e-06: {name}") for name in ("rival", "ours", "ratio")
    )
    rows = [HEADS]
    for row in lines[1:]:
        problem, mapping, C = row[:3]
        if C != "1" or (mappings and mapping not in mappings):
            continue
        if problems and problem not in problems:
            continue
        name, time = seconds(row[rival])
        times = times_as_fast(row[ratio], "not reached" not in time)
        skprob_time = seconds(row[ours])[1]
        rows.append([SIZES[problem], mapping, name, time, skprob_time, times])
    if len(mappings or []) == 1:
        rows = [row[:1] + row[2:] for row in rows]
    return rows


class FitTimes(SphinxDirective):
    """Show the times as a table."""

    required_arguments = 1
    option_spec = {"mappings": listed, "problems": listed}

    def run(self):
        """Nodes of the table."""
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        with open(path, encoding="utf-8") as file:
            return list_table(self, fit_times(file.read(), **self.options))


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("fit-times", FitTimes)
    return {"parallel_read_safe": True}
