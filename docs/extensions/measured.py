r"""The directive and the role ``measured`` show what a benchmark wrote to a file.

The directive shows rows of a table, and a download of the file.

::

    .. measured:: fit_times.txt
       :table: 0
       :columns: problem; 1e-06: ratio
       :rows: softmax +\| 1 +\|

A file holds Markdown tables, or columns that are two or more spaces apart; an empty
line or a line without columns ends a table. ``table`` is the number of the table in the
file, ``columns`` are heads, and ``rows`` is a regular expression that lines match.

The role shows one cell of a table::

    :measured:`fit_times.txt; ^. letter +. softmax +. 1 +.; 1e-06: ratio`

The second part is a regular expression that one line matches, the third a head, and a
fourth the number of the table. What stands in brackets at the end of the cell is left
out. A file of comma-separated values has one table.
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
    found, lines = [], []
    for line in [*text.splitlines(), ""]:
        if len(cells(line)) > 1 and not set(line) <= set("|-: "):
            lines.append(line)
        elif not line.startswith("|"):
            if len(lines) > 1:
                found.append(lines)
            lines = []
    return found


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


def cell(name, text, row, column, table="0"):
    """The cell in a column of the only row of a file's table that matches a pattern."""
    if name.endswith(".csv"):
        found = select(text.splitlines(), [column], row, csv_cells)
    else:
        found = select(tables(text)[int(table)], [column], row)
    if len(found) != 2:
        raise ValueError(f"{len(found) - 1} rows match {row!r}, which must be one")
    return re.sub(r" *\(.*\)$", "", found[1][0])


class MeasuredCell(SphinxRole):
    """Show one cell of a file."""

    def run(self):
        """Nodes of the text of the cell."""
        name, *where = listed(self.text)
        relative, path = self.env.relfn2path(name, self.env.docname)
        self.env.note_dependency(relative)
        with open(path, encoding="utf-8") as file:
            return [nodes.Text(cell(name, file.read(), *where))], []


class Measured(SphinxDirective):
    """Show the chosen part of a file as a table."""

    required_arguments = 1
    option_spec = {
        "table": directives.nonnegative_int,
        "columns": listed,
        "rows": directives.unchanged,
    }

    def run(self):
        """Nodes of the table and of the line below it."""
        relative, path = self.env.relfn2path(self.arguments[0])
        self.env.note_dependency(relative)
        with open(path, encoding="utf-8") as file:
            found = tables(file.read())
        rows = select(
            found[self.options.get("table", 0)],
            self.options.get("columns"),
            self.options.get("rows", ""),
        )
        below = nodes.container()
        line = f"All that was measured: :download:`{self.arguments[0]}`."
        self.state.nested_parse(StringList([line], self.name), 0, below)
        return [*list_table(self, rows), *below.children]


def setup(app):
    """Register the directive and the role with Sphinx."""
    app.add_directive("measured", Measured)
    app.add_role("measured", MeasuredCell())
    return {"parallel_read_safe": True}
