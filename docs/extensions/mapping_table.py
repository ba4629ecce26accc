"""The directive ``mapping-table``: a row for each registered mapping."""

from inspect import signature

from list_table import list_table
from sphinx.util.docutils import SphinxDirective

from skprob.mappings import MAPPINGS

COLUMNS = ["name", "class", "parameters"]
PROPERTIES = {
    "exact zeros": "has_zeros",
    "potential": "has_potential",
    "shift invariant": "is_shift_invariant",
    "order preserving": "is_order_preserving",
}


def table_row(name, cls):
    """Cells of the row of a mapping, for its default parameters."""
    mapping = cls()
    parameters = [f"``{name}``" for name in signature(cls).parameters]
    return [
        f"``{name!r}``",
        f":class:`~skprob.mappings.{cls.__name__}`",
        ", ".join(parameters) or "none",
        *(
            "yes" if getattr(mapping.traits, flag) else "no"
            for flag in PROPERTIES.values()
        ),
    ]


class MappingTable(SphinxDirective):
    """Write the table as reStructuredText and parse that."""

    def run(self):
        """Nodes of the table."""
        rows = [[*COLUMNS, *PROPERTIES]]
        rows += [table_row(name, cls) for name, cls in MAPPINGS.items()]
        return list_table(self, rows)


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("mapping-table", MappingTable)
    return {"parallel_read_safe": True}
