"""A table that a directive computes."""

from docutils import nodes
from docutils.statemachine import StringList


def list_table(directive, rows):
    """Nodes of a table of cells in reStructuredText, of which the first row is a head.

    Parameters
    ----------
    directive : SphinxDirective
        Whose place the table takes.
    rows : list of list of str

    Returns
    -------
    nodes : list of docutils nodes
    """
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        lines += [f"   {'*' if i == 0 else ' '} - {c}" for i, c in enumerate(row)]
    container = nodes.container()
    directive.state.nested_parse(StringList(lines, directive.name), 0, container)
    return container.children
