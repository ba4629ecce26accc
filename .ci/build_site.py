"""Build the documentation of the main branch and of the releases, as one site.

    python .ci/build_site.py

Every version is built by its own `make docs`, in a checkout of its own, and goes to a
folder of `docs/_build/site`: `dev`, and `0.1` for the last release whose version begins
so. `switcher.json` lists them for the menu of versions, and `index.html` leads to the
newest. The environment variable SITE is the path of the site on its server, such as
`/skprob`.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_RELEASES = 5


def last_releases(tags):
    """Folder → tag of the last release of each minor version, the newest first.

    >>> last_releases(["v0.1.0", "v0.1.1", "v0.2.0", "other"])
    {'0.2': 'v0.2.0', '0.1': 'v0.1.1'}
    """
    numbers = [re.fullmatch(r"v(\d+)\.(\d+)\.(\d+)", tag) for tag in tags]
    versions = sorted(tuple(map(int, match.groups())) for match in numbers if match)
    last = {(major, minor): patch for major, minor, patch in versions}
    newest_first = sorted(last, reverse=True)[:MOST_RELEASES]
    return {
        f"{major}.{minor}": f"v{major}.{minor}.{last[major, minor]}"
        for major, minor in newest_first
    }


def switcher(releases, site):
    """Entries of the menu of versions; the first release is the preferred one."""
    entries = [{"version": "dev", "name": "dev", "url": f"{site}/dev/"}]
    for number, (folder, tag) in enumerate(releases.items()):
        is_newest = number == 0
        entries.append(
            {
                "version": folder,
                "name": f"{tag[1:]} (stable)" if is_newest else tag[1:],
                "url": f"{site}/{folder}/",
                "preferred": is_newest,
            }
        )
    return entries


def build(root, commit, version, destination):
    """Build the pages of a commit and copy them."""
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder, "checkout")
        git = ["git", "-C", str(root), "worktree"]
        subprocess.run(
            [*git, "add", "--quiet", "--detach", checkout, commit], check=True
        )
        try:
            environment = {**os.environ, "SKPROB_SITE_VERSION": version}
            subprocess.run(["make", "docs"], cwd=checkout, env=environment, check=True)
            shutil.copytree(checkout / "docs" / "_build" / "html", destination)
        finally:
            subprocess.run([*git, "remove", "--force", checkout], check=True)


def build_site(root, site):
    """Build all versions and what leads to them; returns the folder."""
    pages = root / "docs" / "_build" / "site"
    shutil.rmtree(pages, ignore_errors=True)
    tags = subprocess.run(
        ["git", "tag"], cwd=root, capture_output=True, text=True, check=True
    )
    releases = last_releases(tags.stdout.split())
    for version, commit in {"dev": "HEAD", **releases}.items():
        build(root, commit, version, pages / version)
    menu = json.dumps(switcher(releases, site), indent=1)
    (pages / "switcher.json").write_text(menu + "\n", encoding="utf-8")
    newest = next(iter(releases), "dev")
    (pages / "index.html").write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0; url={newest}/">\n',
        encoding="utf-8",
    )
    # GitHub Pages would leave out folders such as _static.
    (pages / ".nojekyll").touch()
    return pages


if __name__ == "__main__":
    print(f"The site is {build_site(ROOT, os.environ.get('SITE', '').rstrip('/'))}.")
