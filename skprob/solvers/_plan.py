"""How conjugate gradients, L-BFGS and splitting minimise an objective fastest."""

import math
from typing import NamedTuple

import numpy as np

from ._method import method_for
from ._tuning import Tuning


class Plan(NamedTuple):
    """How to minimise an objective: see :func:`plan`."""

    #: What the coordinates are computed from: "none", "diagonal" (of the Hessian),
    #: "gram" (a Gram matrix) or "gram by output" (one for each raw prediction).
    preconditioner: str
    n_drawn: int  #: Rows drawn for a Gram matrix.
    renew_after: float  #: Hessian products that a preconditioner serves at least.
    n_recycled: int  #: Directions of the last step to keep.
    #: Floating-point type of Hessian products, and of L-BFGS far from the minimum.
    precision: type
    #: Share of the curvature at zero scores that is added to Gram matrices.
    share_at_zero: float = 0.0
    #: Whether Gram matrices and their factors remain on the device of the data.
    on_device: bool = False
    #: Groups of parameters that the Hessian does not couple: one for each raw
    #: prediction, or one in all.
    n_groups: int = 1
    #: Whether each raw prediction is minimised for itself.
    by_output: bool = False
    #: Hessian products after which splitting takes its turn; infinite stands for never.
    split_after: float = math.inf


def plan(description, tuning=Tuning()):
    """Plan how to minimise an objective, by the solver that :func:`method_for` names.

    ==============  ===================================================================
    decision        rule
    ==============  ===================================================================
    preconditioner  Gram matrices that cost at most 60 Hessian products, one for each
                    raw prediction if possible; else the diagonal. None for cosines.
    n_drawn         Rows for 4 products; up to 20 for 30 rows a column, at least 3. All
                    rows of little data.
    renew_after     As many products as Gram matrices cost; 4 for the diagonal.
    by_output       Each raw prediction for itself, if the loss is a sum over them and
                    there is no Gram matrix: without one the slowest takes many more
                    products than the mean, 644 in place of 62 on enron.
    n_groups        One for each raw prediction if the loss is a sum over them.
    n_recycled      1 MiB of them; none with two classes, where the Gram matrix
                    is the Hessian.
    on_device       On a GPU, if a product with their factors costs more than the copies
                    of a vector to the device and back.
    precision       Single for a sparse X without Gram matrices, which magnify rounding
                    too much, and for L-BFGS with many raw predictions; else double.
    split_after     As many products as splitting's Gram matrix and its factor cost, at
                    least 60. Never without a closed form of the proximal step; with
                    two classes; if it takes more than 256 MiB; or with a Gram matrix
                    for each raw prediction, where Newton's method takes few products
                    (digits: splitting takes twice as long).
    ==============  ===================================================================

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
    n_outputs, size = description.shape
    n_groups = n_outputs if description.is_separable else 1
    if not description.is_linear:
        return Plan("none", 0, math.inf, 0, np.float64)

    # Cost of a Hessian product. With fewer rows than columns it counts more: copies of
    # rows, or rows without weight, must not change the plan.
    n_rows = max(description.n_rows, size)
    n_stored = description.n_stored * n_rows / description.n_rows
    functions = tuning.elementwise_cost * n_rows * n_outputs
    product = 2 * n_outputs * n_stored + functions
    product += tuning.round_trip_cost * description.is_remote

    # Rows drawn for each Gram matrix.
    row = size * (size / 2 + tuning.elementwise_cost)
    rows_for_a_product = product / (n_outputs * row)
    n_drawn = max(
        tuning.few_products * rows_for_a_product,
        min(tuning.many_products * rows_for_a_product, tuning.enough_rows * size),
        tuning.fewest_rows * size,
    )
    is_little = description.n_rows * size <= tuning.little_data
    n_drawn = n_rows if is_little else min(n_rows, n_drawn)

    # Splitting.
    numbers = max(tuning.numbers_kept * description.n_rows * n_outputs, size**2)
    split_after = math.inf
    if (
        description.has_proximal_step
        and n_outputs > 1
        and numbers <= tuning.most_numbers
    ):
        split_after = (description.n_rows * size**2 / 2 + size**3) / product
        # On most data that is more than Newton's method needs.
        split_after = max(tuning.most_products, split_after)

    is_lbfgs = method_for(description, tuning) == "lbfgs"
    # L-BFGS for many raw predictions.
    precision: type = np.float64
    if is_lbfgs and description.is_convex and description.has_bounded_hessian:
        precision = np.float64 if description.is_remote else np.float32
    for kind, n_grams in ("gram by output", n_outputs), ("gram", 1):
        # Cost of Gram matrices and their factors, in Hessian products.
        cost = (n_grams * (n_drawn * row + size**3) + functions) / product
        if cost > tuning.most_products or n_grams * size**2 > tuning.most_numbers:
            continue
        return Plan(
            kind,
            n_drawn=int(n_drawn),
            renew_after=cost,
            n_recycled=tuning.recycled_numbers // (n_outputs * size) * (n_outputs > 1),
            precision=precision,
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
        renew_after=tuning.few_products,
        n_recycled=0,
        precision=np.float32 if description.suits_single_precision else precision,
        n_groups=n_groups,
        split_after=split_after,
        by_output=description.has_separate_outputs and n_outputs > 1,
    )
