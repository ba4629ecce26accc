"""The directive ``example-scripts``: every script of the folder ``examples``."""

import ast
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

FOLDER = Path(__file__).parents[2] / "examples"


class ExampleScripts(SphinxDirective):
    """Show each script under the first line of its docstring."""

    def run(self):
        """Nodes of all scripts."""
        lines = []
        for script in sorted(FOLDER.glob("*.py")):
            self.env.note_dependency(str(script))
            title, *_ = ast.get_docstring(ast.parse(script.read_text())).splitlines()
            lines += [f".. rubric:: {script.name}", "", title, ""]
            lines += [f".. literalinclude:: /../examples/{script.name}", ""]
        container = nodes.container()
        self.state.nested_parse(StringList(lines, "example-scripts"), 0, container)
        return container.children


def setup(app):
    """Register the directive with Sphinx."""
    app.add_directive("example-scripts", ExampleScripts)
    return {"parallel_read_safe": True}
