"""Label sets: the table of the sparsemax paper again, and what is better today.

The first table repeats table 2 of Martins and Astudillo, "From softmax to sparsemax"
(ICML 2016), by its protocol. Rows without a label are dropped and the features
standardised with the training rows. The penalty and a decision rule are chosen by the
mean F1 over five folds of the training file (scene's, which is ordered by label, is
shuffled first), for micro-F1 and for macro-F1, the harmonic mean of macro-precision and
macro-recall, on their own; then one fit to all training rows is measured on the test
rows. CAL500 has no official split: all of this is done for each of five folds of it,
and what is printed are means over the five; in the other tables, all their rows.

The second table is of models whose penalty is tuned for micro-F1 over folds of the
training rows: those of scikit-learn with one cut for all labels, skprob's with
``LabelCuts("micro")`` or, where it says "stacked", with that rule after the correction
by ``StackedLabels``; for the last line the folds choose between the two stacked models,
too. By five measures, and with what was chosen. The third table is of defaults, nothing
tuned, by the same measures, with one set more; "cut" is one cut for all labels, chosen
by cross-validation, "macro" is the threshold of this name, and "cuts" is
``LabelCuts()``.

The sets are read from the folder that SKPROB_DATA names. Without it, only emotions is
fetched, from OpenML, where it has no official split.

    python benchmarks/multilabel_table.py --save-tables docs/measurements

With ``--cache FOLDER``, what was measured is kept there and not measured again, so that
the sets can be done one at a time with ``--sets``. Empty it after a change of the code.

With ``--within`` the test rows are not used. Five folds of the training rows, of the
first split, stand for the splits: by this a recipe is chosen.
"""

import argparse
import os
from collections import defaultdict
from itertools import chain
from pathlib import Path
from time import perf_counter

import numpy as np
from _multilabel_cells import FULL, QUICK, default_cell, paper_cell, path_cell
from _multilabel_data import DEFAULTS_ONLY, SETS, Data, folds, splits
from _multilabel_models import DEFAULTS, PAPER, PATHS, TUNED
from joblib import Memory, Parallel, delayed

#: Micro-F1 and macro-F1 of the paper, in per cent.
PUBLISHED = {
    ("emotions", "logistic"): (66.75, 68.56),
    ("emotions", "softmax"): (67.34, 67.51),
    ("emotions", "sparsemax"): (66.38, 66.07),
    ("scene", "logistic"): (70.96, 72.95),
    ("scene", "softmax"): (74.01, 75.03),
    ("scene", "sparsemax"): (73.45, 74.57),
    ("birds", "logistic"): (45.78, 33.77),
    ("birds", "softmax"): (48.67, 37.06),
    ("birds", "sparsemax"): (49.44, 39.13),
    ("cal500", "logistic"): (48.88, 24.49),
    ("cal500", "softmax"): (47.46, 23.51),
    ("cal500", "sparsemax"): (48.47, 26.20),
}
#: Reasons for differences of more than 0.3 from the paper, where they are known.
REASONS = {
    ("emotions", "sparsemax"): "t = 3.5 at the same penalty has the published "
    "macro-F1; our folds prefer t = 4 by 0.4, other folds anything from 3 to 5",
    ("scene", "logistic"): "the cut 0.25 at the same penalty has both published "
    "figures; our folds prefer 0.3, and the shuffle of the paper is not known",
    ("birds", "logistic"): "the folds hardly tell a penalty of 0.01 from 0.001, and "
    "how far the solver goes decides; L-BFGS on all labels together, stopped after "
    "100 steps, has 45.72 / 33.63",
    **{
        ("cal500", model): "the split of the paper is not known; ours are five folds"
        for model in ("logistic", "softmax", "sparsemax")
    },
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="one set, few penalties")
    every = [*SETS, *DEFAULTS_ONLY]
    parser.add_argument("--sets", nargs="+", choices=every, default=every)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--jobs", type=int, default=2, help="processes that search")
    parser.add_argument("--cache", type=Path, metavar="FOLDER")
    parser.add_argument("--within", action="store_true", help="use no test rows")
    parser.add_argument("--save-tables", type=Path, metavar="FOLDER")
    options = parser.parse_args()
    effort = QUICK if options.quick else FULL
    sets = options.sets
    if options.quick or not os.environ.get("SKPROB_DATA"):
        sets = ["emotions"]

    started = perf_counter()
    all_data = {name: splits(name) for name in sets}
    if options.within:
        for name, (first, *_) in all_data.items():
            all_data[name] = folds(first.X_train, first.Y_train, Data)
    cache = Memory(options.cache, verbose=0)
    for name in options.tables:
        cell, models, lines = TABLES[name]
        data = {
            set_name: of_set
            for set_name, of_set in all_data.items()
            if name == "defaults" or set_name not in DEFAULTS_ONLY
        }
        tasks = [
            (set_name, model, split)
            # The longest ones first.
            for set_name in reversed(data)
            for model in models
            for split in data[set_name]
            if name != "paper" or (set_name, model) in PUBLISHED
        ]
        with_cache = delayed(cache.cache(cell))
        results = Parallel(options.jobs)(
            with_cache(split, model, effort) for _, model, split in tasks
        )
        measured = defaultdict(list)
        for (set_name, model, _), result in zip(tasks, results, strict=True):
            measured[set_name, model].append(result)
        table = "\n".join(lines(data, measured)) + "\n"
        if options.within:
            table = f"{WITHIN}\n\n{table}"
        print(table)
        if options.save_tables:
            file = f"multilabel_{name}{'_within' if options.within else ''}.txt"
            (options.save_tables / file).write_text(table)
    print(f"All of it took {perf_counter() - started:.0f} seconds.")


# Tables: lines of text, from what was found for each set and model in its splits


def paper_table(data, measured):
    yield "Table 2 of the paper: micro-F1 / macro-F1 on the test rows, in per cent"
    yield ""
    yield f"{'':24}{'skprob':>15}{'published':>15}{'difference':>15}"
    reasons = []
    for pair, published in PUBLISHED.items():
        if pair not in measured:
            continue
        scores = np.mean(measured[pair], axis=0)
        difference = scores - published
        yield (
            f"{pair[0]:12}{pair[1]:12}{scores[0]:7.2f} /{scores[1]:6.2f}"
            f"{published[0]:7.2f} /{published[1]:6.2f}"
            f"{difference[0]:+7.2f} /{difference[1]:+6.2f}"
        )
        if np.abs(difference).max() > 0.3:
            reason = REASONS.get(pair, "reason not known")
            reasons.append(f"- {pair[0]}, {pair[1]}: {reason}{spread(measured[pair])}.")
    if reasons:
        yield ""
        yield "Differences above 0.3:"
        yield from reasons


def spread(results):
    """Standard errors over the splits, if there are several, to end a sentence."""
    if len(results) == 1:
        return ""
    errors = np.std(results, axis=0, ddof=1) / np.sqrt(len(results))
    return "; standard errors " + " and ".join(f"{error:.2f}" for error in errors)


def tuned_table(data, measured):
    chosen = {
        (name, model): [
            max(chain(*of_split), key=lambda candidate: candidate.score)
            for of_split in zip(*(measured[name, path] for path in paths), strict=True)
        ]
        for name in data
        for model, paths in TUNED.items()
    }
    cells = {
        pair: [
            (np.asarray(split.Y_test, bool), choice.sets)
            for split, choice in zip(data[pair[0]], choices, strict=True)
        ]
        for pair, choices in chosen.items()
    }
    yield "Tuned for micro-F1 on folds of the training rows: on the test rows, in %"
    yield IN_BRACKETS
    yield from compared_lines(data, cells, TUNED)
    yield ""
    yield "Micro-F1: differences to tuned LinearSVC, in standard errors"
    yield heading(data)
    svc = {name: stacked(cells[name, "LinearSVC"]) for name in data}
    for model in TUNED:
        of_sets = [
            compared(micro_f1, svc[name], stacked(cells[name, model]))[1]
            for name in data
        ]
        yield f"{model:18}" + "".join(f"{x:>+15.1f}" for x in of_sets)
    yield ""
    yield "Micro-F1 over the folds, and the median of the chosen C"
    yield heading(data)
    for model in TUNED:
        told = []
        for name in data:
            choices = chosen[name, model]
            n_rows = [len(split.Y_train) for split in data[name]]
            Cs = 1 / np.multiply([choice.penalty for choice in choices], n_rows)
            score = np.mean([choice.score for choice in choices])
            told.append(f"{score:.1f}{np.median(Cs):9.2g}")
        yield f"{model:18}" + "".join(f"{text:>15}" for text in told)


def default_table(data, measured):
    yield "Defaults, nothing tuned: on the test rows, in per cent"
    yield IN_BRACKETS
    yield from compared_lines(data, measured, DEFAULTS)


WITHIN = 'Five folds of the training rows; "test rows" are those of each fold'
IN_BRACKETS = (
    "In brackets the difference to the first line in its standard errors, by 500\n"
    "paired bootstrap samples of the rows"
)


def compared_lines(data, measured, models):
    """Each measure of each model on each set, compared with the first model."""
    first = next(iter(models))
    for title, measure in MEASURES.items():
        yield ""
        yield title
        yield heading(data)
        for model in models:
            cells = []
            for name in data:
                base, other = (stacked(measured[name, m]) for m in (first, model))
                value, difference = compared(measure, base, other)
                cells.append(f"{value:6.1f} ({difference:+5.1f})")
            yield f"{model:18}" + "".join(f"{cell:>15}" for cell in cells)


def stacked(cells):
    """True and predicted sets of all splits."""
    return tuple(np.vstack([cell[i] for cell in cells]) for i in range(2))


def compared(measure, base, other, n_samples=500):
    """A measure, and its difference to another model's in standard errors."""
    rng = np.random.default_rng(0)
    value = measure(counts(*other).sum(axis=0), len(other[0]))
    of_rows = [counts(*base), counts(*other)]
    n = len(of_rows[0])
    weights = rng.multinomial(n, np.full(n, 1 / n), n_samples).astype(float)
    drawn = [
        np.array([measure(total, n) for total in np.tensordot(weights, rows, 1)])
        for rows in of_rows
    ]
    error = np.std(drawn[1] - drawn[0])
    difference = value - measure(of_rows[0].sum(axis=0), n)
    return 100 * value, difference / error if error else 0.0


def counts(Y, predicted):
    """Numbers of each row: (n_rows, 3 * n_labels + 3)."""
    hit = Y & predicted
    n_hit, n_true, n_found = (a.sum(axis=1) for a in (hit, Y, predicted))
    # An empty set that is predicted empty is right.
    share = np.ones(len(Y))
    np.divide(2 * n_hit, n_true + n_found, out=share, where=n_true + n_found > 0)
    exact = (Y == predicted).all(axis=1)
    wrong = (Y != predicted).mean(axis=1)
    return np.column_stack([hit, Y, predicted, share, exact, wrong]).astype(float)


def micro_f1(total, n_rows):
    hit, true, predicted = total[:-3].reshape(3, -1).sum(axis=1)
    return 2 * hit / (true + predicted)


def macro_f1(total, n_rows):
    hit, true, predicted = total[:-3].reshape(3, -1)
    size = true + predicted
    return np.mean(np.divide(2 * hit, size, out=np.zeros_like(hit), where=size > 0))


MEASURES = {
    "micro-F1": micro_f1,
    "macro-F1": macro_f1,
    "example-F1": lambda total, n_rows: total[-3] / n_rows,
    "whole sets right": lambda total, n_rows: total[-2] / n_rows,
    "labels right": lambda total, n_rows: 1 - total[-1] / n_rows,
}


def heading(data):
    return f"{'':18}" + "".join(f"{name[:8]:>15}" for name in data)


#: How a cell is found, for which models, and how the cells become lines.
TABLES = {
    "paper": (paper_cell, PAPER, paper_table),
    "tuned": (path_cell, PATHS, tuned_table),
    "defaults": (default_cell, DEFAULTS, default_table),
}


if __name__ == "__main__":
    main()
