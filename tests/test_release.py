"""Scripts that check a release and commit messages, and build the site of versions."""

import datetime
import json
import re
import runpy
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CI = ROOT / ".ci"
TODAY = datetime.date(2027, 3, 1)


def script(name):
    return runpy.run_path(str(CI / f"{name}.py"))


@pytest.fixture
def release(tmp_path):
    """Return ``make(...)``, which writes the files of a release to a folder."""

    def make(version="1.2.0", cited="1.2.0", head="## [1.2.0] - 2027-02-28"):
        (tmp_path / "skprob").mkdir(exist_ok=True)
        source = f'"""Text."""\n__version__ = "{version}"\n'
        (tmp_path / "skprob" / "__init__.py").write_text(source)
        (tmp_path / "CITATION.cff").write_text(f"cff-version: 1\nversion: {cited}\n")
        text = f"# Changelog\n\n{head}\n\n## [1.1.0] - 2026-01-01\n"
        (tmp_path / "CHANGELOG.md").write_text(text)
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({}, None),
        ({"version": "1.2.0.dev0"}, "must be three numbers"),
        ({"cited": "1.1.0"}, "CITATION.cff has version 1.1.0, the package 1.2.0"),
        ({"head": "## [1.3.0] - 2027-02-28"}, "no section of version 1.2.0"),
        ({"head": "## [1.2.0] - unreleased"}, "YYYY-MM-DD; got 'unreleased'"),
        ({"head": "## [1.2.0] - 2027-03-02"}, "in the future: 2027-03-02"),
        ({"version": "1.1.0", "cited": "1.1.0"}, "first version .* must be 1.1.0"),
    ],
)
def test_a_release_needs_a_version_and_a_date(release, wrong, message):
    problems = list(
        script("check_release")["problems_of_files"](release(**wrong), TODAY)
    )
    if message is None:
        assert problems == []
    else:
        assert re.search(message, "\n".join(problems))


def run_git(folder, *arguments):
    author = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True)


def test_a_release_needs_a_new_tag_and_a_clean_checkout(release):
    folder = release()
    run_git(folder, "init", "--quiet")
    problems = script("check_release")["problems_of_git"]
    assert "not committed" in next(problems(folder))
    run_git(folder, "add", ".")
    run_git(folder, "commit", "--quiet", "-m", "Add files")
    assert list(problems(folder)) == []
    run_git(folder, "tag", "v1.2.0")
    assert "The tag v1.2.0 exists" in next(problems(folder))


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("Keep ties together near the cut", None),
        ("Entmax: keep ties together near the cut\n\nThe reason.", None),
        ("Speed up a search\n# A comment of git", None),
        ("Pass the weights", None),
        ("Merge branch 'other'", None),
        ("", "no subject"),
        ("Added a test", "imperative.*'added'"),
        ("Search: fixes the folds", "imperative.*'fixes'"),
        ("Adding a test", "imperative"),
        ("A faster search", "imperative"),
        ("Add a test.", "full stop"),
        ("Add a test\nbecause", "second line"),
        ("Add " + 69 * "x", "has 73 characters; 72"),
    ],
)
def test_a_subject_is_short_and_in_the_imperative(message, problem):
    problems = script("check_subject")["problems"](message)
    if problem is None:
        assert problems == []
    else:
        assert re.search(problem, "\n".join(problems))


def test_failing_examples_of_the_readme_are_reported():
    run_examples = script("check_installed")["run_examples"]
    assert run_examples("```python\n>>> 1 + 1\n2\n```\n") == (1, "")
    assert "Expected:\n    3" in run_examples("```python\n>>> 1 + 1\n3\n```\n")[1]


def test_the_site_has_a_folder_for_each_version(tmp_path):
    makefile = "docs:\n\tmkdir -p docs/_build/html\n\tcp page docs/_build/html\n"
    makefile += "\techo $$SKPROB_SITE_VERSION >> docs/_build/html/page\n"
    (tmp_path / "Makefile").write_text(makefile)
    (tmp_path / ".gitignore").write_text("_build/\n")
    run_git(tmp_path, "init", "--quiet")
    for tag in ("v0.1.0", "v0.1.1", "v0.2.0", None):
        (tmp_path / "page").write_text(f"pages of {tag}\n")
        run_git(tmp_path, "add", ".")
        run_git(tmp_path, "commit", "--quiet", "-m", "Add pages")
        if tag:
            run_git(tmp_path, "tag", tag)
    site = script("build_site")["build_site"](tmp_path, "/name")
    pages = {path.parent.name: path.read_text() for path in site.glob("*/page")}
    assert pages == {
        "dev": "pages of None\ndev\n",
        "0.2": "pages of v0.2.0\n0.2\n",
        "0.1": "pages of v0.1.1\n0.1\n",
    }
    menu = json.loads((site / "switcher.json").read_text())
    assert [entry["url"] for entry in menu] == [
        "/name/dev/",
        "/name/0.2/",
        "/name/0.1/",
    ]
    assert [entry.get("preferred", False) for entry in menu] == [False, True, False]
    assert "url=0.2/" in (site / "index.html").read_text()
    assert not (tmp_path / ".git" / "worktrees").exists()


def test_the_conda_recipe_has_the_requirements_of_the_package():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    recipe = yaml.safe_load((CI / "conda" / "recipe.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    python = "python >=${{ python_min }}"
    needed = {need.replace(" ", "") for need in recipe["requirements"]["run"]}
    needed.remove(python.replace(" ", ""))
    assert needed == set(project["project"]["dependencies"])
    lowest = recipe["context"]["python_min"]
    assert project["project"]["requires-python"] == f">={lowest}"
    assert set(project["build-system"]["requires"]) < {
        need.replace(" ", "") for need in recipe["requirements"]["host"]
    }
    version = script("check_release")["version_of"](ROOT)
    assert recipe["context"]["version"] == version


def test_the_paper_cites_what_its_bibliography_has():
    paper = (ROOT / "docs" / "paper" / "paper.md").read_text(encoding="utf-8")
    entries = (ROOT / "docs" / "paper" / "paper.bib").read_text(encoding="utf-8")
    keys = set(re.findall(r"^@\w+\{(\w+),", entries, re.MULTILINE))
    assert set(re.findall(r"@([a-z]+(?:\d{4})?)\b", paper)) == keys
