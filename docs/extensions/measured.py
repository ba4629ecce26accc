r"""The directive ``measured``: rows of a file that a benchmark wrote, and a download.

::

    .. measured:: fit_times.txt
       :table: 0
       :columns: problem; 1e-06: ratio
       :rows: softmax +\| 1 +\|

A file holds Markdown tables, or columns that are two or more spaces apart; an empty
line or a line without columns ends a table. ``table`` is the number of the table in the
file, ``columns`` are heads, and ``rows`` is a regular expression that lines match.
"""

import re

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from list_table import list_table
from sphinx.util.docutils import SphinxDirective


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


def select(lines, columns, pattern):
    """Rows of cells, of which the first is the head, of the chosen columns."""
    rows = [cells(line) for line in lines[1:] if re.search(pattern, line)]
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
    """Register the directive with Sphinx."""
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True}
