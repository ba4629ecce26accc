"""The fits and searches of ``ablation.py``, in named groups.

A case has a `name` and a `problem`. Its ``run(problem, limit, tuning)`` is a pair:
seconds of the processor, and passes over X.
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
    LITTLE,
    Problem,
    breast_cancer_scaled,
    digits_scaled,
    iris_scaled,
    many_rows,
    problems,
    scaled,
    wine_scaled,
)
from fit import NAMES, known_optimum
from search import ALPHAS, FOLDS, STRENGTHS
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
from skprob.linear_model._training_rows import training_rows
from skprob.linear_model.fit import fit_to_rows, objectives_of
from skprob.metrics import BrierScorer
from skprob.objective._mean_loss import MeanLoss
from skprob.solvers import plan, solve

# Relative suboptimality f / f* - 1 at which a fit with a known minimum f* ends.
LEVEL = 1e-6
# Pairs of alpha and C.
GRID = [(1.0, 1.0), (1.0, 100.0), (1.5, 1.0), (2.0, 1.0)]
GRIDS = {
    "iris, raw": GRID[::3],
    "wine, scaled": GRID[::3],
    "breast cancer, raw": GRID,
    "digits, raw": GRID,
    "digits, scaled": GRID,
    "badly scaled columns": GRID,
    "pendigits": GRID,
    "letter": GRID[::3],
}
SEARCHES = ["iris", "wine, scaled", "breast cancer, scaled", "5000 x 50, 5 classes"]


class Case:
    """A fit by the default solver, which is timed.

    Parameters
    ----------
    name : str
    model : classifier
    problem : Problem
    """

    def __init__(self, name, model, problem):
        self.name, self.model, self.problem = name, model, problem

    def is_changed_by(self, heuristic):
        """Whether a heuristic may change this fit."""
        with self._rows(self.problem, self._spec()) as rows:
            *_, objective = objectives_of(self._spec().for_rows(rows), rows)
        description = objective.description
        return heuristic.acts_on(description, plan(description))

    def _spec(self, tuning=None):
        spec = self.model._fit_spec()
        return spec if tuning is None else replace(spec, tuning=tuning)

    def _rows(self, problem, spec):
        return training_rows(self.model, spec, problem.X, problem.y, None, None, None)


class FitCase(Case):
    """A fit that ends at `LEVEL` above the minimum of a second implementation."""

    def __init__(self, name, problem, alpha, C, optima):
        model = OURS[alpha](C=C, fit_intercept=problem.fit_intercept)
        super().__init__(f"{name}, {NAMES[alpha]}, C={C:g}", model, problem)
        self._alpha, self._optimum_of = alpha, (optima, name, problem)

    @cached_property
    def least(self):
        """The value at the optimum."""
        reference, C = Reference(self.problem, self._alpha, self.model.C), self.model.C
        return known_optimum(*self._optimum_of, reference, C).value

    def run(self, problem, limit, tuning):
        """(seconds, passes) to the level; the fit stops after `limit` seconds."""
        value_at_end, spec = (1 + LEVEL) * self.least, self._spec(tuning)
        started = time.process_time()

        def is_enough(n_iter, parameters, value, gradient_norm, last):
            return value <= value_at_end or time.process_time() - started > limit

        with self._rows(problem, spec) as rows:
            (objective,) = objectives_of(spec.for_rows(rows), rows)
        options = {"tol": 1e-10, "max_iter": 10_000, "callback": is_enough}
        solve(objective, objective.initial(), tuning=tuning, **options)
        return time.process_time() - started, objective.passes


class WholeFitCase(Case):
    """A fit from beginning to end, with the model's tolerance.

    It is for fits without a second implementation, and for fits that minimise several
    objectives or groups of outputs in turn: their value is near the minimum only at
    the end.
    """

    def run(self, problem, limit, tuning):
        """(seconds, passes) of the fit, which stops after `limit` seconds."""
        started, spec = time.process_time(), self._spec(tuning)
        with self._rows(problem, spec) as rows, warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = fit_to_rows(spec, rows, progress=Limit(started + limit))
        passes = fit.solution.history[-1].passes
        return time.process_time() - started, passes


class Limit:
    """A `progress` that stops a fit at the processor time `end`."""

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

    def __init__(self, name, search, problem):
        self.name, self.problem, self._search = f"search: {name}", problem, search

    def is_changed_by(self, heuristic):
        """True: any heuristic may change one of its many fits."""
        return True

    def run(self, problem, limit, tuning):
        """(seconds, passes) of all fits; `limit` has no effect."""

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
            return time.process_time() - started, sum(passes)


# The groups.


def fits(optima):
    """Fits of ``fit.py`` to data in memory."""
    known = LITTLE | problems()
    for name, grid in GRIDS.items():
        # Some problems need the files in SKPROB_DATA.
        problem = known[name]() if name in known else None
        for alpha, C in grid if problem else ():
            yield FitCase(name, problem, alpha, C, optima)


def fits_to_texts(optima):
    """Fits to 20 newsgroups: many sparse columns, for which no Gram matrix pays."""
    if "news20" in problems():
        problem = problems()["news20"]()
        for alpha, C in GRID[:2]:
            yield FitCase("news20", problem, alpha, C, optima)


def large_fits(optima):
    """Fits to 100,000 rows, and of 200 labels, which are minimised group by group."""
    problem = many_rows(100_000, 20, 10)
    for alpha, C in GRID:
        yield FitCase("100,000 rows", problem, alpha, C, optima)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 20))
    scores = X @ rng.standard_normal((20, 200)) - 2 * rng.random(200)
    Y = (scores + rng.logistic(size=scores.shape) > 0).astype(float)
    yield WholeFitCase("200 labels", SigmoidClassifier(max_iter=1000), Problem(X, Y))


def wide_fits(optima):
    """Fits to 100 rows of 5,000 features, 300 texts, and 2,000 rows of 500."""
    problem = problems()["wide"]()
    for alpha, C in GRID:
        yield FitCase("wide", problem, alpha, C, optima)
    X, y = make_classification(2000, 500, n_informative=20, n_classes=3, random_state=0)
    problem = scaled(Problem(X, y))
    for alpha, kind in OURS.items():
        yield WholeFitCase(f"2000 x 500, {NAMES[alpha]}", kind(), problem)
    if "news20" in problems():
        X, y = problems()["news20"]()[:2]
        rows = np.random.default_rng(0).permutation(len(y))[:300]
        problem = Problem(X[rows], y[rows])
        for alpha, kind in OURS.items():
            yield WholeFitCase(f"300 texts, {NAMES[alpha]}", kind(), problem)


def fits_of_many_classes(optima):
    """Fits of 500 classes, by L-BFGS."""
    problem = problems()["500 classes"]()
    for alpha, C in [(1.0, 1.0), (1.0, 100.0), (2.0, 1.0)]:
        model = OURS[alpha](C=C, tol=1e-5)
        yield WholeFitCase(f"500 classes, {NAMES[alpha]}, C={C:g}", model, problem)


def fits_of_rare_classes(optima):
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
    for kind in (SoftmaxClassifier, SparsemaxClassifier, SigmoidClassifier):
        for C in (0.01, 1.0):
            name = f"{kind.__name__}, C={C:g}"
            yield WholeFitCase(name, kind(C=C, tol=1e-2), Problem(X, y))


def fits_with_kinks(optima):
    """Losses whose gradient jumps, which L-BFGS leaves to bundles of gradients."""
    loads = {"wine, scaled": wine_scaled, "digits, scaled": digits_scaled}
    for name, load in loads.items():
        for C in (1.0, 10.0):
            model = SparseSoftmaxClassifier(k=2, C=C, tol=1e-5, max_iter=3000)
            yield WholeFitCase(f"{name}, sparse softmax, C={C:g}", model, load())


def fits_of_label_sets(optima):
    """Label sets of texts: by sigmoid output by output, by softmax and sparsemax."""
    if "letter" not in problems():
        return
    for name in ("enron", "reuters21578_modapte90", "bibtex"):
        ((X, _, Y, _),) = splits(name)
        kinds = [(SigmoidClassifier, 1.0), (SigmoidClassifier, 10.0)]
        if name != "reuters21578_modapte90":
            kinds += [(SparsemaxClassifier, 1.0), (SoftmaxClassifier, 1.0)]
        if name == "enron":
            kinds.append((SparsemaxClassifier, 10.0))
        for kind, C in kinds:
            label = f"{name}, {kind.__name__}, C={C:g}"
            yield WholeFitCase(label, kind(C=C, max_iter=1000), Problem(X, Y))


def l1_fits(optima):
    """Fits with an l1 penalty to data with more rows than features."""
    shared = problems()
    loads = {"iris": iris_scaled, "breast cancer": breast_cancer_scaled}
    loads["digits"] = digits_scaled
    loads["10,000 x 100"] = partial(made, 10_000, 100, 5)
    loads["100,000 x 50"] = partial(made, 100_000, 50, 5)
    loads["1,200 x 200, two classes"] = partial(made, 1200, 200, 2)
    if "pendigits" in shared:
        loads["pendigits"] = lambda: scaled(shared["pendigits"]())
    for name, load in loads.items():
        yield from l1_cases(name, load(), factors=(30, 300), factor=30)


def wide_l1_fits(optima):
    """Fits with an l1 penalty to data with more features than rows."""
    yield from l1_cases("200 x 300", made(200, 300, 4), factors=(3, 30), factor=300)
    yield from l1_cases(
        "500 x 5,000, two classes", made(500, 5000, 2), factors=(3, 30), factor=30
    )
    if "news20" in problems():
        problem = problems()["news20"]()
        problem = problem._replace(y=(problem.y > 0).astype(int))
        yield from l1_cases("news20, two classes", problem, factors=(3, 30), factor=3)


def made(n_rows, n_features, n_classes):
    """A scaled problem of 20 informative features."""
    X, y = make_classification(
        n_rows, n_features, n_informative=20, n_classes=n_classes, random_state=0
    )
    return scaled(Problem(X, y))


def l1_cases(name, problem, *, factors, factor):
    """Fits by softmax with each of some factors, and with another one two more.

    These are by sparsemax, and by softmax with whole features. C is the factor times
    the smallest one at which a coefficient enters.
    """
    kinds = [(1, 1.0, "coefficients", each) for each in factors]
    kinds += [(2, 1.0, "coefficients", factor), (1, 0.9, "features", factor)]
    for alpha, l1_ratio, select, times in kinds:
        model = OURS[alpha](l1_ratio=l1_ratio, select=select, tol=1e-6, max_iter=2000)
        model.set_params(C=times * smallest_C(model, problem.X, problem.y))
        label = f"{name}, {NAMES[alpha]}, {select}, {times} x"
        yield WholeFitCase(label, model, problem)


def searches(optima):
    """Searches of ``search.py`` over alpha and C, and one with an l1 penalty over C."""
    for name in SEARCHES:
        model = EntmaxClassifierCV(ALPHAS, STRENGTHS, cv=FOLDS, scoring=BrierScorer())
        yield SearchCase(name, model, search_problems()[name]())
    problem = breast_cancer_scaled()
    least = smallest_C(SoftmaxClassifier(l1_ratio=1.0), problem.X, problem.y)
    model = EntmaxClassifierCV([1], least * np.logspace(0, 3, 10), cv=FOLDS)
    model.set_params(l1_ratios=[1.0])
    yield SearchCase("l1, breast cancer, scaled", model, problem)


#: Functions that yield the cases of a group, given the folder of optima.
GROUPS = {
    "fits": fits,
    "texts": fits_to_texts,
    "searches": searches,
    "large": large_fits,
    "wide": wide_fits,
    "many classes": fits_of_many_classes,
    "rare classes": fits_of_rare_classes,
    "label sets": fits_of_label_sets,
    "kinks": fits_with_kinks,
    "l1": l1_fits,
    "l1, wide": wide_l1_fits,
}
