"""The fastest solver of a problem, and its fastest settings."""

import math
from typing import NamedTuple

import numpy as np

from .._utils.tuning import Tuning
from ._newton_cholesky import suits_whole_hessian

#: Every name that is accepted as ``solver``.
SOLVERS = ("auto", "lbfgs", "newton-cg", "newton-cholesky")


def method_for(description, tuning=Tuning()):
    """Name of the solver that "auto" stands for.

    The first rule that applies is used:

    1. "lbfgs" if the objective is not convex or its Hessian is not bounded.
    2. "newton-cholesky" if the whole Hessian costs little: see `suits_whole_hessian`.
    3. "lbfgs" if raw predictions are many, or the rows are remote. It takes 0.4 to 1.2
       times as many round trips as "newton-cg", and stores no arrays of the rows.
    4. "newton-cg" for all other problems.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.objective import Description
    >>> from skprob.solvers import method_for
    >>> mnist = Description(
    ...     n_rows=60_000, n_stored=60_000 * 784, shape=(10, 785), dtype=np.dtype("f8")
    ... )
    >>> method_for(mnist)
    'newton-cg'
    """
    if not (description.is_convex and description.has_bounded_hessian):
        return "lbfgs"
    if suits_whole_hessian(description, tuning):
        return "newton-cholesky"
    most = max(
        tuning.many_raw_predictions * description.n_stored,
        tuning.most_numbers / tuning.numbers_kept,
    )
    has_many = description.n_rows * description.shape[0] > most
    return "lbfgs" if has_many or description.is_remote else "newton-cg"


class Plan(NamedTuple):
    """How to minimise an objective: see :func:`plan`."""

    #: Source of the coordinates: "none", "diagonal" (of the Hessian), "gram" (a Gram
    #: matrix) or "gram by output" (one for each raw prediction).
    preconditioner: str
    n_drawn: int  #: Number of rows drawn for a Gram matrix.
    renew_after: float  #: Fewest Hessian products before the preconditioner is renewed.
    n_recycled: int  #: Number of directions of the last step to keep.
    #: Floating-point type of Hessian products and Gram matrices.
    precision: type
    #: Floating-point type of L-BFGS's evaluations far from the minimum.
    precision_of_values: type = np.float64
    #: Share of the curvature at zero scores that is added to Gram matrices.
    share_at_zero: float = 0.0
    #: Whether Gram matrices and their factors remain on the device of the data.
    on_device: bool = False
    #: Number of groups of parameters that the Hessian does not couple: one for each raw
    #: prediction, or a single one.
    n_groups: int = 1
    #: Whether Hessian products are computed in the coordinates of the preconditioner.
    is_scaled: bool = False
    #: Whether the unit of a parameter, with the diagonal, depends on the curvature of
    #: its own output; else only on the mean of all outputs.
    own_units: bool = True
    #: Whether each raw prediction is minimised separately.
    by_output: bool = False
    #: Hessian products after which splitting continues; infinite stands for never.
    split_after: float = math.inf


def plan(description, tuning=Tuning()):
    """The plan for an objective, whose solver :func:`method_for` names.

    ===================  ===============================================================
    decision             rule
    ===================  ===============================================================
    preconditioner       Gram matrices that cost at most 60 Hessian products, one for
                         each raw prediction if possible; else the diagonal. None for
                         cosines.
    n_drawn              Rows for 4 products; up to 20 for 30 rows a column, at least 3.
                         All rows of little data.
    renew_after          As many products as Gram matrices cost; 10 for the diagonal.
    by_output            Each raw prediction separately, if the loss is a sum over them
                         and there is no Gram matrix. The slowest one then takes many
                         more products than the mean: 644 instead of 62 on enron.
    n_groups             One for each raw prediction if the loss is a sum over them.
    n_recycled           1 MiB of them; none with two classes, where the Gram matrix is
                         the Hessian.
    on_device            On a GPU, if a product with their factors costs more than the
                         copies of a vector to the device and back.
    precision            Single for Newton's method if X is an array of NumPy with at
                         most 2^25 numbers, unless products cost little; and for a
                         sparse X without Gram matrices. Else double.
    precision_of_values  Single for L-BFGS with many raw predictions; else double.
    is_scaled            With the diagonal of a sparse X in memory and several raw
                         predictions: fits to texts take 0.85 to 0.95 times as long.
    split_after          A third of the products that splitting's Gram matrix and its
                         factor cost, at least 20. Never without a closed form of the
                         proximal step; with two classes; if it takes more than 256 MiB;
                         or with a Gram matrix for each raw prediction, where Newton's
                         method takes few products (digits: splitting takes twice as
                         long).
    ===================  ===============================================================

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.objective import Description
    >>> from skprob.solvers import plan
    >>> mnist = Description(
    ...     n_rows=60_000, n_stored=60_000 * 784, shape=(10, 785), dtype=np.dtype("f8")
    ... )
    >>> plan(mnist).preconditioner
    'gram by output'
    """
    chosen = _chosen(description, tuning)
    return chosen._replace(**dict(tuning.fixed_plan)) if tuning.fixed_plan else chosen


def _chosen(description, tuning):
    """The plan by the rules of :func:`plan`."""
    n_outputs, size = description.shape
    n_groups = n_outputs if description.is_separable else 1
    if not description.is_linear:
        return Plan("none", 0, math.inf, 0, np.float64)
    costs = _Costs.of(description, tuning)
    split_after = _split_after(description, costs, tuning)
    is_lbfgs = method_for(description, tuning) == "lbfgs"
    # L-BFGS for many raw predictions.
    precision_of_values: type = np.float64
    if is_lbfgs and description.is_convex and description.has_bounded_hessian:
        precision_of_values = np.float64 if description.is_remote else np.float32
    copies_rows = not is_lbfgs and _copies_rows(description, costs, tuning)
    precision = np.float32 if copies_rows else np.float64
    n_drawn = _n_drawn(description, costs, tuning)
    for kind, n_grams in ("gram by output", n_outputs), ("gram", 1):
        cost = costs.of_grams(n_grams, n_drawn)
        if cost > tuning.most_products or n_grams * size**2 > tuning.most_numbers:
            continue
        return Plan(
            kind,
            n_drawn=int(n_drawn),
            renew_after=cost,
            n_recycled=tuning.recycled_numbers // (n_outputs * size) * (n_outputs > 1),
            precision=precision,
            precision_of_values=precision_of_values,
            share_at_zero=tuning.share_at_zero if is_lbfgs else 0.0,
            on_device=(
                not description.is_on_host
                and n_outputs * size**2 >= tuning.least_on_device
            ),
            n_groups=n_groups,
            split_after=split_after if n_grams == 1 else math.inf,
        )
    return Plan(
        "diagonal",
        n_drawn=0,
        renew_after=tuning.products_of_diagonal,
        n_recycled=0,
        precision=np.float32 if description.suits_single_precision else precision,
        precision_of_values=precision_of_values,
        n_groups=n_groups,
        is_scaled=(
            n_groups == 1 < n_outputs
            and description.suits_single_precision
            and not description.is_remote
        ),
        split_after=split_after,
        by_output=description.has_separate_outputs and n_outputs > 1,
    )


class _Costs(NamedTuple):
    """Costs of the parts of a step, in multiplications: see :class:`Tuning`."""

    size: int  #: Number of parameters for each raw prediction.
    n_rows: int  #: At least as many as columns.
    functions: float  #: Cost of a function of all raw predictions.
    product: float  #: Cost of a Hessian product.
    row: float  #: Cost of a row of a Gram matrix.

    @classmethod
    def of(cls, description, tuning):
        """The costs for an objective."""
        n_outputs, size = description.shape
        # At least one row for each column, so that copies of rows, or rows without
        # weight, do not change the plan.
        n_rows = max(description.n_rows, size)
        n_stored = description.n_stored * n_rows / description.n_rows
        functions = tuning.elementwise_cost * n_rows * n_outputs
        product = 2 * n_outputs * n_stored + functions
        product += tuning.round_trip_cost * description.is_remote
        row = size * (size / 2 + tuning.elementwise_cost)
        return cls(size, n_rows, functions, product, row)

    def of_grams(self, n_grams, n_drawn):
        """Cost of Gram matrices and their factors, in Hessian products."""
        grams = n_grams * (n_drawn * self.row + self.size**3)
        return (grams + self.functions) / self.product


def _copies_rows(description, costs, tuning):
    """Whether X is copied in single precision for products and Gram matrices."""
    if not description.is_dense or description.is_remote or description.has_shrinkage:
        return False
    is_small = costs.n_rows * costs.size <= tuning.most_numbers
    return is_small and costs.product >= tuning.single_product


def _n_drawn(description, costs, tuning):
    """Rows drawn for each Gram matrix."""
    n_outputs, size = description.shape
    if description.n_rows * size <= tuning.little_data:
        return costs.n_rows
    rows_for_a_product = costs.product / (n_outputs * costs.row)
    n_drawn = max(
        tuning.few_products * rows_for_a_product,
        min(tuning.many_products * rows_for_a_product, tuning.enough_rows * size),
        tuning.fewest_rows * size,
    )
    return min(costs.n_rows, n_drawn)


def _split_after(description, costs, tuning):
    """Hessian products after which splitting continues; infinite for never."""
    n_rows, (n_outputs, size) = description.n_rows, description.shape
    if not description.has_proximal_step or n_outputs == 1:
        return math.inf
    if max(tuning.numbers_kept * n_rows * n_outputs, size**2) > tuning.most_numbers:
        return math.inf
    of_gram = (n_rows * size**2 / 2 + size**3) / costs.product
    # On most data this is more than Newton's method needs.
    return tuning.splitting_share * max(tuning.most_products, of_gram)
