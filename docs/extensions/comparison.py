"""Directives that compute the tables of the page that compares the mappings."""

from functools import cache

from compared import COMPARED
from list_table import list_table
from sphinx.util.docutils import SphinxDirective

from skprob.inspection import PROPERTIES, find_counterexamples, mapping_table

# Largest number of rows of a cycle that the page shows.
_MAX_ROWS = 3


@cache
def counterexamples():
    """Counterexamples by property, by label of the mapping."""
    return {label: find_counterexamples(mapping) for label, mapping in COMPARED.items()}


def some_rows(matrix):
    """The first rows of numbers as a cell."""
    rows = [" ".join(f"{number:.3g}" for number in row) for row in matrix[:_MAX_ROWS]]
    return "; ".join(rows) + ("; …" if len(matrix) > _MAX_ROWS else "")


class ComputedTable(SphinxDirective):
    """A table of :meth:`rows`, computed anew in every build."""

    def run(self):
        """Nodes of the table."""
        self.env.note_reread()
        return list_table(self, self.rows())


class SummaryTable(ComputedTable):
    """``summary-table:: 1.2 0.5``: every mapping on these scores, in numbers."""

    required_arguments = 1
    final_argument_whitespace = True

    def rows(self):
        """Head and rows of the table."""
        scores = [float(score) for score in self.arguments[0].split()]
        head = ["mapping", *(f"{score:g}" for score in scores)]
        rows = [[*head, "positive", "entropy", "slope"]]
        for row in mapping_table(scores, COMPARED):
            # A zero is exact: it looks different from what is merely rounded to it.
            p = [f"{p:.3f}" if p > 0 else "0" for p in row.probabilities]
            measures = (f"{row.entropy:.3f}", f"{row.jacobian_norm:.3f}")
            rows.append([f"``{row.mapping}``", *p, str(len(row.support)), *measures])
        return rows


class PropertyTable(ComputedTable):
    """``property-table``: which mapping has which property."""

    def rows(self):
        """Head and rows of the table."""
        rows = [["mapping", *PROPERTIES]]
        for label, examples in counterexamples().items():
            cells = ["yes" if each is None else "**no**" for each in examples.values()]
            rows.append([f"``{label}``", *cells])
        return rows


class PropertyList(ComputedTable):
    """``property-list``: what the properties are, from the code that tests them."""

    def rows(self):
        """Head and rows of the table."""
        rows = [["property", "meaning"]]
        rows += [[n, search.__doc__.split("\n")[0]] for n, search in PROPERTIES.items()]
        return rows


class CounterexampleTable(ComputedTable):
    """``counterexample-table``: where mappings lack a property."""

    def rows(self):
        """Head and rows of the table."""
        rows = [["property", "mapping", "scores", "probabilities", "what is wrong"]]
        for name in PROPERTIES:
            for label, examples in counterexamples().items():
                if (example := examples[name]) is not None:
                    shown = some_rows(example.scores), some_rows(example.probabilities)
                    rows.append([name, f"``{label}``", *shown, example.reason])
        return rows


def setup(app):
    """Register the directives with Sphinx."""
    app.add_directive("summary-table", SummaryTable)
    app.add_directive("property-table", PropertyTable)
    app.add_directive("property-list", PropertyList)
    app.add_directive("counterexample-table", CounterexampleTable)
    return {"parallel_read_safe": True}
