"""The README's examples run, its links lead somewhere and its tables are complete."""

import doctest
import re
from pathlib import Path

import pytest

from skprob.losses import LOSSES
from skprob.mappings import MAPPINGS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_run():
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    # Without the fences' lines, so that none is taken for output.
    text = re.sub("^```.*$", "", README, flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, "README", "README.md", 0)
    report = []
    result = doctest.DocTestRunner(optionflags=flags).run(examples, out=report.append)
    assert result.failed == 0, "".join(report)
    assert result.attempted > 20


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:)([^)]+)\)", README))
def test_link_leads_to_a_file(link):
    assert (ROOT / link).exists()


@pytest.mark.parametrize("name", [*MAPPINGS, *LOSSES])
def test_name_is_in_a_table(name):
    assert re.search(rf'^\| `"{name}"', README, flags=re.MULTILINE)


@pytest.mark.parametrize("target", re.findall(r"^\$ make (\w+)", README, re.MULTILINE))
def test_command_exists(target):
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
