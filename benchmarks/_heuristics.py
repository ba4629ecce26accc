"""The heuristics of the fitting code, and how to do without each of them.

Most are fields of :class:`skprob.solvers.Tuning`. The others are attributes of modules
or classes.
"""

import ctypes
import math
import sys
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from skprob.data import LittleDesign, StandardizedDesign, _blocks, _design, _memory
from skprob.linear_model.fit import _wide_rows
from skprob.linear_model.search import _path as search_path
from skprob.linear_model.search import _scoring
from skprob.losses import FenchelYoungLoss
from skprob.losses._base import Loss
from skprob.objective import (
    LinearObjective,
    _block,
    _block_point,
    _linear,
)
from skprob.objective._linear_point import LinearCurvature
from skprob.objective.certificates import _intercepts
from skprob.solvers import (
    Tuning,
    _line_search,
    _path,
    groups_of_outputs,
    method_for,
    minimize_path,
    solve,
)
from skprob.solvers._coordinates import Whitening
from skprob.solvers.newton import sample_size


class Heuristic(NamedTuple):
    """Something that is to save time, and how to do without it.

    Attributes
    ----------
    name : str
    acts_on : callable
        Whether it may change a fit, given a description and its plan.
    without : Without
    """

    name: str
    acts_on: object
    without: object

    @property
    def in_search(self):
        """Whether it may change a search."""
        return self.acts_on is in_searches or self.name in ALSO_IN_SEARCHES


class Without:
    """Changes that make the code do without a heuristic.

    Parameters
    ----------
    *patches : context manager
        Other attributes of modules and classes.
    plan : dict, default=None
        Other fields of the plan.
    **fields
        Other fields of the tuning.
    """

    def __init__(self, *patches, plan=None, **fields):
        fixed_plan = tuple((plan or {}).items())
        self._patches = patches
        self._tuning = Tuning(fixed_plan=fixed_plan, **fields)

    @contextmanager
    def in_force(self):
        """Context with the changes, whose value is the tuning of fits inside it."""
        tuned_path = partial(minimize_path, tuning=self._tuning)
        with ExitStack() as stack:
            # Searches choose no tuning themselves.
            stack.enter_context(changed(search_path, "minimize_path", tuned_path))
            for change in self._patches:
                stack.enter_context(change)
            yield self._tuning


NOTHING = "nothing"


# Fits in which a heuristic may act, by description and plan.


def in_all(d, p):
    return True


def in_searches(d, p):
    return False


def by_lbfgs(d, p):
    return method_for(d) == "lbfgs"


def by_newton(d, p):
    return not by_lbfgs(d, p)


def by_cg(d, p):
    return method_for(d) == "newton-cg"


def by_cholesky(d, p):
    return method_for(d) == "newton-cholesky"


def two_classes(d, p):
    return d.shape[0] == 1


def more_by_cg(d, p):
    return by_cg(d, p) and not two_classes(d, p)


def outputs_apart(d, p):
    return by_cg(d, p) and p.by_output


def without_gram(d, p):
    return by_cg(d, p) and p.preconditioner == "diagonal" and not p.by_output


def splits(d, p):
    return by_cg(d, p) and p.split_after < math.inf


def whitens(d, p):
    return p.preconditioner.startswith("gram") and not by_cholesky(d, p)


def whitens_by_output(d, p):
    return whitens(d, p) and p.preconditioner == "gram by output" and d.shape[0] > 1


def computes_several(d, p):
    several = whitens_by_output(d, p) or (by_cholesky(d, p) and not two_classes(d, p))
    return several and is_small(d, p)


def samples(d, p):
    return whitens(d, p) and p.n_drawn < d.n_rows


def in_single_precision(d, p):
    return p.precision is np.float32


def starts_on_sample(d, p):
    return by_cg(d, p) and sample_size(d) > 0


def has_groups(d, p):
    return len(groups_of_outputs(d)) > 1


def in_wide(d, p):
    # Other rows are more than their columns, or about as many as they are here.
    return d.n_rows <= d.shape[1] + 1


def is_small(d, p):
    return d.n_rows * d.shape[1] <= _design.CACHE_SIZE


def is_large(d, p):
    return d.n_rows * max(d.shape) > _blocks.CACHE_SIZE / 4


# How to do without.


def changed(owner, name, value):
    """A context with another value of an attribute."""
    return patch.object(owner, name, value)


def blocks_times(times):
    return changed(_blocks, "CACHE_SIZE", int(times * _blocks.CACHE_SIZE))


def middle(low, high):
    return (low.length + high.length) / 2


def of_all_rows(self, by_output, n_drawn, sandwiches=LinearCurvature.sandwiches):
    return sandwiches(self, by_output, math.inf)


def one_by_one(self, weights):
    return np.stack([self._one_sandwich(weight) for weight in weights.T])


def solve_anew(*args, resume=None, **options):
    return solve(*args, **options)


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


in_features = changed(_wide_rows, "row_space_of", lambda spec, rows, l2: None)
# Whatever it is set to.
FALSE = property(lambda self: False, lambda self, value: None)
OF_TWO = "linearize_difference"

GROUPS = {
    in_all: {
        NOTHING: Without(),
        "freed memory kept": Without(MemoryGivenBack()),
    },
    by_newton: {
        "cubic interpolation": Without(
            changed(_line_search, "interpolated_length", middle),
            changed(_line_search, "extrapolated_length", lambda _, end: 2 * end.length),
        ),
        "slope condition": Without(slope_left=math.inf, slope_left_far=math.inf),
        "tangents where trials fail": Without(trials_by_cubics=sys.maxsize),
        "several steps of the gap's intercepts": Without(
            changed(_intercepts, "_MOST_STEPS", 1)
        ),
    },
    by_cholesky: {
        "whole Hessian": Without(largest_hessian_cost=0),
        "smaller slope far from the minimum": Without(
            slope_left_far=Tuning().slope_left
        ),
        "damping reduced": Without(damped_part=math.inf),
    },
    two_classes: {
        "closed forms for two classes": Without(
            changed(FenchelYoungLoss, OF_TWO, getattr(Loss, OF_TWO))
        ),
    },
    by_cg: {
        "Nash-Sofer stop": Without(least_gain=0.0),
        "preconditioner renewed": Without(plan={"renew_after": math.inf}),
        "active rows only": Without(changed(_block_point, "FEW_ACTIVE", 0)),
    },
    outputs_apart: {
        "each output alone": Without(plan={"by_output": False}),
        "labels' frequencies at the start": Without(
            changed(LinearObjective, "separate_start", lambda self, start: start)
        ),
        "smaller slope of each output": Without(slope_left_far=Tuning().slope_left),
    },
    without_gram: {
        "classes' frequencies at the start": Without(gain_of_intercepts=math.inf)
    },
    more_by_cg: {
        "stronger penalty first": Without(first_penalty=1.0),
        "recycled directions": Without(recycled_numbers=0),
    },
    splits: {"splitting": Without(plan={"split_after": math.inf})},
    whitens: {
        "whitening": Without(most_numbers=0),
        "more rows while they are few": Without(enough_rows=0),
        "all rows of little data": Without(little_data=0),
    },
    whitens_by_output: {
        "sandwiches by output": Without(plan={"preconditioner": "gram"}),
        "one sandwich at zero scores": Without(
            changed(LinearCurvature, "is_at_zero", False)
        ),
        "coordinates for the common direction": Without(
            patch.object(Whitening, "_splits", FALSE, create=True)
        ),
    },
    computes_several: {
        "sandwiches in one product": Without(
            changed(LittleDesign, "sandwich", one_by_one)
        ),
    },
    samples: {
        "sampled sandwiches": Without(
            changed(LinearCurvature, "sandwiches", of_all_rows)
        )
    },
    in_single_precision: {
        "single precision": Without(
            changed(_linear, "_suits_single_precision", lambda *_: False)
        )
    },
    is_small: {
        "small data standardised once": Without(
            changed(
                _block,
                "standardized",
                lambda design, units, _: StandardizedDesign(design, units),
            )
        )
    },
    in_wide: {"wide rows in coordinates": Without(in_features)},
    starts_on_sample: {"start on a sample": Without(sampled_rows=math.inf)},
    has_groups: {"groups of outputs": Without(group_size=sys.maxsize)},
    is_large: {
        "blocks no larger": Without(blocks_times(2)),
        "blocks no smaller": Without(blocks_times(0.5)),
    },
    by_lbfgs: {
        "L-BFGS: coordinates renewed": Without(first_stretch=sys.maxsize),
        "L-BFGS: rows without curvature": Without(share_at_zero=0.0),
        "L-BFGS: single precision": Without(plan={"precision": np.float64}),
        "L-BFGS if predictions are many": Without(many_raw_predictions=math.inf),
    },
    in_searches: {
        "search: penalties together": Without(family_rounds=0),
        "search: limited rounds together": Without(family_rounds=sys.maxsize),
        "search: starts taken nearer": Without(far_start=math.inf),
        "search: curvature handed on": Without(changed(_path, "solve", solve_anew)),
        "search: scoring together": Without(
            changed(_scoring, "with_predictions", lambda _, models, available: models)
        ),
    },
}
ALSO_IN_SEARCHES = [NOTHING, "cubic interpolation", "slope condition"]
ALSO_IN_SEARCHES += ["tangents where trials fail"]
ALSO_IN_SEARCHES += ["whole Hessian", "closed forms for two classes", "whitening"]
ALSO_IN_SEARCHES += ["recycled directions", "sandwiches by output"]
ALSO_IN_SEARCHES += ["coordinates for the common direction"]
ALSO_IN_SEARCHES += ["small data standardised once", "sandwiches in one product"]
HEURISTICS = [
    Heuristic(name, acts_on, without)
    for acts_on, group in GROUPS.items()
    for name, without in group.items()
]
