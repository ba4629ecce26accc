"""The fits and searches of ``ablation.py``.

A case has a `name`, a `problem` and `levels`. Its ``run(problem, limit, tuning)`` is a
list of (seconds of the processor, passes over X) at each level.
"""

import time
import warnings
from dataclasses import replace
from functools import cached_property, partial
from unittest.mock import patch

import numpy as np
from _contenders import OURS
from _multilabel_data import splits
from _optimum import Reference
from _problems import (
    Problem,
    digits_scaled,
    many_rows,
    problems,
    scaled,
    wine_scaled,
)
from fit import NAMES, known_optimum
from search import ALPHAS, DATA, FOLDS, STRENGTHS
from search import problems as search_problems
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from skprob import (
    EntmaxClassifierCV,
    SigmoidClassifier,
    SoftmaxClassifier,
    SparsemaxClassifier,
    SparseSoftmaxClassifier,
)
from skprob.linear_model import smallest_C
from skprob.linear_model.base import training_rows
from skprob.linear_model.fit import fit_to_rows, objectives_of
from skprob.metrics import BrierScorer
from skprob.objective._mean_loss import MeanLoss
from skprob.solvers import plan, solve

LEVELS = (1e-3, 1e-6)
LABEL_SETS = "bibtex", "enron", "reuters21578_modapte90"
MORE = {"100,000 rows": partial(many_rows, 100_000, 20, 10)}
GRID = [(1.0, 0.01), (1.0, 1.0), (1.0, 100.0), (1.5, 1.0), (2.0, 1.0)]
# Cases that take too long.
LEFT_OUT = {("mnist", 1.0, 100.0), ("mnist", 1.5, 1.0), ("mnist", 2.0, 1.0)}
LEFT_OUT |= {("500 classes", 1.5, 1.0), ("500 classes", 2.0, 1.0)}
LEFT_OUT |= {("400,000 rows", 1.0, 0.01), ("400,000 rows", 1.0, 100.0)}
# The same of fits with an l1 penalty, by the multiple of the smallest C.
LEFT_OUT |= {("200 x 300", 2, 3000), ("500 x 5000, two classes", 2, 3000)}
LEFT_OUT |= {("500 x 5000", 2, 300), ("500 x 5000", 2, 3000)}


class Case:
    """A fit by the default solver, to `levels` of the relative suboptimality.

    Parameters
    ----------
    name : str
    model : classifier
    problem : Problem
    """

    levels = LEVELS

    def __init__(self, name, model, problem):
        self.name, self.model, self.problem = name, model, problem

    def is_changed_by(self, heuristic):
        """Whether a heuristic may do anything here."""
        with self._rows(self.problem, self._spec()) as (rows, _):
            *_, objective = objectives_of(self._spec().for_rows(rows), rows)
        description = objective.description
        return heuristic.acts_on(description, plan(description))

    def _spec(self, tuning=None):
        spec = self.model._fit_spec()
        return spec if tuning is None else replace(spec, tuning=tuning)

    def _rows(self, problem, spec):
        return training_rows(self.model, spec, problem.X, problem.y, None, None, None)


class FitCase(Case):
    """A fit whose minimum a second implementation computes."""

    def __init__(self, name, alpha, C, optima):
        problem = (problems() | MORE)[name]()
        model = OURS[alpha](C=C, fit_intercept=problem.fit_intercept)
        super().__init__(f"{name}, {NAMES[alpha]}, C={C:g}", model, problem)
        self._alpha, self._optimum_of = alpha, (optima, name, problem)

    @cached_property
    def least(self):
        """The value at the optimum."""
        reference, C = Reference(self.problem, self._alpha, self.model.C), self.model.C
        return known_optimum(*self._optimum_of, reference, C).value

    def run(self, problem, limit, tuning):
        """(seconds, passes) to each level; given up after so many seconds."""
        least, results, spec = self.least, [], self._spec(tuning)
        started = time.process_time()

        def note(n_iter, parameters, value, gradient_norm, last):
            spent = time.process_time() - started
            while (
                len(results) < len(LEVELS) and value / least - 1 <= LEVELS[len(results)]
            ):
                results.append((spent, objective.passes))
            return len(results) == len(LEVELS) or spent > limit

        with self._rows(problem, spec) as (rows, _):
            (objective,) = objectives_of(spec.for_rows(rows), rows)
        options = {"tol": 1e-10, "max_iter": 10_000, "callback": note}
        solve(objective, objective.initial(), tuning=tuning, **options)
        end = time.process_time() - started, objective.passes
        return results + [end] * (len(LEVELS) - len(results))


class WholeFitCase(Case):
    """A fit from beginning to end, with the model's tolerance.

    It is for fits without a second implementation, and for those of several objectives
    or groups of outputs one after another, where the whole is near its minimum only at
    the end.
    """

    levels = ("fit",)

    def run(self, problem, limit, tuning):
        """(seconds, passes) of the fit; given up after so many seconds."""
        started, spec = time.process_time(), self._spec(tuning)
        with self._rows(problem, spec) as (rows, _), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = fit_to_rows(spec, rows, progress=Limit(started + limit))
        passes = fit.solution.history[-1].passes
        return [(time.process_time() - started, passes)]


class Limit:
    """The `progress` of a fit, which it stops at a time of the process."""

    def __init__(self, end):
        self._end = end

    def start(self, most_iterations, attributes_at):
        """A fit begins."""

    def begin(self, parameters):
        """An objective begins."""

    def __call__(self, n_iter, parameters, value, gradient_norm, last):
        return time.process_time() > self._end

    def end(self):
        """An objective has ended."""


class SearchCase:
    """A search from beginning to end."""

    levels = ("search",)

    def __init__(self, name, search, problem):
        self.name, self.problem, self._search = f"search: {name}", problem, search

    def is_changed_by(self, heuristic):
        """Whether it may do anything here."""
        return heuristic.in_search

    def run(self, problem, limit, tuning):
        """(seconds, passes) of all; there is no limit."""

        class Tuned(type(self._search)):
            def _specs(self, template, values):
                specs = super()._specs(template, values)
                return [replace(spec, tuning=tuning) for spec in specs]

            def _refit_spec(self):
                return replace(super()._refit_spec(), tuning=tuning)

        passes = []
        model = Tuned(**clone(self._search).get_params(deep=False))
        count = patch.object(MeanLoss, "count", lambda self, n: passes.append(n))
        with warnings.catch_warnings(), count:
            warnings.simplefilter("ignore", ConvergenceWarning)
            started = time.process_time()
            model.fit(problem.X, problem.y)
            return [(time.process_time() - started, sum(passes))]


# The cases by name.


def fits(name, optima):
    """The fits of a problem of ``fit.py``."""
    for alpha, C in GRID:
        if (name, alpha, C) not in LEFT_OUT:
            yield FitCase(name, alpha, C, optima)


def columns_500():
    """Few rows of many columns, which have one Gram matrix."""
    X, y = make_classification(2000, 500, n_informative=20, n_classes=3, random_state=0)
    for alpha, kind in OURS.items():
        yield WholeFitCase(f"2000 x 500, {NAMES[alpha]}", kind(), scaled(Problem(X, y)))


def rare_classes():
    """Twelve classes, the rarest with 2 rows of 1,000, to a loose tolerance."""
    shares = np.append(0.6, np.geomspace(0.3, 0.002, 11))
    X, y = make_classification(
        5000,
        80,
        n_informative=12,
        n_classes=12,
        weights=list(shares / shares.sum()),
        flip_y=0.001,
        random_state=0,
    )
    kinds = [SoftmaxClassifier, SparsemaxClassifier, SigmoidClassifier]
    for kind in kinds:
        for C in (0.01, 1.0):
            model = kind(C=C, tol=1e-2)
            name = f"rare classes, {kind.__name__}, C={C:g}, tol=0.01"
            yield WholeFitCase(name, model, Problem(X, y))


def pairs_of_classes():
    """Little data of two classes and many columns, with an l1 penalty and without."""
    for n_rows, n_columns in ((1000, 60), (1200, 200), (500, 500)):
        X, y = make_classification(n_rows, n_columns, n_informative=10, random_state=0)
        problem, size = scaled(Problem(X, y)), f"{n_rows} x {n_columns}"
        yield WholeFitCase(f"{size}, default", SoftmaxClassifier(), problem)
        model = SoftmaxClassifier(l1_ratio=1.0, tol=1e-6)
        least = smallest_C(model, problem.X, problem.y)
        for factor in (30, 300):
            label = f"{size}, coefficients, {factor} x smallest C"
            fitted = clone(model).set_params(C=factor * least)
            yield WholeFitCase(label, fitted, problem)


def labels_200():
    """200 labels of 20,000 rows by sigmoid: groups of outputs."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 20))
    scores = X @ rng.standard_normal((20, 200)) - 2 * rng.random(200)
    Y = (scores + rng.logistic(size=scores.shape) > 0).astype(float)
    yield WholeFitCase("200 labels", SigmoidClassifier(max_iter=1000), Problem(X, Y))


def label_sets(name):
    """The label sets of text, whose outputs are minimised one by one, by sigmoid.

    By sparsemax, in place of it, splitting takes its turn.
    """
    ((X, _, Y, _),) = splits(name)
    kinds = [(SigmoidClassifier, 1.0), (SigmoidClassifier, 10.0)]
    if name != "reuters21578_modapte90":
        kinds.append((SparsemaxClassifier, 1.0))
    for kind, C in kinds:
        label = f"{name}, {kind.__name__}, C={C:g}"
        yield WholeFitCase(label, kind(C=C, max_iter=1000), Problem(X, Y))


def default_fits(name):
    """Fits with all parameters at their defaults."""
    problem = problems()[name]()
    for alpha, kind in OURS.items():
        label = f"{name}, {NAMES[alpha]}, default"
        yield WholeFitCase(label, kind(fit_intercept=problem.fit_intercept), problem)


def kinks():
    """Losses whose gradient jumps, which L-BFGS leaves to bundles of gradients."""
    for name, load in (
        ("wine, scaled", wine_scaled),
        ("digits, scaled", digits_scaled),
    ):
        for C in (1.0, 10.0):
            model = SparseSoftmaxClassifier(k=2, C=C, tol=1e-5, max_iter=3000)
            yield WholeFitCase(f"{name}, sparse softmax, C={C:g}", model, load())


def l1_problems():
    """Functions that load problems with an l1 penalty, by name."""

    def made(n_rows, n_features, n_classes, n_informative=20):
        X, y = make_classification(
            n_rows,
            n_features,
            n_informative=n_informative,
            n_classes=n_classes,
            random_state=0,
        )
        return scaled(Problem(X, y))

    shared = problems()
    found = {
        "digits, scaled": shared["digits, scaled"],
        "breast cancer": lambda: scaled(shared["breast cancer, raw"]()),
        "200 x 300": partial(made, 200, 300, 4),
        "500 x 5000": partial(made, 500, 5000, 4),
        "500 x 5000, two classes": partial(made, 500, 5000, 2),
        "10,000 x 100": partial(made, 10_000, 100, 5),
    }
    if "letter" in shared:
        found["letter"] = lambda: scaled(shared["letter"]())
        found["pendigits"] = lambda: scaled(shared["pendigits"]())
        found["news20, two classes"] = lambda: two_of(shared["news20"]())
    return found


def two_of(problem):
    """The problem of the first class against all others."""
    return problem._replace(y=(problem.y > 0).astype(int))


def l1_fits(name):
    """Fits with an l1 penalty: softmax, sparsemax, and softmax with whole features.

    C is a multiple of the smallest at which a coefficient enters.
    """
    problem = l1_problems()[name]()
    kinds = [(1, 1.0, "coefficients"), (2, 1.0, "coefficients"), (1, 0.9, "features")]
    for alpha, l1_ratio, select in kinds:
        model = OURS[alpha](l1_ratio=l1_ratio, select=select, tol=1e-6, max_iter=2000)
        least = smallest_C(model, problem.X, problem.y)
        for factor in (30, 300) if alpha < 2 else (30, 300, 3000):
            if (name, alpha, factor) in LEFT_OUT:
                continue
            label = f"{name}, {NAMES[alpha]}, {select}, {factor} x smallest C"
            yield WholeFitCase(
                label, clone(model).set_params(C=factor * least), problem
            )


def searches(name):
    """A search of ``search.py``."""
    model = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, scoring=BrierScorer())
    yield SearchCase(name, model, search_problems()[name]())


def l1_searches(name):
    """A search over C with an l1 penalty, by softmax or sparsemax."""
    problem = l1_problems()[name]()
    least = smallest_C(SoftmaxClassifier(l1_ratio=1.0), problem.X, problem.y)
    for alpha in (1, 2):
        model = EntmaxClassifierCV([alpha], least * np.logspace(0, 3, 10), cv=FOLDS)
        model.set_params(l1_ratios=[1.0])
        yield SearchCase(f"l1, {name}, {NAMES[alpha]}", model, problem)


def groups(optima=None):
    """Functions that yield cases, by the name of their problem."""
    found = {name: partial(fits, name, optima) for name in [*problems(), *MORE]}
    found |= {"200 labels": labels_200, "kinks": kinks, "2000 x 500": columns_500}
    found |= {"rare classes": rare_classes, "two classes": pairs_of_classes}
    found |= {f"default: {name}": partial(default_fits, name) for name in problems()}
    if "letter" in problems():
        found |= {name: partial(label_sets, name) for name in LABEL_SETS}
    found |= {f"l1: {name}": partial(l1_fits, name) for name in l1_problems()}
    found |= {f"search: {name}": partial(searches, name) for name in DATA}
    for name in ("breast cancer", "digits, scaled"):
        found[f"search: l1, {name}"] = partial(l1_searches, name)
    return found
