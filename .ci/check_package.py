"""Check what ``python -m build`` has made: ``python check_package.py [v0.1.0]``.

The wheel and the source archive hold what they should and nothing else, and the
version is that of the tag, if one is given.
"""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

DIST = Path(__file__).parents[1] / "dist"


def main():
    """Check, or leave with a message."""
    (wheel,), (archive,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    version = wheel.name.split("-")[1]
    tags = sys.argv[1:]
    if tags not in ([], [version], [f"v{version}"]):
        raise SystemExit(f"The tag is {tags[0]}, the version {version}.")
    tracked = subprocess.run(
        ["git", "ls-files", "skprob"], capture_output=True, text=True, check=True
    ).stdout.split()
    names = set(zipfile.ZipFile(wheel).namelist())
    ours = {name for name in names if ".dist-info/" not in name}
    if ours != set(tracked):
        raise SystemExit(
            f"The wheel differs from git by {sorted(ours ^ set(tracked))}."
        )
    with tarfile.open(archive) as file:
        sources = {"/".join(name.split("/")[1:]) for name in file.getnames()}
    missing = {*tracked, "LICENSE", "README.md", "pyproject.toml"} - sources
    if missing:
        raise SystemExit(f"The source archive lacks {sorted(missing)}.")
    with tempfile.TemporaryDirectory() as folder:
        zipfile.ZipFile(wheel).extractall(folder)
        code = "import skprob; print(skprob.__file__, skprob.__version__)"
        found = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=folder,
        ).stdout.split()
    if not found[0].startswith(str(Path(folder).resolve())) or found[1] != version:
        raise SystemExit(f"The wheel gives {' '.join(found)}.")
    print(f"{wheel.name} and {archive.name}: {len(ours)} modules, version {version}")


if __name__ == "__main__":
    main()
