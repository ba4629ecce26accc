r"""The directive ``measured`` shows a benchmark's table, and the role a range of it.

The directive shows rows of a table, and a download of the file.

::

    .. measured:: fit_times.txt
       :table: 0
       :columns: problem; 1e-06: ratio
       :heads: data; times as fast
       :rows: softmax +\| 1 +\|

A file holds comma-separated values, Markdown tables, or columns that are two or more
spaces apart; an empty line or a line without columns ends a table. ``table`` is the
number of the table in the file, ``columns`` are its heads, and ``rows`` is a regular
expression that lines match. ``heads`` are the heads to show instead. ``first`` is the
number of columns to show, where a file has more columns than heads.

The role shows the smallest and the largest number of a column, such as "1.3 to 48"::

    :measured:`few_coefficients.csv; ^coefficients; times as fast`

The second part is a regular expression that lines match, the third a head, and a fourth
the number of the table. Cells that are not numbers, such as bounds, are left out.
"""

import csv
import re

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from list_table import list_table
from sphinx.util.docutils import SphinxDirective, SphinxRole


def cells(line):
    """Cells of a line of either kind of table."""
    if line.startswith("|"):
        return [cell.strip() for cell in line.strip().strip("|").split("|")]
    return [cell.strip() for cell in re.split(r"\s{2,}", line.rstrip())]


def tables(text):
    """Lists of lines of the tables of a text."""
    all_tables, lines = [], []
    for line in [*text.splitlines(), ""]:
        if len(cells(line)) > 1 and not set(line) <= set("|-: "):
            lines.append(line)
        elif not line.startswith("|"):
            if len(lines) > 1:
                all_tables.append(lines)
            lines = []
    return all_tables


def csv_cells(line):
    """Cells of a line of comma-separated values."""
    return next(csv.reader([line]))


def select(lines, columns, pattern, cells=cells):
    """Rows of cells, of which the first is the head, of the chosen columns."""
    rows = [cells(line) for line in lines[1:] if re.search(pattern, line)]
    if not rows:
        raise ValueError(f"no row matches {pattern!r}")
    head = cells(lines[0])
    # What names a row may take more columns than the head says; the last may be empty.
    head = [""] * (max(map(len, rows)) - len(head)) + head
    if unknown := set(columns or []) - set(head):
        raise ValueError(f"no column {sorted(unknown)} among {head}")
    chosen = [head.index(name) for name in columns] if columns else range(len(head))
    rows = [row + [""] * (len(head) - len(row)) for row in rows]
    return [[row[i] for i in chosen] for row in [head, *rows]]


def listed(argument):
    """Names between semicolons."""
    return [name.strip() for name in argument.split(";")]


def read_table(name, text, columns, pattern, table=0):
    """Rows of cells of a file's table, of which the first is the head."""
    if name.endswith(".csv"):
        return select(text.splitlines(), columns, pattern, csv_cells)
    return select(tables(text)[table], columns, pattern)


def with_heads(rows, heads):
    """The rows under other heads."""
    if len(heads) != len(rows[0]):
        raise ValueError(f"{len(heads)} heads for the columns {rows[0]}")
    return [heads, *rows[1:]]


def spread(name, text, pattern, column, table="0"):
    """Smallest and largest number in a column of a file's table, with two digits."""
    rows = read_table(name, text, [column], pattern, int(table))
    numbers = [float(c) for (c,) in rows[1:] if re.fullmatch(r"[\d.]+(e[-+]\d+)?", c)]
    if not numbers:
        raise ValueError(f"no number in the column {column!r} of {name}")
    return " to ".join(f"{float(f'{x:.2g}'):g}" for x in (min(numbers), max(numbers)))


class MeasuredSpread(SphinxRole):
    """Show the range of the numbers in a column of a file."""

    def run(self):
        """Nodes of the text of the range."""
        name, *where = listed(" ".join(self.text.split()))  # It may have line breaks.
        relative, path = self.env.relfn2path(name, self.env.docname)
        self.env.note_dependency(relative)
        with open(path, encoding="utf-8") as file:
            return [nodes.Text(spread(name, file.read(), *where))], []


class Measured(SphinxDirective):
    """Show the chosen part of a file as a table."""

    required_arguments = 1
    option_spec = {
        "table": directives.nonnegative_int,
        "columns": listed,
        "first": directives.positive_int,
        "heads": listed,
        "rows": directives.unchanged,
    }

    def run(self):
        """Nodes of the table and of the line below it."""
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        with open(path, encoding="utf-8") as file:
            rows = read_table(
                self.arguments[0],
                file.read(),
                self.options.get("columns"),
                self.options.get("rows", ""),
                self.options.get("table", 0),
            )
        rows = [row[: self.options.get("first")] for row in rows]
        if "heads" in self.options:
            rows = with_heads(rows, self.options["heads"])
        below = nodes.container()
        line = f"The whole file: :download:`{self.arguments[0]}`."
        self.state.nested_parse(StringList([line], self.name), 0, below)
        return [*list_table(self, rows), *below.children]


def setup(app):
    """Register the directive and the role with Sphinx."""
    app.add_directive("measured", Measured)
    app.add_role("measured", MeasuredSpread())
    return {"parallel_read_safe": True}
