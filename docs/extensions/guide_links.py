"""Which pages of the user guide speak of a public object."""

import re
from collections import defaultdict

# A role that names an object, or an import of it in an example.
ROLE = re.compile(r":(?:class|func|data):`~?skprob\.[\w.]*?(\w+)`")
IMPORT = re.compile(r"from skprob[\w.]* import ([\w, ]+)")
MOST_PAGES = 4


def pages_by_object(folder):
    """Pages by the bare name of an object, those that name it most often first.

    Parameters
    ----------
    folder : pathlib.Path

    Returns
    -------
    pages : dict of str to list of str
    """
    counts = defaultdict(dict)
    for page in sorted(folder.glob("*.rst")):
        text = page.read_text()
        named = ROLE.findall(text)
        for names in IMPORT.findall(text):
            named += [name.strip() for name in names.split(",")]
        for name in named:
            counts[name][page.stem] = counts[name].get(page.stem, 0) + 1
    return {
        name: sorted(pages, key=lambda page: (-pages[page], page))[:MOST_PAGES]
        for name, pages in counts.items()
    }
