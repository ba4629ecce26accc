"""How to minimise an objective fastest: every constant that decides it is here."""

import math
from typing import NamedTuple

import numpy as np

# Costs are counted in multiplications of a product of matrices. An elementwise function
# of a number, such as an exponential, costs this many ...
_NUMBER = 50
# ... and the Python calls of a Hessian product this many. It saves no time, but Gram
# matrices of little data are of all rows, so that their order does not matter.
_CALLS = 5e5
# A round trip to remote blocks costs this many: 4 to 10 ms on a cluster.
_ROUND_TRIP = 4e7
# A whole Hessian is written out, and factorised, if it costs at most this: below it
# Newton's steps take 0.7 times as long as by conjugate gradients.
_SMALL_HESSIAN = 2e6
# A preconditioner may cost this many Hessian products and take this many numbers
# (256 MiB).
_MOST_PRODUCTS = 60
_MOST_NUMBERS = 1 << 25
# Newton's method keeps raw predictions, and numbers computed from them, between Hessian
# products, and so does splitting: about so many numbers for each of them.
_NUMBERS_KEPT = 20
# Where that is more than the most numbers, and there are so many times as many raw
# predictions as numbers of X, L-BFGS takes 0.7 times as long, or 0.2 times with exact
# zeros (500 classes).
_MANY_TIMES = 8
# Gram matrices are of a sample of rows: as many as cost 4 Hessian products, up to 20
# while there are fewer than 30 rows a column, and never fewer than 3 a column.
_FEW_PRODUCTS, _MANY_PRODUCTS = 4, 20
_ENOUGH_ROWS, _FEWEST_ROWS = 30, 3
# Directions of conjugate gradients that are recycled have so many numbers (1 MiB).
_RECYCLED_NUMBERS = 1 << 17


class Plan(NamedTuple):
    """How to minimise an objective: see :func:`plan`."""

    method: str  #: "newton-cholesky", "newton-cg" or "lbfgs".
    #: What the coordinates are computed from: "none", "diagonal" (of the Hessian),
    #: "gram" (a Gram matrix) or "gram by output" (one for each raw prediction).
    preconditioner: str
    n_drawn: int  #: Rows drawn for a Gram matrix.
    renew_after: float  #: Hessian products that a preconditioner serves at least.
    n_recycled: int  #: Directions of the last step to keep.
    precision: type  #: Of Hessian products.
    #: Groups of parameters that the Hessian does not couple: one for each raw
    #: prediction, or one in all.
    n_groups: int = 1
    #: Hessian products after which splitting takes its turn; infinite stands for never.
    split_after: float = math.inf


def plan(description):
    """Plan how to minimise an objective.

    ==============  ===================================================================
    decision        rule
    ==============  ===================================================================
    method          L-BFGS if the objective is not convex or its Hessian not bounded.
                    Newton by Cholesky if the whole Hessian costs at most 2e6
                    multiplications or, where rows are remote, no more than a round
                    trip. L-BFGS if raw predictions are many, or the rows are remote:
                    it takes 0.4 to 1.2 times as many round trips as Newton by conjugate
                    gradients, which is for all others, and keeps nothing of the rows.
    preconditioner  Gram matrices that cost at most 60 Hessian products, one for each
                    raw prediction if possible; else the diagonal. None for cosines.
    n_drawn         Rows for 4 products; up to 20 for 30 rows a column, at least 3.
    renew_after     As many products as Gram matrices cost; 4 for the diagonal.
    n_groups        One for each raw prediction if the loss is a sum over them.
    n_recycled      1 MiB of them; none with two classes, where the Gram matrix
                    is the Hessian.
    precision       Single for a sparse X without Gram matrices, which magnify rounding
                    too much; else double.
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
    >>> plan(mnist).method, plan(mnist).preconditioner
    ('newton-cg', 'gram by output')
    """
    n_rows, n_stored = description.n_rows, description.n_stored
    n_outputs, size = description.shape
    method = _method(description)
    n_groups = n_outputs if description.is_separable else 1
    if not description.is_linear:
        return Plan(method, "none", 0, math.inf, 0, np.float64)
    # With fewer rows than columns little is to be paid. Copies of rows, or rows without
    # weight, shall not change the plan.
    few = max(1.0, size / n_rows)
    functions = few * _NUMBER * n_rows * n_outputs
    product = few * 2 * n_outputs * n_stored + functions + _CALLS
    product += _ROUND_TRIP * description.is_remote
    row = size * (size / 2 + _NUMBER)
    of_a_product = product / (n_outputs * row)
    enough = min(_MANY_PRODUCTS * of_a_product, _ENOUGH_ROWS * size)
    n_drawn = max(_FEW_PRODUCTS * of_a_product, enough, _FEWEST_ROWS * size)
    n_drawn = min(few * n_rows, n_drawn)
    fits = max(_NUMBERS_KEPT * n_rows * n_outputs, size**2) <= _MOST_NUMBERS
    split_after = math.inf
    if description.has_proximal_step and n_outputs > 1 and fits:
        split_after = (n_rows * size**2 / 2 + size**3) / product
        # On most data that is more than Newton's method needs.
        split_after = max(_MOST_PRODUCTS, split_after)

    def cost(n_grams):
        """Of Gram matrices and their factors, in Hessian products."""
        grams = n_grams * (n_drawn * row + size**3)
        return (grams + functions + 6 * _CALLS) / product

    own = {"n_groups": n_groups, "split_after": split_after}
    for kind, n_grams in ("gram by output", n_outputs), ("gram", 1):
        if cost(n_grams) <= _MOST_PRODUCTS and n_grams * size**2 <= _MOST_NUMBERS:
            n_recycled = _RECYCLED_NUMBERS // (n_outputs * size) * (n_outputs > 1)
            own["split_after"] = split_after if n_grams == 1 else math.inf
            how = int(n_drawn), cost(n_grams), n_recycled, np.float64
            return Plan(method, kind, *how, **own)
    precision = np.float32 if description.suits_single_precision else np.float64
    return Plan(method, "diagonal", 0, _FEW_PRODUCTS, 0, precision, **own)


def _method(description):
    if not (description.is_convex and description.has_bounded_hessian):
        return "lbfgs"
    n_rows, (n_outputs, size) = description.n_rows, description.shape
    n_pairs = n_outputs * (n_outputs + 1) / 2
    hessian = n_rows * n_pairs * size**2 + (n_outputs * size) ** 3 / 3
    if hessian <= max(_SMALL_HESSIAN, _ROUND_TRIP * description.is_remote):
        return "newton-cholesky"
    many = max(_MANY_TIMES * description.n_stored, _MOST_NUMBERS / _NUMBERS_KEPT)
    has_many = n_rows * n_outputs > many
    return "lbfgs" if has_many or description.is_remote else "newton-cg"
