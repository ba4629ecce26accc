"""Check that the files that name a version are ready for its release.

    python .ci/check_release.py

The version of the package is that of `CITATION.cff` and has no tag yet, `CHANGELOG.md`
has a date for it, and all changes are committed.
"""

import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version_of(root):
    """Version of the package, read from the source."""
    text = (root / "skprob" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"', text, re.MULTILINE)[1]


def problems_of_files(root, today):
    """Sentences that say which file does not fit the version."""
    version = version_of(root)
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        yield f"The version must be three numbers, as 0.1.0; got {version}."
    citation = (root / "CITATION.cff").read_text(encoding="utf-8")
    cited = re.search(r"^version: *(\S+)", citation, re.MULTILINE)[1]
    if cited != version:
        yield f"CITATION.cff has version {cited}, the package {version}."
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = dict(re.findall(r"^## \[([^]]+)\] - (.*)$", changelog, re.MULTILINE))
    if version not in heads:
        yield f"CHANGELOG.md has no section of version {version}."
        return
    if next(iter(heads)) != version:
        yield f"The first version of CHANGELOG.md must be {version}."
    try:
        date = datetime.date.fromisoformat(heads[version])
    except ValueError:
        yield (
            f"CHANGELOG.md must have the date of version {version} as YYYY-MM-DD; got "
            f"{heads[version]!r}."
        )
        return
    if date > today:
        yield f"CHANGELOG.md dates version {version} in the future: {date}."


def problems_of_git(root):
    """Sentences about changes that are not committed, and about the tag."""

    def git(*arguments):
        return subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=True
        ).stdout

    if git("status", "--porcelain"):
        yield "Some changes are not committed: see `git status`."
    tag = f"v{version_of(root)}"
    if git("tag", "--list", tag):
        yield f"The tag {tag} exists: this version was released."


def main():
    """Print what is not ready; the exit status is 1 if there is something."""
    problems = [*problems_of_files(ROOT, datetime.date.today()), *problems_of_git(ROOT)]
    print(*problems, sep="\n")
    if problems:
        sys.exit(1)
    print(f"Version {version_of(ROOT)} is ready: publish a release on GitHub.")


if __name__ == "__main__":
    main()
