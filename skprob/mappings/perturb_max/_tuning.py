"""The numbers that balance the accuracy and the time of perturb-max."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tuning:
    """Numbers of both routes. Times are those of one call on 16,000 × 26 scores."""

    #: Tolerance of log-probabilities and their derivatives, in units of `tol`.
    relative_tol: float = 100
    #: Share of the tolerance for the probability that is truncated at either end. The
    #: shared route has the smaller one because all of its rows have one interval.
    adaptive_tail: float = 1e-3
    shared_tail: float = 1e-7
    #: Share of the tolerance: panels need not end at a kink where G is below it. With
    #: all kinks, a call takes 1.3 (generalised normal) to 1.4 times (Laplace) as long.
    kink_mass: float = 0.1
    #: Share of the tolerance for the quadrature error of a panel. Rows have tens of
    #: panels, most of which have a far smaller error.
    panel_error: float = 1e-2
    #: Rounding error of the integral over a panel, relative to the integral.
    panel_rounding: float = 1e-14
    #: Rounding error of the logarithm of an integrand, relative to the logarithm.
    log_rounding: float = 1e-15
    #: Most times that a panel is halved.
    most_halvings: int = 100
    #: Numbers of nodes on a panel narrower than `narrow` scales and on a wider one, for
    #: a noise with kinks and with cusps; and on any panel, for all other noises. With
    #: 24 on narrow panels, cusps take 1.3 times as many nodes (26 scores).
    kinked_orders: tuple = (7, 16)
    cusped_orders: tuple = (14, 24)
    smooth_order: int = 20
    narrow: float = 0.3
    #: Most numbers of an array (classes, panels, nodes). An array of this size, 1 MiB,
    #: stays in the cache of a core.
    chunk_size: int = 1 << 17
    #: Most n_rows × n_classes² of a block of rows with panels, which limits memory.
    block_size: int = 1 << 21

    #: Share of the tolerance for the tables and the rule of the shared route, and of
    #: the relative tolerance for log-probabilities.
    table_error: float = 1e-3
    #: Share of the relative tolerance for the table of log Φ.
    log_table_error: float = 1e-2
    #: Rounding errors of a sum of weights, and of a tabulated log Φ.
    rounding: float = 1e-15
    table_rounding: float = 2e-14
    #: Largest depth of a heavy-tailed noise, in scales, and number of depths that have
    #: tables. Each depth is half of the one before.
    most_depth: float = 32
    n_depths: int = 4
    #: First step of the trapezoidal rule in scales, factor of the step if the rule is
    #: not accurate enough, and largest number of trials.
    step: float = 0.4
    step_factor: float = 0.9
    most_steps: int = 20
    #: Distance from the scores, in scales, at which the steps begin to grow.
    margin: float = 4
    #: Further distance beyond which steps grow doubly exponentially. With exponential
    #: growth Cauchy noise has four times as many nodes.
    second_margin: float = 2
    #: Degrees n that are tried; the tables have n² polynomials.
    degrees: range = range(4, 25)
    #: Most rows and scores of a chunk of the shared route, and number of rows that are
    #: multiplied with a table together. Rows are filled up to a multiple of it.
    chunk_rows: int = 128
    chunk_scores: int = 1 << 13
    stack_rows: int = 16
    #: Smallest probability with a relative tolerance, for a heavy-tailed noise: the
    #: truncated tail is `shared_tail * tol`, at most 1e-9 of this.
    least_heavy: float = 1e-8
    #: Smallest probability with a relative tolerance, for any noise.
    least: float = 1e-290

    #: Most classes for which the Jacobian of each row is formed. With more, a product
    #: with the nodes takes less time and memory.
    matrix_classes: int = 100
    #: Hazards are at most this number, whose square is finite. Larger hazards have
    #: weights of zero.
    largest_hazard: float = 1e100


TUNING = Tuning()
