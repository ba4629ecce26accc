"""Run the README's examples with an installed skprob, as a user's first session.

    python -P .ci/check_installed.py

With `-P` Python does not import skprob from the checkout. Only the dependencies of the
wheel are needed.
"""

import doctest
import re
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def run_examples(text):
    """Number of examples in the text, and the report of those that fail."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    # Without the lines of the fences, which would count as output.
    text = re.sub("^```.*$", "", text, flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
    report = []
    result = doctest.DocTestRunner(optionflags=flags).run(examples, out=report.append)
    return result.attempted, "".join(report)


def main():
    """Run the examples; the exit status is 1 if one fails."""
    import skprob

    folder = Path(skprob.__file__).parent
    if folder.parent == README.parent:
        sys.exit(f"skprob was imported from the checkout {folder}: run python -P.")
    n_examples, report = run_examples(README.read_text(encoding="utf-8"))
    if report:
        sys.exit(report)
    print(f"skprob {skprob.__version__} in {folder}: {n_examples} examples pass")


if __name__ == "__main__":
    main()
