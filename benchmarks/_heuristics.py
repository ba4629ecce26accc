"""The heuristics of the fitting code, and how to do without each of them.

All that the benchmark knows of the inside of skprob is here: constants and functions,
by name.
"""

import ctypes
import importlib
import inspect
import math
import sys
import textwrap
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from skprob.solvers._continuation import StrongerPenalty
from skprob.solvers._whitening import Whitening

from skprob import _memory
from skprob.data import DesignMatrix, StandardizedDesign, _dense, _design, _rows
from skprob.linear_model import _scoring
from skprob.losses import FenchelYoungLoss
from skprob.losses._base import Loss
from skprob.objective import Linearization, _block, _linear
from skprob.solvers import Preconditioner, _cg, _line_search, _newton, _path, _plan

# Not the functions of these names.
_auto, _lbfgs = (sys.modules[f"skprob.solvers.{name}"] for name in ("_auto", "_lbfgs"))
_model_path = importlib.import_module("skprob.linear_model._path")


class Heuristic(NamedTuple):
    """Something that is to save time, and how to do without it.

    Attributes
    ----------
    name : str
    patches : list of context manager
        What makes the code do without.
    acts_on : callable
        Whether it may change a fit, given a description and its plan.
    """

    name: str
    patches: list
    acts_on: object

    @property
    def in_search(self):
        """Whether it may change a search."""
        return self.acts_on is in_searches or self.name in ALSO_IN_SEARCHES


# Fits in which a heuristic may act, by description and plan.


def in_all(d, p):
    return True


def in_searches(d, p):
    return False


def by_lbfgs(d, p):
    return p.method == "lbfgs"


def by_newton(d, p):
    return not by_lbfgs(d, p)


def by_cg(d, p):
    return p.method == "newton-cg"


def by_cholesky(d, p):
    return p.method == "newton-cholesky"


def two_classes(d, p):
    return d.shape[0] == 1


def more_by_cg(d, p):
    return by_cg(d, p) and not two_classes(d, p)


def whitens(d, p):
    return p.preconditioner.startswith("gram") and not by_cholesky(d, p)


def whitens_by_output(d, p):
    return whitens(d, p) and p.preconditioner == "gram by output" and d.shape[0] > 1


def computes_several(d, p):
    return whitens_by_output(d, p) or (by_cholesky(d, p) and not two_classes(d, p))


def samples(d, p):
    return whitens(d, p) and p.n_drawn < d.n_rows


def in_single_precision(d, p):
    return p.precision is np.float32


def is_small(d, p):
    return d.n_rows * d.shape[1] <= _design.CACHE_SIZE


def is_large(d, p):
    return d.n_rows * max(d.shape) > _rows.CACHE_SIZE / 4


# How to do without.


def setting(owner, name, value):
    return [patch.object(owner, name, value)]


def edited(function, old, new, *owners):
    """A function of these modules or classes with a piece of its source replaced."""
    source = textwrap.dedent(inspect.getsource(function))
    if old not in source:
        raise ValueError(f"{old!r} is not in {function.__name__}.")
    scope, name = {}, function.__name__
    exec(source.replace(old, new), function.__globals__, scope)
    return [patch.object(owner, name, scope[name]) for owner in owners]


def planned(old, new):
    return edited(_plan.plan, old, new, _auto, _lbfgs, _path)


def path_edited(old, new):
    return edited(_path.minimize_path, old, new, _model_path)


def stepping(old, new):
    return edited(_newton.CGDirection.step, old, new, _newton.CGDirection)


def blocks_times(times):
    return [patch.object(_rows, "CACHE_SIZE", int(times * _rows.CACHE_SIZE))]


def halving():
    return [
        patch.object(_line_search, "_between", lambda a, b: (a.length + b.length) / 2),
        patch.object(_line_search, "_extrapolated", lambda _, end: 2 * end.length),
    ]


def of_all_rows(self, by_output, n_drawn, sandwiches=Linearization.sandwiches):
    return sandwiches(self, by_output, math.inf)


def one_by_one(objective, starts, criteria):
    return [None] * len(starts)


class Always(StrongerPenalty):
    """A stronger penalty even where it promises little."""

    def begin(self, here):
        found = yield from super().begin(here)
        self.is_spent = False
        return found


class MemoryGivenBack:
    """glibc as it is after the largest array that was freed had 1 MiB."""

    def __enter__(self):
        self._keep(1 << 20)

    def __exit__(self, *exception):
        self._keep(_memory._LARGE)

    def _keep(self, size):
        trim_threshold, map_threshold = -1, -3
        library = ctypes.CDLL(None)
        library.mallopt(map_threshold, size)
        library.mallopt(trim_threshold, 2 * size)


# Whatever it is set to.
FALSE = property(lambda self: False, lambda self, value: None)
OF_TWO = "linearize_difference"
BY_OUTPUT = '("gram by output", n_outputs), ("gram", 1)'

GROUPS = {
    in_all: {
        "nothing": [],
        "products in small parts": setting(_dense, "_SMALL_PRODUCT", 0),
        "freed memory kept": [MemoryGivenBack()],
    },
    by_newton: {
        "cubic interpolation": halving(),
        "slope condition": setting(_line_search, "_SLOPE_LEFT", math.inf),
    },
    by_cholesky: {
        "whole Hessian": setting(_plan, "_SMALL_HESSIAN", 0),
    },
    two_classes: {
        "first step twice as long": setting(_auto, "_TOO_SHORT", 1.0),
        "closed forms for two classes": setting(
            FenchelYoungLoss, OF_TWO, getattr(Loss, OF_TWO)
        ),
    },
    by_cg: {
        "forcing term": stepping("min(0.3, square**0.25)", "0.3"),
        "Nash-Sofer stop": edited(
            _cg._Group.advance, "gain <= 0.2 *", "gain < 0 *", _cg._Group
        ),
        "preconditioner renewed": setting(Preconditioner, "is_stale", False),
        "active rows only": setting(_block, "_FEW_ACTIVE", 0),
    },
    more_by_cg: {
        "stronger penalty first": setting(
            _auto, "StrongerPenalty", _newton.CGDirection
        ),
        "only where it promises to help": setting(_auto, "StrongerPenalty", Always),
        "recycled directions": setting(_plan, "_RECYCLED_NUMBERS", 0),
    },
    whitens: {
        "whitening": setting(_plan, "_MOST_NUMBERS", 0),
        "more rows while they are few": setting(_plan, "_ENOUGH_ROWS", 0),
        "calls in the plan": setting(_plan, "_CALLS", 0),
    },
    whitens_by_output: {
        "sandwiches by output": planned(BY_OUTPUT, '[("gram", 1)]'),
        "one sandwich at zero scores": setting(Linearization, "is_at_zero", False),
        "coordinates for the common direction": [
            patch.object(Whitening, "_splits", FALSE, create=True)
        ],
    },
    computes_several: {
        "sandwiches in one product": edited(
            DesignMatrix.sandwich_of, "3 * n_weights < n_columns", "True", DesignMatrix
        ),
    },
    samples: {"sampled sandwiches": setting(Linearization, "sandwiches", of_all_rows)},
    in_single_precision: {
        "single precision": setting(_linear, "_suits_single_precision", lambda *_: 0)
    },
    is_small: {
        "small data standardised once": setting(
            _block,
            "standardized",
            lambda design, units, _: StandardizedDesign(design, units),
        )
    },
    is_large: {
        "blocks no larger": blocks_times(2),
        "blocks no smaller": blocks_times(0.5),
    },
    by_lbfgs: {
        "L-BFGS: coordinates renewed": setting(_lbfgs, "_FIRST_STRETCH", sys.maxsize),
        "L-BFGS: first step of the gradient": edited(
            _lbfgs._Path.__init__, "np.linalg.norm(self._last[1]) or", "", _lbfgs._Path
        ),
        "L-BFGS: rows without curvature": edited(
            Preconditioner.renew, '"lbfgs" and', '"none" and', Preconditioner
        ),
        "L-BFGS if predictions are many": setting(_plan, "_MANY_TIMES", math.inf),
    },
    in_searches: {
        "search: side by side": setting(_path, "_side_by_side", one_by_one),
        "search: limited requests": setting(_path, "MAX_TRIALS", sys.maxsize),
        "search: starts taken nearer": setting(_path, "_FAR", math.inf),
        "search: known points": path_edited("is_known = ", "is_known = False and "),
        "search: preconditioner handed on": setting(
            _path, "Preconditioner", lambda *_: None
        ),
        "search: scoring together": setting(
            _scoring, "predicted", lambda _, models, available: models
        ),
    },
}
ALSO_IN_SEARCHES = ["nothing", "cubic interpolation", "slope condition"]
ALSO_IN_SEARCHES += ["whole Hessian", "closed forms for two classes", "whitening"]
ALSO_IN_SEARCHES += ["recycled directions", "sandwiches by output"]
ALSO_IN_SEARCHES += ["coordinates for the common direction"]
ALSO_IN_SEARCHES += ["small data standardised once", "sandwiches in one product"]
HEURISTICS = [
    Heuristic(name, patches, acts_on)
    for acts_on, group in GROUPS.items()
    for name, patches in group.items()
]
