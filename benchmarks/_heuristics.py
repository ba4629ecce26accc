"""The heuristics of the fitting code, and settings that switch each of them off.

The settings are fields of :class:`skprob.solvers.Tuning`.
"""

import math
import sys
from typing import NamedTuple

import numpy as np

from skprob.solvers import Tuning, groups_of_outputs, method_for
from skprob.solvers.newton import sample_size


class Heuristic(NamedTuple):
    """A decision that may save time, and settings without it.

    Attributes
    ----------
    name : str
    acts_on : callable
        Whether it may change a fit, given a description and its plan.
    without : Tuning
        Settings that switch it off.
    fields : frozenset of str
        Fields of the tuning that belong to it.
    groups : tuple of str
        Groups of cases in which it is measured.
    """

    name: str
    acts_on: object
    without: Tuning
    fields: frozenset
    groups: tuple


def without(*also, plan=None, groups="fits", **fields):
    """A function of name and fits that makes a :class:`Heuristic`.

    Parameters
    ----------
    *also : str
        Other fields of the heuristic, which have no effect without it.
    plan : dict, default=None
        Fields of the plan that differ.
    groups : str or tuple of str, default="fits"
        Groups of cases in which it is measured.
    **fields
        Fields of the tuning that differ.
    """

    def heuristic(name, acts_on):
        names = frozenset(fields) | frozenset(also)
        tuning = Tuning(fixed_plan=tuple((plan or {}).items()), **fields)
        several = (groups,) if isinstance(groups, str) else groups
        return Heuristic(name, acts_on, tuning, names, several)

    return heuristic


NOTHING = "nothing"
# Groups of cases: see _ablation_cases.py.
BOTH = "fits", "searches"
L1 = "l1", "l1, wide"
TEXTS = "fits", "texts"
ALL = *BOTH, *L1, "texts", "large", "wide", "many classes", "rare classes"
ALL = *ALL, "label sets", "kinks"


# Fits in which a heuristic may act, by description and plan.


def in_all(d, p):
    return True


def in_searches(d, p):
    # They are measured in searches only.
    return True


def is_smooth(d, p):
    return not d.has_shrinkage


def by_lbfgs(d, p):
    return is_smooth(d, p) and method_for(d) == "lbfgs" and not d.has_kinks


def by_newton(d, p):
    return is_smooth(d, p) and method_for(d) != "lbfgs"


def by_cg(d, p):
    return is_smooth(d, p) and method_for(d) == "newton-cg"


def by_scaled_cg(d, p):
    return by_cg(d, p) and p.is_scaled


def by_cholesky(d, p):
    return is_smooth(d, p) and method_for(d) == "newton-cholesky"


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
    has_gram = p.preconditioner.startswith("gram")
    return is_smooth(d, p) and has_gram and not by_cholesky(d, p)


def whitens_by_output(d, p):
    return whitens(d, p) and p.preconditioner == "gram by output" and d.shape[0] > 1


def computes_several(d, p):
    several = whitens_by_output(d, p) or (by_cholesky(d, p) and not two_classes(d, p))
    return several and is_little(d, p)


def samples(d, p):
    return whitens(d, p) and p.n_drawn < d.n_rows


def in_single_precision(d, p):
    return is_smooth(d, p) and p.precision is np.float32


def starts_on_sample(d, p):
    return by_cg(d, p) and sample_size(d) > 0


def has_groups(d, p):
    return len(groups_of_outputs(d)) > 1


def in_wide(d, p):
    # With more rows the heuristic has no effect.
    return is_smooth(d, p) and d.n_rows <= d.shape[1] + 1


def is_little(d, p):
    return d.n_rows * d.shape[1] <= Tuning().most_standardised


def has_hessian_of_pairs(d, p):
    few = math.prod(d.shape) <= Tuning().few_parameters
    return is_little(d, p) and few and not two_classes(d, p)


def has_gap(d, p):
    return is_smooth(d, p) and d.has_intercept and not is_little(d, p)


def shrinks(d, p):
    return d.has_shrinkage


def shrinks_many(d, p):
    is_wide = d.shape[1] - d.has_intercept > d.n_rows
    return shrinks(d, p) and (is_wide or d.n_stored > Tuning().little_of_features)


def shrinks_few(d, p):
    return shrinks(d, p) and not shrinks_many(d, p)


def shrinks_with_zeros(d, p):
    # Losses with exact zeros have no third derivatives where the support changes.
    return shrinks(d, p) and d.has_proximal_step


def has_kinks(d, p):
    return d.has_kinks


USUAL = Tuning()
NEVER = sys.maxsize
#: Functions that make heuristics, by name and the fits that they act on.
GROUPS = {
    in_all: {
        NOTHING: without(groups=ALL),
        "freed memory kept": without(kept_memory=1 << 20, groups=TEXTS),
    },
    by_newton: {
        "cubic interpolation": without(
            groups=(*TEXTS, "searches"),
            least_part=0.5,
            least_longer=2.0,
            most_longer=2.0,
        ),
        "slope condition": without(
            "sufficient_decrease",
            "most_trials",
            groups=(*TEXTS, "searches"),
            slope_left=math.inf,
            slope_left_far=math.inf,
        ),
        "tangents where trials fail": without(groups=BOTH, trials_by_cubics=NEVER),
    },
    has_gap: {
        "several steps of the gap's intercepts": without(
            intercept_steps=1, groups="rare classes"
        ),
        "rough intercepts of the gap": without(
            share_of_bound=0.0, groups="rare classes"
        ),
    },
    by_cholesky: {
        "whole Hessian": without(groups=BOTH, largest_hessian_cost=0),
        "smaller slope far from the minimum": without(
            "near_minimum", slope_left_far=USUAL.slope_left
        ),
        "longer steps far from the minimum": without(longer_far=1.0),
        "damping reduced": without("unresolved_curvature", damped_part=math.inf),
    },
    has_hessian_of_pairs: {
        "whole Hessian in one product": without(groups=(*BOTH, "l1"), few_parameters=0),
    },
    by_cg: {
        "exponentials cost more": without(elementwise_cost=1.0),
        "rough steps": without(forcing_term=1e-2, groups=TEXTS),
        "Nash-Sofer stop": without(least_gain=0.0, groups=TEXTS),
        "preconditioner renewed": without(plan={"renew_after": math.inf}),
        "Gram matrices renewed early": without(most_curvature=math.inf),
        "active rows only": without(few_active=0),
        "raw predictions kept twice": without(most_twice=0),
    },
    by_scaled_cg: {
        "curvature nearer to the targets": without(
            target_share=0.0, groups=("texts", "label sets")
        ),
        "units of each output": without(
            plan={"own_units": False}, groups=("texts", "label sets")
        ),
        "single precision far from the minimum": without(
            far_decrease=math.inf, groups="texts"
        ),
    },
    outputs_apart: {
        "each output alone": without(plan={"by_output": False}, groups="label sets"),
        "smaller slope of each output": without(
            slope_left_far=USUAL.slope_left, groups="label sets"
        ),
        "smaller residual of each output": without(
            forcing_term_by_output=USUAL.forcing_term, groups="label sets"
        ),
        "curvature of each output nearer to the targets": without(
            far_by_output=math.inf, groups="label sets"
        ),
        "first residuals of each output kept": without(
            residuals_kept=0, groups="label sets"
        ),
        "moments of each output renewed": without(
            most_curvature_change=math.inf, groups="label sets"
        ),
    },
    without_gram: {
        "classes' frequencies at the start": without(
            "most_intercepts", gain_of_intercepts=math.inf
        )
    },
    more_by_cg: {
        "stronger penalty first": without(
            "first_steps_gain", first_penalty=1.0, groups=TEXTS
        ),
        "recycled directions": without(groups=BOTH, recycled_numbers=0),
    },
    splits: {
        "splitting": without(
            "splitting_memory",
            "splitting_strength",
            "splitting_end",
            plan={"split_after": math.inf},
            groups="label sets",
        ),
        "splitting tried again": without(splitting_tries=1, groups="label sets"),
        "splitting early": without(splitting_share=1.0, groups="label sets"),
    },
    whitens: {
        "whitening": without("most_products", groups=BOTH, most_numbers=0),
        "more rows while they are few": without("many_products", enough_rows=0),
        "fewest rows of a column": without(fewest_rows=0, groups="wide"),
        "all rows of little data": without(little_data=0),
    },
    whitens_by_output: {
        "sandwiches by output": without(groups=BOTH, plan={"preconditioner": "gram"}),
    },
    computes_several: {
        "sandwiches in one product": without(
            "most_pairs", groups=BOTH, pair_columns=0.0
        ),
    },
    samples: {
        "sampled sandwiches": without("few_products", plan={"n_drawn": math.inf}),
    },
    in_single_precision: {
        "single precision": without(
            "single_product",
            groups=(*TEXTS, "searches"),
            plan={"precision": np.float64},
        )
    },
    is_little: {
        "small data standardised once": without(groups=BOTH, most_standardised=0),
    },
    in_wide: {
        "wide rows in coordinates": without(
            *(name for name in Tuning._fields if name.startswith("wide_")),
            wide_rows=0,
            groups="wide",
        )
    },
    starts_on_sample: {
        "start on a sample": without(
            "sampled_share",
            "large_data",
            "sample_tol",
            sampled_rows=math.inf,
            groups="large",
        )
    },
    has_groups: {
        "groups of outputs": without("fewest_outputs", group_size=NEVER, groups="large")
    },
    by_lbfgs: {
        "L-BFGS: coordinates renewed": without(
            first_stretch=NEVER, groups="many classes"
        ),
        "L-BFGS: rows without curvature": without(
            share_at_zero=0.0, groups="many classes"
        ),
        "L-BFGS if predictions are many": without(
            "numbers_kept", many_raw_predictions=math.inf, groups="many classes"
        ),
    },
    has_kinks: {
        "bundle: looser at first": without(
            "bundle_size",
            "bundle_decrease",
            "bundle_shorter",
            "bundle_error",
            "bundle_tighter",
            bundle_looseness=1.0,
            groups="kinks",
        )
    },
    shrinks_with_zeros: {
        "l1: stronger penalties first": without(
            first_ratio_of_wide=math.inf, groups=L1
        ),
        "l1: two penalties of a decade": without(penalties_of_decade=1, groups=L1),
    },
    shrinks: {
        "l1: Hessian written out": without(largest_hessian=0, groups=L1),
        "l1: costly Hessian, if steps are": without(hessian_products=0.0, groups=L1),
        "l1: Hessian from drawn rows": without(
            *("largest_share", "far_step"),
            rows_of_parameter=math.inf,
            rows_near=math.inf,
            groups="l1",
        ),
        "l1: more rows near the minimum": without(
            rows_near=USUAL.rows_of_parameter, groups="l1"
        ),
        "l1: no rows drawn for a small Hessian": without(
            sampled_hessian=0.0, groups="l1"
        ),
        "l1: Hessian by all pairs of outputs": without(
            "share_of_pairs", outputs_of_pairs=NEVER
        ),
        "l1: longer steps": without(longest_step=1.0, groups=L1),
        "l1: Hessian in single precision": without(
            *("least_pivot", "least_pivot_of_scores", "most_magnified"),
            single_hessian=math.inf,
            groups=L1,
        ),
    },
    shrinks_few: {
        "l1: no working set of few numbers": without(little_of_features=0, groups=L1),
    },
    shrinks_many: {
        "l1: working set": without(
            "most_on_working_set", largest_working_set=0.0, groups=L1
        ),
        "l1: working set to a part of the gradient": without(
            left_on_working_set=0.05, groups=L1
        ),
        "l1: few features to a smaller part": without(
            left_on_few=USUAL.left_on_working_set, groups=L1
        ),
        "l1: larger blocks": without(block_bytes_of_l1=USUAL.block_bytes, groups=L1),
        "l1: few features added": without("fewest_added", most_added=1e9, groups=L1),
        "l1: more features of sparse rows": without(
            fewest_added_of_sparse=USUAL.fewest_added,
            most_added_of_sparse=USUAL.most_added,
            groups="l1, wide",
        ),
        "l1: rounds to a part of the gradient": without(
            forcing_of_gradient=math.inf, groups="l1, wide"
        ),
    },
    in_searches: {
        "search: penalties together": without(family_rounds=0, groups="searches"),
        "search: limited rounds together": without(
            family_rounds=NEVER, groups="searches"
        ),
        "search: starts taken nearer": without(far_start=math.inf, groups="searches"),
        "search: scoring together": without(scored_together=0, groups="searches"),
    },
}
HEURISTICS = [
    make(name, acts_on)
    for acts_on, group in GROUPS.items()
    for name, make in group.items()
]
#: Fields that no row switches, and why.
WITHOUT_ROW = {
    "fixed_plan": "the rows use it",
    "block_size": "the memory of a pass depends on it",
    "block_bytes": "the memory of a pass depends on it",
    "sparse_share": "the memory of texts depends on it",
    "forms_by_pairs": "of leave-one-out, which no case has",
    "systems_by_products": "of leave-one-out, which no case has",
    "round_trip_cost": "a cluster is slower by it",
    "least_on_device": "a GPU is slower by it",
    "steps_kept": "of L-BFGS with an l1 penalty, whose fits may not converge",
    "least_curvature": "of the same",
    "products_of_diagonal": "with 4, 10 and 20 the passes are about the same",
    "curvatures_kept": "when a fit has ended",
    "loose_gap": "when a fit has ended",
    "look_back": "when a fit has ended",
    "patience": "when a fit has ended",
    "rounding": "when a fit has ended",
    "tol_at_start": "when a fit has ended",
}
