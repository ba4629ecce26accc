"""Look at every page of the built documentation in a browser, without a network.

    python docs/check_pages.py docs/_build/html

Each page is shown by headless Chromium 1,280 and 400 pixels wide. It is an error if

* a page asks for anything that is not a file of the documentation,
* a link leads to a file, or a place in it, that is not there (links to other sites are
  not followed),
* a script fails, or a formula is shown as TeX or as MathJax's error,
* a class is shown without the names of its parameters,
* a table, a picture or a formula is wider than its place, or the page has to be
  scrolled sideways. At 400 pixels a table may scroll in its place.
* the first result of the search for a word that users type is another page than
  ``FIRST_RESULTS`` has.

Where there is no Chromium, the script says so and checks nothing. Many pages are shared
among several browsers, one for each core.
"""

import argparse
import os
import re
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from playwright.sync_api import Error, sync_playwright

WIDTHS = (1280, 400)
# Only what is in sight is drawn; the whole page is laid out. Pictures are of all of it.
HEIGHT = 100
# As root, which containers are, Chromium runs only without its sandbox. Drawing in
# threads of its own takes a fifth more processor time, and nobody sees it.
FLAGS = (
    "--no-sandbox",
    "--disable-threaded-compositing",
    "--num-raster-threads=1",
)
# A browser starts in the time of a few pages.
PAGES_OF_A_BROWSER, MOST_BROWSERS = 40, 4
# Milliseconds until a page must be there, on a busy machine, too.
PATIENCE = 120_000
# The first of these shows no window, and takes the least time.
NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "chrome",
)

# The page that the search must name first, for words that users type.
FIRST_RESULTS = {
    "top-k": "sets_with_a_guarantee",
    "prediction sets": "sets_with_a_guarantee",
    "conformal": "sets_with_a_guarantee",
    "calibration": "costs",
    "class imbalance": "costs",
    "imbalanced": "costs",
    "reject option": "costs",
    "APS": "sets_with_a_guarantee",
    "soft labels": "label_distributions",
    "noisy labels": "label_distributions",
    "annotators": "label_distributions",
    "multi-label": "label_sets",
    "multilabel": "label_sets",
    "missing labels": "label_sets",
    "multilabel threshold": "thresholds",
    "feature selection": "few_coefficients",
    "lasso": "few_coefficients",
    "p-values": "standard_errors",
    "hyperparameter": "tuning",
    "cross-validation": "tuning",
    "multinomial logit": "logistic_regression",
    "LogisticRegression": "logistic_regression",
    "probit": "random_utility",
    "nested logit": "random_utility",
    "ConvergenceWarning": "fitting",
    "early stopping": "fitting",
    "pandas": "pandas_and_pipelines",
    "GPU": "gpu",
    "pickle": "saving_and_deploying",
}

# JavaScript that returns the faults of the page at its present width, as sentences.
INSPECT = r"""
async () => {
  if (window.MathJax?.startup?.promise) await MathJax.startup.promise;
  const found = [];
  const width = document.documentElement.clientWidth;
  const short = (text) => text.trim().replace(/\s+/g, " ").slice(0, 60);
  const name = (element) =>
    `${element.tagName.toLowerCase()} “${short(element.textContent)}”`;
  if (document.documentElement.scrollWidth > width + 1)
    found.push(`the page is ${document.documentElement.scrollWidth} pixels wide`);
  const article = document.querySelector("article") ?? document.body;
  for (const table of article.querySelectorAll("table")) {
    // Numbered lines of source are a table, too, and may scroll like all source.
    if (table.closest(".highlight, .highlighttable")) continue;
    const place = table.parentElement.getBoundingClientRect();
    const box = table.getBoundingClientRect();
    // On a narrow screen a table may scroll in its place.
    const overflow = getComputedStyle(table.parentElement).overflowX;
    const scrolls = width < 720 && ["auto", "scroll"].includes(overflow);
    const right = scrolls ? place.right : box.right;
    const limit = (scrolls ? width : Math.min(width, place.right)) + 1;
    if (right > limit || table.scrollWidth > box.width + 1)
      found.push(`cut table: ${name(table)}`);
    for (const cell of table.querySelectorAll("td, th"))
      if (cell.clientWidth && cell.scrollWidth > cell.clientWidth + 1)
        found.push(`cut cell: ${name(cell)}`);
  }
  for (const image of article.querySelectorAll("img")) {
    if (image.getBoundingClientRect().right > width + 1)
      found.push(`cut picture: ${image.src}`);
    if (image.complete && !image.naturalWidth) found.push(`no picture: ${image.src}`);
  }
  for (const formula of article.querySelectorAll(".math")) {
    const drawn = formula.querySelector("mjx-container");
    if (!drawn) found.push(`raw TeX: ${name(formula)}`);
  }
  for (const signature of article.querySelectorAll("dl.class > dt.sig"))
    if (signature.textContent.includes("(*args, **kwargs)"))
      found.push(`no parameters: ${name(signature)}`);
  const failed = "[data-mjx-error], [data-mml-node=merror], [data-mml-node][fill=red]";
  for (const part of article.querySelectorAll(failed))
    found.push(`wrong TeX: ${part.getAttribute("data-mjx-error") ?? name(part)}`);
  const markup =
    /\\\(|\\\[|\\(frac|alpha|sum|log|langle)\b|:math:|:class:|bool\(x\) -> bool/;
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node.parentElement.closest("pre, code, script, style, mjx-container")) continue;
    if (markup.test(node.data))
      found.push(`raw markup: “${short(node.data)}”`);
  }
  return found;
}
"""


def find_browser(playwright):
    """Path of an installed Chromium, playwright's own if it has one, or None."""
    path = playwright.chromium.executable_path
    if Path(path).exists():
        return path
    return next(filter(None, map(shutil.which, NAMES)), None)


@cache
def anchors(path):
    """Names of the places of a page that a link may lead to."""
    return {*re.findall(r'\bid="([^"]+)"', path.read_text(encoding="utf-8"))}


def dead_links(hrefs):
    """Sentences on the links to files that lead nowhere."""
    for href in sorted(set(hrefs)):
        url = urlsplit(href)
        path = Path(unquote(url.path))
        if url.scheme != "file" or path.is_dir():
            continue
        if not path.exists():
            yield f"dead link: {path}"
        elif url.fragment and path.suffix == ".html":
            if unquote(url.fragment) not in anchors(path):
                yield f"dead link: no {url.fragment} in {path.name}"


class Tab:
    """A tab that shows one page after the other: each new tab starts a process.

    Attributes
    ----------
    wrong : list of str
        Sentences on what went wrong while the present page was shown.
    """

    def __init__(self, context):
        self.page, self.wrong = context.new_page(), []
        self.page.on("pageerror", lambda error: self.add(f"a script fails: {error}"))
        self.page.on("request", self._check_request)
        self.page.on(
            "requestfailed", lambda request: self.add(f"not found: {request.url}")
        )

    def _check_request(self, request):
        if not request.url.startswith(("file:", "data:", "blob:", "about:")):
            self.add(f"asks the network for {request.url}")

    def add(self, sentence):
        """Add a fault of the present page."""
        self.wrong.append(sentence)

    def clear(self):
        """Leave the page, whose requests may be cut off, and forget its faults."""
        self.page.goto("about:blank")
        self.wrong = []


def check(tab, path, pictures):
    """Sentences on what is wrong with one page."""
    tab.clear()
    page, wrong = tab.page, tab.wrong
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        if width == WIDTHS[0]:
            page.goto(path.as_uri(), wait_until="load")
        wrong += [f"{width} pixels, {what}" for what in page.evaluate(INSPECT)]
        if pictures:
            pictures.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=pictures / f"{path.stem}_{width}.png", full_page=True)
    hrefs = "[...document.querySelectorAll('article a[href]')].map((a) => a.href)"
    wrong += dead_links(page.evaluate(hrefs))
    return wrong


def check_search(page, folder, words):
    """Sentences on words whose search begins with another page than it should."""
    wrong = []
    for word in words:
        expected = FIRST_RESULTS[word]
        page.goto(f"{(folder / 'search.html').as_uri()}?q={quote(word)}")
        try:
            # Waits for the first result.
            first = page.get_attribute("#search-results li a", "href", timeout=10_000)
        except Error:
            wrong.append(f"“{word}” has no result")
            continue
        if Path(urlsplit(first).path).stem != expected:
            wrong.append(f"“{word}” leads to {first}, not to {expected}")
    return wrong


def check_all(folder, paths, words, pictures):
    """Check some pages and some words of the search in a browser of their own.

    Returns
    -------
    version : str or None
        Version of the browser; None if there is none.
    faults : list of (str, list of str)
        Paths in the folder, and what is wrong with each.
    """
    faults = []
    with sync_playwright() as playwright:
        if (browser_path := find_browser(playwright)) is None:
            return None, faults
        browser = playwright.chromium.launch(executable_path=browser_path, args=FLAGS)
        context = browser.new_context(offline=True, reduced_motion="reduce")
        context.set_default_navigation_timeout(PATIENCE)
        tab = Tab(context)
        for path in paths:
            try:
                wrong = check(tab, path, pictures)
            except Error as error:
                wrong = [str(error)]
                tab.page.close()
                tab = Tab(context)
            faults.append((str(path.relative_to(folder)), wrong))
        if words:
            search = check_search(context.new_page(), folder, words)
            faults.append(("search.html", search))
        version = browser.version
        browser.close()
    return version, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="where the built pages are")
    parser.add_argument("--only", default="", help="pages whose path has this in it")
    parser.add_argument("--save", type=Path, help="a folder for pictures of the pages")
    options = parser.parse_args()
    folder = options.folder.resolve()
    # Folders with an underscore hold what pages use, the templates of themes among it.
    pages = [
        path
        for path in sorted(folder.rglob("*.html"))
        if options.only in str(path)
        and not path.relative_to(folder).parts[0].startswith("_")
    ]
    if not pages:
        print(f"No pages in {options.folder}: build them with make docs.")
        return 1
    has_search = not options.only and (folder / "search.html").exists()
    words = list(FIRST_RESULTS) if has_search else []
    # Several browsers side by side, each in a thread that waits for it.
    most = min(os.cpu_count() or 1, MOST_BROWSERS)
    n_browsers = min(most, 1 + len(pages) // PAGES_OF_A_BROWSER)
    with ThreadPoolExecutor(n_browsers) as pool:
        tasks = [
            pool.submit(
                check_all,
                folder,
                pages[i::n_browsers],
                words[i::n_browsers],
                options.save,
            )
            for i in range(n_browsers)
        ]
        results = [task.result() for task in tasks]
    version = results[0][0]
    if version is None:
        print("No Chromium was found: the pages have not been looked at.")
        return 0
    faults = {}
    for name, wrong in sorted(fault for _, part in results for fault in part):
        faults.setdefault(name, []).extend(wrong)
    for name, wrong in faults.items():
        for what in wrong:
            print(f"{name}: {what}")
    n_wrong = sum(map(bool, faults.values()))
    print(f"{len(pages)} pages in Chromium {version}, {n_wrong} of them with errors.")
    return int(n_wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
