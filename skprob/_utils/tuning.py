"""Every number that decides how an objective is minimised."""

from typing import NamedTuple


class Tuning(NamedTuple):
    """Numbers that change the time of a fit and not its result.

    A cost is counted in multiplications of a product of matrices. "Takes 0.7 times as
    long" compares a fit with the number to one without the rule that it belongs to;
    ``benchmarks/ablation.py`` measures these ratios.
    """

    # The choice of the method: see `plan`.

    #: Cost of an elementwise function of one number, such as an exponential.
    elementwise_cost: float = 50.0
    #: Cost of a round trip to remote blocks: 4 to 10 ms on a cluster.
    round_trip_cost: float = 4e7
    #: Largest cost of a whole Hessian with its factor. Below it Newton's steps take 0.5
    #: times as long as by conjugate gradients. With an l1 penalty also that of a whole
    #: Hessian of which a part is taken.
    largest_hessian_cost: float = 2e6
    #: Numbers that Newton's method keeps for each raw prediction.
    numbers_kept: float = 20.0
    #: With this many times as many raw predictions as numbers of X, and more than fit
    #: in `most_numbers`, L-BFGS takes 0.7 times as long (500 classes).
    many_raw_predictions: float = 8.0

    #: Raw predictions of all rows that are computed at once, if the loss is a sum over
    #: the outputs: those of more outputs are minimised group by group. 983 labels of
    #: 12,920 rows take 0.45 times as long as all at once.
    group_size: int = 1 << 20
    #: Fewest outputs of a group.
    fewest_outputs: int = 8

    #: Fields of the plan, as pairs of name and value, in place of those that
    #: :func:`plan` chooses: for measurements.
    fixed_plan: tuple = ()

    # Rows in memory.

    #: Bytes of freed memory, of which the C library keeps twice as much for the next
    #: arrays. A new page of memory costs more than the arithmetic on its numbers:
    #: without it fits take 1.1 times as long.
    kept_memory: int = 16 << 20
    #: Most numbers of a block's raw predictions and their gradient together (2 MiB).
    #: With a quarter fits to badly scaled columns take 1.15 times as long.
    block_size: int = 1 << 18
    #: Most bytes of X in a block: it is still in L3 for the second product of a pass.
    block_bytes: int = 1 << 23
    #: The same with an l1 penalty, where most products are with a few columns: 500 rows
    #: of 5,000 features take 0.82 to 0.91 times as long as with 8 MiB.
    block_bytes_of_l1: int = 1 << 25
    #: Most numbers of standardised rows that are copied to an array: little data.
    #: Without it searches take 2 times as long, and fits 1.07 times.
    most_standardised: int = 1 << 18
    #: Little data: Gram matrices of several outputs are one product of all pairs of
    #: columns, with at most this number of columns for each of them ...
    pair_columns: float = 3.0
    #: ... and this number of products in all rows (8 MiB). Without it searches take
    #: 1.07 times as long.
    most_pairs: int = 1 << 20
    #: Little data: number of columns from which the product of an array with its own
    #: transpose is faster than one of two arrays: 0.75 times the time with 51, 1.5
    #: times with 31. Without it two classes of 200 columns with an l1 penalty take 1.15
    #: times as long.
    many_columns: int = 40

    #: Share of stored numbers below which a part of a sparse matrix remains sparse, and
    #: Gram matrices are products of sparse matrices. With 0.1 stored these take 0.7
    #: times as long as dense ones (one output of 100 to 400 columns), with 0.15 1.4
    #: times, with 0.02 0.15 times.
    sparse_share: float = 0.1

    # Rows that are far fewer than their features: coordinates in the space of the rows.

    #: Fewest features for each row: a pass over the coordinates takes as long as one
    #: over this number of columns. 100 rows of 5,000 features take 4.4 times as long in
    #: the features.
    wide_columns: float = 1.5
    #: Most rows, which take 230 MB: about six arrays of rows by rows.
    wide_rows: int = 2000
    #: Costs of the coordinates of n rows of p features, in multiplications of a pass
    #: over X: this times n³ for eigenvalues ...
    wide_eigenvalues: float = 0.75
    #: ... and this times n² p for the Gram matrix.
    wide_gram: float = 0.1
    #: Passes of a fit, about.
    wide_passes: float = 25.0
    #: The same with exact zeros, because the support changes.
    wide_passes_with_zeros: float = 400.0
    #: With more outputs a multiplication in a pass takes less time.
    wide_outputs: int = 8
    #: Sparse rows: cost of eigenvalues, times n³, in multiplications of a pass over the
    #: non-zeros, about 1.4 ns.
    wide_sparse_eigenvalues: float = 0.15
    #: Cost of a multiplication in their Gram matrix, in the same.
    wide_sparse_gram: float = 2.0
    #: Sparse rows with 1.5-entmax or two classes: fewest passes of a fit, times the
    #: square root of C and of the mean ‖x‖².
    wide_sparse_passes: float = 7.0
    #: The same with sparsemax of more classes.
    wide_sparsemax_passes: float = 30.0
    #: A fit takes few passes if no zero appears where a score is lower by this number.
    wide_lower_score: float = 2.2
    #: Non-zeros that a pass over one coordinate of a row takes as long as.
    wide_nonzeros_of_coordinate: float = 0.06
    #: Non-zeros that the probabilities of a row take as long as.
    wide_nonzeros_of_row: float = 30.0
    #: With more outputs a multiplication in a pass over sparse rows takes less time.
    wide_sparse_outputs: int = 3

    # The losses of the rows.

    #: Whether two classes have formulas in the difference of their scores. Without them
    #: breast cancer takes up to 2.2 times as long.
    closed_pairs: bool = True
    #: Rows are active if they have curvature. Where at most this share is (under a
    #: mapping with exact zeros), they are copied and Hessian products leave out others:
    #: raw digits with sparsemax take 0.6 times as long.
    few_active: float = 0.25
    #: Most raw predictions of which a second array is kept (8 MiB): that of other
    #: intercepts for the duality gap, and the losses at a trial. The point at an
    #: accepted length then takes no evaluation of the mapping: letter with 1.5-entmax
    #: takes 0.8 times as long, digits, pendigits and perturb-max as long as without.
    most_twice: int = 1 << 20
    #: Most parameters of a Hessian of little data that is one product of all pairs of
    #: raw predictions: searches take 0.95 times as long. With an l1 penalty a part of
    #: it is taken: iris takes 0.75 to 0.9 times as long.
    few_parameters: int = 150

    # The duality gap.

    #: Most Newton steps of the intercepts for the gap. With one step fits to rare
    #: classes with tol=1e-2 take up to 2.7 times as long (sparsemax), and other fits as
    #: long.
    intercept_steps: int = 8
    #: Largest share of the bound that is enough which their mismatch may add, about in
    #: proportion to the value at zero. Letter takes one step in place of two.
    share_of_bound: float = 0.1

    # The preconditioner.

    #: Whether there is one Gram matrix for all outputs at zero scores, where their
    #: curvatures are the same. Without it fits take 1.07 times as long.
    one_at_zero: bool = True
    #: Whether the change that all raw predictions have in common has coordinates of its
    #: own, where each output has a Gram matrix. Without them fits take 1.4 times as
    #: long, and pendigits up to 4 times.
    common_coordinates: bool = True
    #: Largest cost of Gram matrices, in Hessian products.
    most_products: float = 60.0
    #: Most numbers that Gram matrices, or numbers of all rows, may take: 256 MiB.
    most_numbers: int = 1 << 25
    #: Most numbers of little data: Gram matrices are of all its rows, so that their
    #: order does not matter.
    little_data: int = 1 << 16
    #: Rows drawn for a Gram matrix: as many as cost this number of products ...
    few_products: float = 4.0
    #: ... or up to this number, while they are fewer than `enough_rows` a column.
    many_products: float = 20.0
    #: Rows of a column that are enough. With the rule digits at C = 100 take 0.5 times
    #: as long.
    enough_rows: float = 30.0
    #: Fewest rows drawn for a column. Without it 2,000 rows of 500 features take 1.3 to
    #: 6 times as long.
    fewest_rows: float = 3.0
    #: Multiplications of a product with factors of Gram matrices from which these
    #: remain on the GPU that has the data. With 4e5 a fit takes as long as with factors
    #: on the host (an H100).
    least_on_device: float = 2e5
    #: Gram matrices are renewed early after a step whose directions all have more than
    #: this number of times the curvature that they give: 96 fits to parts of digits
    #: take 0.91 times the passes with it.
    most_curvature: float = 10.0
    #: Numbers of the conjugate directions that are used again (1 MiB): 0.9 times the
    #: passes.
    recycled_numbers: int = 1 << 17
    #: Share of the curvature at zero scores that L-BFGS adds to its Gram matrices, for
    #: rows without curvature that may get some: with 500 classes and exact zeros 0.6 to
    #: 0.75 times the time.
    share_at_zero: float = 0.01
    #: Iterations after which L-BFGS renews its coordinates; then twice as many.
    first_stretch: int = 40

    # Single precision: see `skprob/_utils/single_precision.py`.

    #: Smallest cost of a Hessian product of dense rows in single precision: letter
    #: takes 0.86 times as long, pendigits 0.88 and digits 0.94. Smaller fits take as
    #: long with 0, but a fit to rows and one to their copies then end 3e-8 apart.
    single_product: float = 2e5
    #: Smallest cost in multiplications of a whole Hessian in single precision. With an
    #: l1 penalty letter takes 0.6 to 0.8 times as long, and C="loo" 0.85 times. With 0
    #: smaller fits with an l1 penalty take 1.03 times as long.
    single_hessian: float = 2e6
    #: Smallest pivot of a matrix in single precision, in units of its diagonal. With a
    #: smaller one its rounding errors make steps too short or too long. Also the
    #: smallest mean curvature of the rows. With 1e-5 15 small fits take 0.98 times as
    #: long, and without a limit fits to collinear features up to 3 times.
    least_pivot: float = 1e-4
    #: The same for leave-one-out scores, whose errors no later step corrects. The
    #: errors for digits, pendigits, letter and emotions are below 2e-4 with it, and up
    #: to 1e-2 without it.
    least_pivot_of_scores: float = 1e-3
    #: Largest size of the changes of left-out raw predictions, in units of those
    #: without the curvature of the row, which magnifies rounding errors. Scores then
    #: differ from those in double precision by less than 1e-3 on digits, pendigits,
    #: letter and sjaffe, but for two cases of digits with sparsemax (2e-3 and 6e-3);
    #: without it by up to 4e-2.
    most_magnified: float = 5.0

    # The sample.

    #: Share of the rows on which the first fit to large data is made: 400,000 rows of
    #: 50 features take 0.7 times as long with it.
    sampled_share: float = 1 / 16
    #: Fewest rows of the sample for each column. With 5 rows for each (mnist) a fit
    #: takes 1.1 times as long as without a sample.
    sampled_rows: float = 25.0
    #: Fewest numbers of large data: 16,000 rows of 16 features take 1.2 times as long.
    large_data: float = 1e6
    #: Smallest tolerance of the fit to the sample.
    sample_tol: float = 1e-3

    # Steps.

    #: The length between the ends of a bracket is at least this part of its width ...
    shortest_part: float = 0.05
    #: ... and at most this part. Between them it is where a cubic is least. Without the
    #: cubic and the rule for longer steps searches take 1.05 times as long, and 20
    #: newsgroups up to 1.7 times.
    longest_part: float = 0.9
    #: A length that is not long enough becomes longer by at least this factor ...
    least_longer: float = 1.5
    #: ... and at most this factor. Between them it is where the slope would be zero.
    most_longer: float = 4.0
    #: A length is accepted if the value falls by this part of length times slope ...
    sufficient_decrease: float = 1e-4
    #: ... and at most this part of the slope is left (strong Wolfe conditions). With
    #: the first condition alone 20 newsgroups at C = 100 take 1.9 times as long.
    slope_left: float = 0.5
    #: The same far from the minimum, for steps by the whole Hessian: iris, wine and
    #: breast cancer take 0.8 times as many iterations. Also for outputs one by one:
    #: bibtex takes 8 steps in place of 10.
    slope_left_far: float = 0.1
    #: Far from the minimum the first length, in Newton's steps by the whole Hessian,
    #: if all curvature is the loss's: steps are too short, because rows lose curvature
    #: along them. Fits to iris, wine, breast cancer and 200 rows of 5 features take
    #: 0.85 times as many trials and Hessians at C = 1, 0.95 times at C = 0.01.
    longer_far: float = 1.5
    #: Hessian products of sparse rows have the raw predictions along a step in single
    #: precision. The point there is computed from them while the expected decrease is
    #: more than this part of the objective: 20 newsgroups at C = 1 take 0.8 times as
    #: long.
    far_decrease: float = 1e-4
    #: Near the minimum the expected decrease is at most this part of the objective.
    near_minimum: float = 0.01
    #: The damping of the Hessian is reduced where it accounts for more than this part
    #: of the expected decrease: without, fits to ill-conditioned features without a
    #: penalty end up to 11 % above the optimum.
    damped_part: float = 0.01
    #: Where the damping cannot be reduced, there may be curvatures that are this many
    #: times smaller: the decrease along them is as many times larger.
    unresolved_curvature: float = 1e4
    #: Evaluations of one line search.
    most_trials: int = 20
    #: Trials after which tangents may choose the length, if none was lower than the
    #: start. A step along directions without curvature is up to 1e23 times too long:
    #: 15 of 36 unpenalised fits of sparsemax with margins and offsets ended where a
    #: step of Newton's method was not shortened enough, and now none does. Other fits
    #: take the same passes with it and without.
    trials_by_cubics: int = 4
    #: Largest forcing term: conjugate gradients stop where the residual is this part of
    #: the gradient. The term falls with the gradient, which makes the last steps
    #: converge superlinearly.
    forcing_term: float = 0.3
    #: Conjugate gradients also stop where a product adds less than this part of the
    #: mean to the decrease: 0.95 times the time.
    least_gain: float = 0.2
    #: Multiple of the penalty for the first steps by conjugate gradients. Where nearly
    #: all rows are separable their curvature vanishes, and steps under the penalty
    #: itself are too long: 20 newsgroups at C = 100 takes 0.6 times the passes.
    first_penalty: float = 10.0
    #: The first steps end when one lowers the objective by less than this part ...
    first_steps_gain: float = 0.2
    #: ... or if more than this part of the objective is left: rows are not separable.
    first_steps_left: float = 0.5
    #: Without a Gram matrix fits to label sets start at the best intercepts of zero
    #: coefficients if these gain this part of the objective at zero. The rare labels of
    #: enron take 0.8 times as long with it. Single classes start at zero: 20 newsgroups
    #: at C = 100, of which 15 in one class, would take 1.6 times as long.
    gain_of_intercepts: float = 0.05
    #: Most intercepts that are computed for it, from a whole Hessian.
    most_intercepts: int = 1000
    #: Steps of which the smallest curvature estimates the expected decrease.
    curvatures_kept: int = 10
    #: A start of one of several little problems, from which more than this part of the
    #: objective is expected to be gained, is another loss's minimum, too far out for
    #: this one: half of it is nearer. Searches take 0.8 times as long.
    far_start: float = 0.1

    #: Evaluations of several little problems together, after which those that have not
    #: converged are solved one by one: wine takes 0.8 times as long. With 0 all are
    #: solved one by one: searches take 1.7 times as long.
    family_rounds: int = 40
    #: Whether conjugate gradients under the next penalty of a path begin with the
    #: preconditioner of the last one. Without it a search on 5,000 rows of 50 features
    #: takes 1.4 times as long.
    resumes: bool = True
    #: Most probabilities of the models of a path that are computed together (8 MiB).
    #: Without it searches take 1.2 times as long.
    scored_together: int = 1 << 20

    # Outputs one by one.

    #: Whether they start at the best intercepts of zero coefficients. Without it
    #: Reuters takes 1.4 to 1.8 times as long, enron and bibtex as long.
    label_intercepts: bool = True
    #: Outputs that are done leave the arrays when these shrink to this share. If none
    #: leaves, enron takes 1.2 to 1.3 times as long.
    shrink_below: float = 0.8
    #: Largest forcing term. A step costs about three products more than conjugate
    #: gradients, as its point is in double precision: bibtex takes 0.95 times as long
    #: as with 0.3.
    forcing_term_by_output: float = 0.1
    #: Total curvature of an output may change by this factor before the moments of the
    #: columns are computed again. With those of the start alone enron takes 1.3 to 1.4
    #: times as long.
    most_curvature_change: float = 1.5

    # Leave-one-out.

    #: Fewest quadratic forms of a row, M(M + 1)/2 of M raw predictions, that are one
    #: product with all pairs of columns. Without it C="loo" takes 1.2 times as long on
    #: 3,000 rows of letter.
    forms_by_pairs: int = 10
    #: Fewest raw predictions of a row whose linear system is solved by conjugate
    #: gradients. Without them C="loo" takes 1.4 to 1.55 times as long there.
    systems_by_products: int = 10

    # Splitting.

    #: Residuals that are kept, and iterations in a step.
    splitting_memory: int = 10
    #: Strength of the proximal step, in units of the mean curvature at the start.
    splitting_strength: float = 0.2
    #: Splitting ends when a step lowers the objective by less than this part.
    splitting_end: float = 1e-6

    # Composite problems.

    #: With exact zeros and more parameters than rows, stronger penalties are minimised
    #: first from this C on, in units of the smallest one at which a coefficient enters:
    #: 500 rows of 5,000 features and 200 rows of 300 with sparsemax take 0.5 and 0.6
    #: times as long at 300. With more rows than parameters breast cancer and pendigits
    #: would take 2 to 3 times as long at 3,000, and ten classes of digits 0.65 times.
    first_ratio_of_wide: float = 100.0
    #: Number of such penalties for a factor of ten. With one, 200 rows of 300 features
    #: take 1.4 times as long, breast cancer 0.6 times.
    penalties_of_decade: int = 2

    #: Most parameters of a Hessian that is written out.
    largest_hessian: int = 3000
    #: Largest cost of a Hessian with its factors, in Hessian products; or as many as a
    #: step before has taken. Without that rule the lasso of 500 rows of 5,000 features
    #: at 300 times the smallest C takes 8 times as long.
    hessian_products: float = 400.0
    #: Far from the minimum a Hessian is computed from this number of rows for each of
    #: its parameters: letter takes 0.45 times as long, and 10,000 rows of 100 features
    #: 0.6 times.
    rows_of_parameter: float = 6.0
    #: The same near the minimum.
    rows_near: float = 50.0
    #: Largest share of the rows that is drawn; if it is larger, all are used.
    largest_share: float = 0.5
    #: Smallest cost of a Hessian from drawn rows, in multiplications. Without it two
    #: classes of digits take 1.2 times as long, by more steps.
    sampled_hessian: float = 2e7
    #: Fewest outputs of a Hessian that is one product of all pairs of outputs with all
    #: pairs of columns: letter, with 26 classes, takes 0.7 to 1.04 times as long with
    #: it. Pendigits, with 10, takes 0.8 to 0.9 times (softmax) or 1.3 (sparsemax).
    outputs_of_pairs: int = 16
    #: Smallest share of the parameters that such a Hessian includes.
    share_of_pairs: float = 0.8
    #: A step from far lowers the objective by this part; after a smaller one Hessians
    #: are computed from all rows.
    far_step: float = 0.03
    #: Damping adds curvature to each row's loss. It grows after a step whose decrease
    #: of the objective, over that of the quadratic model, is below this ratio. 500 rows
    #: of 5,000 features with sparsemax take 0.4 times as long as without damping.
    poor_model: float = 0.4
    #: The damping after the first such step.
    first_damping: float = 0.1
    #: Factor of the damping after each further such step.
    more_damping: float = 4.0
    #: Factor of the damping after a step whose ratio is above `good_model`.
    less_damping: float = 0.5
    #: Ratio of the decreases from which the damping shrinks.
    good_model: float = 0.75
    #: A smaller damping is set to zero. With 1e-3 fits with sparsemax to separable rows
    #: take 1.4 times as long: without any damping the next step is too long.
    least_damping: float = 1e-5
    #: Data with no more numbers, and no more features than rows, have no working set.
    #: 200 rows of 300 features take 0.16 times as long with one, by softmax.
    little_of_features: int = 1 << 18
    #: Longest step on such data, where more than `slope_left_far` of the slope is left
    #: at the end of the model's step. Two classes take 0.83 to 0.93 times as long, with
    #: 4 iterations in place of 5, and whole features 0.7 to 1.1 times. Damped steps are
    #: not made longer: with whole features and sparsemax that took up to 4 times the
    #: iterations.
    longest_step: float = 4.0
    #: A working set with more than this share of the features becomes all of them.
    largest_working_set: float = 0.5
    #: Fewest features that may be added to a working set ...
    fewest_added: int = 50
    #: ... and most, in units of the features with a coefficient. With 2 and 0.05 left,
    #: fits with many more features than rows take 1.3 times as long; with 1.0 many of
    #: them leave again, and 500 rows of 5,000 features take up to 1.4 times as long.
    most_added: float = 0.7
    #: Part of the largest entry of the gradient that may be left on a working set.
    left_on_working_set: float = 0.15
    #: The same where all features whose gradient exceeds the threshold are in the set,
    #: and are so few that a step on them costs no more than a pass. Fits at 3 times the
    #: smallest C take 0.76 to 0.92 times as long as with 0.15.
    left_on_few: float = 0.05
    #: Most steps on a working set.
    most_on_working_set: int = 50
    #: Steps from which L-BFGS approximates the Hessian.
    steps_kept: int = 20
    #: Least cosine between a step and the change of the gradient that L-BFGS uses.
    least_curvature: float = 1e-8

    # Bundles of gradients.

    #: Most gradients of a bundle.
    bundle_size: int = 150
    #: A trial is lower if the value falls by this part of length times slope.
    bundle_decrease: float = 0.1
    #: A trial that is not lower is shortened to this part ...
    bundle_shorter: float = 0.3
    #: ... until its linearization error is at most this part of the allowed error.
    bundle_error: float = 0.1
    #: Tolerances at first, in units of those at the end. With those of the end alone,
    #: fits with tol=1e-6 take 2 to 10 times as many evaluations.
    bundle_looseness: float = 1e3
    #: Number that they are divided by, step by step.
    bundle_tighter: float = 10.0

    # The end.

    #: Largest duality gap that criterion 4 accepts, as a part of the objective, where
    #: the other criteria allow less: the gap is loose.
    loose_gap: float = 0.05
    #: Iterations that criterion 3 looks back on; twice as many if it is not convex.
    look_back: int = 3
    #: A solver is stalled if so many iterations lower the objective by no more than its
    #: rounding error, and the gradient not to half.
    patience: int = 10
    #: A sum over rows loses this many times the precision of a number.
    rounding: float = 10.0
    #: Part of the tolerance that the start of a fit of a path must be within. With the
    #: whole tolerance a path would be less accurate than fits from zero.
    tol_at_start: float = 0.05
