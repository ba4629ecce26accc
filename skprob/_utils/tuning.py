"""Settings of solvers, data and objectives: block sizes, costs and limits."""

from typing import NamedTuple


class Tuning(NamedTuple):
    """Numbers that change the time of a fit and not its result.

    Costs are in multiplications of a product of matrices. "Takes 0.7 times as long"
    compares a fit with the rule of the number to a fit without this rule;
    ``benchmarks/ablation.py`` measures these ratios.
    """

    # The choice of the method: see `plan`.

    #: Cost of an elementwise function of one number, such as an exponential.
    elementwise_cost: float = 50.0
    #: Cost of a round trip to remote blocks: 4 to 10 ms on a cluster.
    round_trip_cost: float = 4e7
    #: Largest cost of a whole Hessian with its factor. Below it Newton's steps take 0.5
    #: times as long as by conjugate gradients. With an l1 penalty it is also the
    #: largest cost of a whole Hessian of which a part is used.
    largest_hessian_cost: float = 2e6
    #: Numbers that Newton's method keeps for each raw prediction.
    numbers_kept: float = 20.0
    #: Smallest ratio of raw predictions to numbers of X at which L-BFGS is used, if
    #: `most_numbers` is exceeded: with 500 classes it takes 0.7 times as long.
    many_raw_predictions: float = 8.0

    #: Most raw predictions of a group of outputs, if the loss is a sum over the
    #: outputs. More outputs are minimised group by group: 983 labels of 12,920 rows
    #: take 0.45 times as long.
    group_size: int = 1 << 20
    #: Fewest outputs of a group.
    fewest_outputs: int = 8

    #: Pairs of name and value that replace fields of the plan, for measurements.
    fixed_plan: tuple = ()

    # Rows in memory.

    #: Bytes of an array that is freed once, so that the C library keeps up to twice as
    #: much freed memory for the next arrays. Without it fits take 1.1 times as long,
    #: because new pages of memory take longer than the arithmetic on them.
    kept_memory: int = 16 << 20
    #: Most numbers of a block's raw predictions and their gradient together (2 MiB).
    #: With a quarter fits to badly scaled columns take 1.15 times as long.
    block_size: int = 1 << 18
    #: Most bytes of X in a block: it is still in L3 for the second product of a pass.
    block_bytes: int = 1 << 23
    #: Most bytes of X in a block of a fit with an l1 penalty. Most of its products use
    #: a few columns only: 500 rows of 5,000 features take 0.72 to 0.96 times as long as
    #: with blocks of 8 MiB.
    block_bytes_of_l1: int = 1 << 25
    #: Most numbers of standardised rows that are copied to an array: little data.
    #: Searches take 2 times as long without the copy, and fits 1.07 times.
    most_standardised: int = 1 << 18
    #: Most columns for each raw prediction with which the Gram matrices of little data
    #: are one product with all pairs of columns. Without this product searches take
    #: 1.07 times as long.
    pair_columns: float = 3.0
    #: Most numbers of the pairs of columns in all rows, for this product (8 MiB).
    most_pairs: int = 1 << 20

    #: Share of stored numbers below which a part of a sparse matrix remains sparse, and
    #: Gram matrices are products of sparse matrices. For one output of 100 to 400
    #: columns these take 0.15 times as long as dense products with a share of 0.02, 0.7
    #: times with 0.1, and 1.4 times with 0.15.
    sparse_share: float = 0.1

    # Rows that are fewer than their features: see `suits_row_space`.

    #: Most rows with coordinates, whose about six arrays of rows by rows take 230 MB.
    #: With coordinates fits to 300 rows of 20 newsgroups take 0.01 to 0.26 times as
    #: long (20 classes), and 100 rows of 1,000 features 0.02 to 0.6 times.
    wide_rows: int = 2000
    #: Passes of a fit, divided by the root of the largest curvature over the penalty.
    wide_passes: float = 7.0
    #: The same ratio where probabilities are a projection, as those of sparsemax.
    wide_passes_of_projection: float = 30.0
    #: Cost of the eigenvalues of n rows, divided by n³.
    wide_eigenvalues: float = 2.5
    #: Number of outputs whose products with X take as long as to read X.
    wide_reading: float = 6.0
    #: Cost of the operations with vectors in a pass, for each parameter.
    wide_vectors: float = 300.0
    #: Cost of a multiplication in a product with a sparse matrix.
    wide_sparse: float = 7.0

    # The losses of the rows.

    #: Largest share of active rows, which have curvature, at which they are copied and
    #: Hessian products leave out the other rows. With exact zeros there are few: raw
    #: digits with sparsemax take 0.6 times as long.
    few_active: float = 0.25
    #: Most raw predictions of which a second array is stored (8 MiB): those at other
    #: intercepts for the duality gap, and the losses at a trial. The point at an
    #: accepted length then needs no evaluation of the mapping. Letter with 1.5-entmax
    #: takes 0.8 times as long; digits, pendigits and perturb-max take the same time.
    most_twice: int = 1 << 20
    #: Most parameters of a Hessian of little data that is one product of all pairs of
    #: raw predictions. With it searches take 0.95 times as long, and with an l1
    #: penalty, which uses a part of the Hessian, iris takes 0.75 to 0.9 times as long.
    few_parameters: int = 150

    # The duality gap.

    #: Most Newton steps of the intercepts for the gap. With one step fits to rare
    #: classes with tol=1e-2 take up to 2.7 times as long (sparsemax), and other fits as
    #: long.
    intercept_steps: int = 8
    #: Largest mismatch of the means, as a share of the bound that is enough. With this
    #: share letter takes one step instead of two.
    share_of_bound: float = 0.1

    # The preconditioner.

    #: Largest cost of Gram matrices, in Hessian products.
    most_products: float = 60.0
    #: Most numbers that Gram matrices, or numbers of all rows, may take: 256 MiB.
    most_numbers: int = 1 << 25
    #: Most numbers of little data, whose Gram matrices are computed from all rows, so
    #: that the order of the rows has no effect.
    little_data: int = 1 << 16
    #: Rows drawn for a Gram matrix: as many as cost this number of products ...
    few_products: float = 4.0
    #: ... or up to this number, while they are fewer than `enough_rows` a column.
    many_products: float = 20.0
    #: Number of rows for each column that is enough. With this rule digits at C = 100
    #: take 0.5 times as long.
    enough_rows: float = 30.0
    #: Fewest rows drawn for each column. Without this rule 2,000 rows of 500 features
    #: take 1.3 to 6 times as long.
    fewest_rows: float = 3.0
    #: Hessian products after which the diagonal is computed again, in a pass. With 4
    #: label sets of enron and texts of 20 newsgroups take about the same passes.
    products_of_diagonal: float = 10.0
    #: Smallest cost of a product with the factors of Gram matrices at which the factors
    #: remain on the GPU of the data. At 4e5 a fit takes as long as with factors on the
    #: host (an H100).
    least_on_device: float = 2e5
    #: Gram matrices are renewed early if the curvature along all directions of a step
    #: is more than this number of times the curvature by the matrices. With this rule
    #: 96 fits to parts of digits take 0.91 times the passes.
    most_curvature: float = 10.0
    #: Most numbers of the conjugate directions that are used again (1 MiB). With them
    #: fits take 0.9 times the passes.
    recycled_numbers: int = 1 << 17
    #: Share of the curvature at zero scores that L-BFGS adds to its Gram matrices, for
    #: rows that have no curvature now and may get some. With 500 classes and exact
    #: zeros fits take 0.6 to 0.75 times as long.
    share_at_zero: float = 0.01
    #: Number of iterations after which L-BFGS first renews its coordinates; the number
    #: is doubled each time. With 20 in place of 40, 500 classes take 0.86 times the
    #: passes at C = 1 and 0.98 times at C = 100, and Taylor softmax 0.77 to 0.97 times.
    first_stretch: int = 20

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
    #: Smallest pivot for leave-one-out scores, whose errors no later step corrects.
    #: With it the errors for digits, pendigits, letter and emotions are below 2e-4,
    #: without it up to 1e-2.
    least_pivot_of_scores: float = 1e-3
    #: Largest factor by which the curvature of a row may magnify the change of its raw
    #: predictions when the row is left out: it magnifies rounding errors, too. With a
    #: larger factor the scores are computed in double precision. With this limit they
    #: differ from those in double precision by less than 1e-3 on digits, pendigits,
    #: letter and sjaffe, except in two cases of digits with sparsemax (2e-3 and 6e-3).
    #: Without it they differ by up to 4e-2.
    most_magnified: float = 5.0

    # The sample.

    #: Share of the rows in the sample to which large data are fitted first. With the
    #: sample 400,000 rows of 50 features take 0.7 times as long.
    sampled_share: float = 1 / 16
    #: Fewest rows of the sample for each column. With 5 rows for each (mnist) a fit
    #: takes 1.1 times as long as without a sample.
    sampled_rows: float = 25.0
    #: Fewest numbers of large data: with a sample 16,000 rows of 16 features would take
    #: 1.2 times as long.
    large_data: float = 1e6
    #: Smallest tolerance of the fit to the sample.
    sample_tol: float = 1e-3

    # Steps.

    #: A length between the ends of a bracket has at least this part of its width to
    #: each of them; in between it is where a cubic is least. Without the cubic searches
    #: take 1.05 times as long, and 20 newsgroups up to 1.7 times.
    least_part: float = 0.1
    #: A length that is not long enough becomes longer by at least this factor ...
    least_longer: float = 1.5
    #: ... and at most this factor. Between them it is where the slope would be zero.
    #: With a fixed factor of 2 to 4 a fit to rare labels takes 6 steps instead of 5.
    most_longer: float = 4.0
    #: A length is accepted if the value falls by this part of length times slope ...
    sufficient_decrease: float = 1e-4
    #: ... and at most this part of the slope is left (strong Wolfe conditions). With
    #: the first condition alone 20 newsgroups at C = 100 take 1.9 times as long.
    slope_left: float = 0.5
    #: Part of the slope that may be left far from the minimum, for steps by the whole
    #: Hessian: iris, wine and breast cancer take 0.8 times as many iterations. It is
    #: also used for separate outputs: bibtex takes 8 steps instead of 10.
    slope_left_far: float = 0.1
    #: Far from the minimum the first length, in Newton's steps by the whole Hessian,
    #: if all curvature is the loss's: steps are too short, because rows lose curvature
    #: along them. Fits to iris, wine, breast cancer and 200 rows of 5 features take
    #: 0.85 times as many trials and Hessians at C = 1, 0.95 times at C = 0.01.
    longer_far: float = 1.5
    #: Smallest expected decrease, relative to the objective, at which the end of a step
    #: is computed from the raw predictions of the Hessian products, which are in single
    #: precision for sparse rows. With it 20 newsgroups at C = 1 takes 0.8 times as
    #: long.
    far_decrease: float = 1e-4
    #: Far from the minimum: share of the target in the mixture at which conjugate
    #: gradients of sparse rows take the curvature of a row. Label sets of bibtex and
    #: enron take 0.4 to 0.9 times as long with it (softmax, 1.5-entmax), 20 newsgroups
    #: 0.8 to 0.9 times at C = 1 and 0.6 times at C = 100. With 0.4 they take 0.9 to 1.2
    #: times as many passes as with 0.2.
    target_share: float = 0.2
    #: Near the minimum the expected decrease is at most this part of the objective.
    near_minimum: float = 0.01
    #: The damping of the Hessian is reduced if it changes the expected decrease by more
    #: than this part. Without this rule fits to ill-conditioned features without a
    #: penalty end up to 11 % above the optimum.
    damped_part: float = 0.01
    #: If the damping cannot be reduced, curvatures may be smaller by this factor, and
    #: the decrease along their directions larger by the same factor.
    unresolved_curvature: float = 1e4
    #: Most evaluations of one line search.
    most_trials: int = 20
    #: Trials after which tangents may choose the length, if none was lower than the
    #: start. A step along directions without curvature is up to 1e23 times too long.
    #: Without tangents 15 of 36 unpenalised fits of sparsemax with margins and offsets
    #: end too early, because a Newton step is not shortened enough. Other fits take the
    #: same passes.
    trials_by_cubics: int = 4
    #: Largest forcing term: conjugate gradients stop where the residual is this part of
    #: the gradient. The term falls with the gradient, which makes the last steps
    #: converge superlinearly.
    forcing_term: float = 0.3
    #: Conjugate gradients also stop if a product adds less than this part of the mean
    #: to the decrease. With this rule fits take 0.95 times as long.
    least_gain: float = 0.2
    #: Multiple of the penalty for the first steps by conjugate gradients. Where nearly
    #: all rows are separable their curvature vanishes, and steps under the penalty
    #: itself are too long: 20 newsgroups at C = 100 takes 0.6 times the passes.
    first_penalty: float = 10.0
    #: The first steps end when one lowers the objective by less than this part.
    first_steps_gain: float = 0.2
    #: Smallest gain, relative to the objective at zero, at which fits to label sets
    #: without a Gram matrix start at the best intercepts of zero coefficients. The rare
    #: labels of enron take 0.8 times as long with it. Targets of one class start at
    #: zero: 20 newsgroups at C = 100, with 15 of them in one class, would take 1.6
    #: times as long.
    gain_of_intercepts: float = 0.05
    #: Most intercepts that are computed for it, from a whole Hessian.
    most_intercepts: int = 1000
    #: Number of last steps whose smallest curvature gives the expected decrease.
    curvatures_kept: int = 10
    #: Largest expected decrease at the start of one of several little problems,
    #: relative to the objective. If it is larger, the start, the minimum of another
    #: loss, is halved. With this rule searches take 0.8 times as long.
    far_start: float = 0.1

    #: Number of evaluations of several little problems together, after which the
    #: problems that have not converged are solved one by one. With this limit wine
    #: takes 0.8 times as long. With 0, all one by one, searches take 1.7 times as long.
    family_rounds: int = 40
    #: Most probabilities of the models of a path that are computed together (8 MiB). If
    #: they are computed model by model, searches take 1.2 times as long.
    scored_together: int = 1 << 20

    # Outputs one by one.

    #: Largest forcing term for separate outputs. A step costs about three products more
    #: than its conjugate gradients, because its end is in double precision: bibtex
    #: takes 0.95 times as long as with 0.3.
    forcing_term_by_output: float = 0.1
    #: Largest change of an output's total curvature, as a factor, before the moments of
    #: the columns are computed again. With the moments of the start only, enron takes
    #: 1.3 to 1.4 times as long.
    most_curvature_change: float = 1.5
    #: Number of first residuals of conjugate gradients to which the later ones are made
    #: orthogonal again. Without it enron takes 48 passes in place of 41 at C = 1, and
    #: 94 in place of 74 at C = 10. Reuters and bibtex take the same passes.
    residuals_kept: int = 2
    #: An output is far from its minimum if the expected decrease is more than this part
    #: of its objective. Then its curvature is that of mixtures: see `target_share`.
    #: Bibtex takes 37 passes in place of 45, and Reuters 9.0 in place of 9.7. With 0.01
    #: Reuters takes 10.8.
    far_by_output: float = 0.3

    # Leave-one-out.

    #: Fewest quadratic forms of a row, M(M + 1)/2 of M raw predictions, that are one
    #: product with all pairs of columns. Without this product C="loo" takes 1.2 times
    #: as long on 3,000 rows of letter.
    forms_by_pairs: int = 10
    #: Fewest raw predictions of a row whose linear system is solved by conjugate
    #: gradients. By factors C="loo" takes 1.4 to 1.55 times as long on the same rows.
    systems_by_products: int = 10

    # Splitting.

    #: Hessian products before splitting, as a share of the cost of its Gram matrix and
    #: factor or of `most_products`. With one, sparsemax on enron takes 1.6 times the
    #: passes and 1.2 times as long.
    splitting_share: float = 1 / 3
    #: Number of stored residuals, and of iterations in a step.
    splitting_memory: int = 10
    #: Most tries of so many iterations to lower the objective. With one, sparsemax on
    #: enron takes the same passes at C = 1, and at least 4 times as long at C = 10.
    splitting_tries: int = 5
    #: Strength of the proximal step, in units of the geometric mean of the mean
    #: curvature at the start and the mean penalty.
    splitting_strength: float = 0.5
    #: Splitting ends when all tries lower the objective by less than this part.
    splitting_end: float = 1e-6

    # Composite problems.

    #: Smallest C, in units of the C at which a coefficient enters, for which stronger
    #: penalties are minimised first, with exact zeros and more parameters than rows. At
    #: 300 units two classes of 200 rows of 300 features with sparsemax take 0.23 times
    #: as long. With more rows than parameters breast cancer and pendigits would take 2
    #: to 3 times as long at 3,000, and ten classes of digits 0.65 times.
    first_ratio_of_wide: float = 100.0
    #: Number of such penalties for a factor of ten. With one, two classes of 200 rows
    #: of 300 features take 1.5 times the passes and 2.4 times as long.
    penalties_of_decade: int = 2

    #: Most parameters of a Hessian matrix.
    largest_hessian: int = 3000
    #: Largest cost of a Hessian matrix with its factors, in Hessian products. The limit
    #: is the largest number of products of a step, if that is larger: without this rule
    #: the lasso of 500 rows of 5,000 features at 300 times the smallest C takes 8 times
    #: as long.
    hessian_products: float = 400.0
    #: Far from the minimum a Hessian is computed from this number of rows for each of
    #: its parameters: letter takes 0.85 times as long (0.6 to 1.05 times), 10,000 rows
    #: of 100 features 0.9 times, and 100,000 rows of 50 features 0.6 times (0.3 to
    #: 1.3).
    rows_of_parameter: float = 6.0
    #: Number of rows for each parameter near the minimum. With `rows_of_parameter` in
    #: its place pendigits takes 2 to 3.5 times as long at 300 times the smallest C.
    #: With all rows 100,000 rows of 50 features take 1.3 times as long (0.8 to 1.9).
    rows_near: float = 50.0
    #: Largest share of the rows that is drawn; if it is larger, all are used.
    largest_share: float = 0.5
    #: Smallest cost of a Hessian from drawn rows, in multiplications. Without it two
    #: classes of digits take 3.5 times as long at 30 times the smallest C, and breast
    #: cancer 1.1 to 1.8 times, by more steps.
    sampled_hessian: float = 2e7
    #: Fewest outputs of a Hessian that is one product of all pairs of outputs with all
    #: pairs of columns. With it letter, with 26 classes, takes 0.65 to 0.93 times as
    #: long with whole features, and 0.85 to 1.0 times with coefficients. Pendigits,
    #: with 10, takes 0.8 to 0.9 times (softmax) or 1.3 (sparsemax).
    outputs_of_pairs: int = 16
    #: Smallest share of the parameters that such a Hessian includes.
    share_of_pairs: float = 0.8
    #: Relative decrease of the objective below which a step is near the minimum: then
    #: Hessians are computed from all rows.
    far_step: float = 0.03
    #: Most numbers of data without a working set, if there are no more features than
    #: rows. With a working set two classes of digits and breast cancer take 1.3 to 1.4
    #: times as long at 3 times the smallest C. With twice this limit four data sets of
    #: 200,000 to 240,000 numbers take 1.1 times as long, 600 rows of 400 features up to
    #: 5 times.
    little_of_features: int = 1 << 17
    #: Longest step on all features, in the model's steps. It is tried if more than
    #: `slope_left_far` of the slope is left. Without longer steps digits and 1,200 rows
    #: of 200 features take 1.1 times the passes, up to 1.33.
    longest_step: float = 4.0
    #: Rounds of Hessian products on an l1 model end where the proximal step is this
    #: multiple of the root of the gradient, or `forcing_term` if that is smaller,
    #: relative to the first one. With `forcing_term` alone 20 newsgroups takes 1.3
    #: times the passes at 3 times the smallest C, 1.0 at 30 and 0.9 at 300. With 1,
    #: whole features take 1.35 times the passes at 30, two classes 1.2 times at 300.
    forcing_of_gradient: float = 3.0
    #: Largest share of the features in a working set; a larger set has all features.
    largest_working_set: float = 0.5
    #: Fewest features that may be added to a working set ...
    fewest_added: int = 50
    #: ... and most, in units of the features with a coefficient. With 2, and 0.05 as
    #: `left_on_working_set`, fits with many more features than rows take 1.3 times as
    #: long. With 1.0 many of the added features leave again, and 500 rows of 5,000
    #: features take up to 1.4 times as long.
    most_added: float = 0.7
    #: Fewest features that may be added of sparse rows, where features cost little and
    #: a pass costs much ...
    fewest_added_of_sparse: int = 150
    #: ... and most. With the numbers of other rows 20 newsgroups takes 1.13 times as
    #: long and 1.15 times the passes: two classes at 30 and 100 times the smallest C,
    #: and whole features at 3 times.
    most_added_of_sparse: float = 1.0
    #: Part of the largest entry of the gradient that may be left on a working set.
    left_on_working_set: float = 0.15
    #: The part that may be left if all features whose gradient exceeds the threshold
    #: are in the set, and a step on them costs no more than a pass. The figures are for
    #: two classes at 3 times the smallest C, compared with 0.15. 20 newsgroups takes
    #: 0.5 to 0.7 times the passes, and 1.05 times as long. 500 rows of 5,000 features
    #: take 0.8 times the passes, and 0.85 times as long. Without the limit of the cost,
    #: whole features of these take 1.9 times the passes at 30 times the smallest C.
    left_on_few: float = 0.01
    #: Most steps on a working set.
    most_on_working_set: int = 50
    #: Number of last steps from which L-BFGS approximates the Hessian.
    steps_kept: int = 20
    #: Smallest cosine between a step and the change of the gradient that L-BFGS uses.
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
    #: First tolerances, in units of the final ones. With the final ones only, fits with
    #: tol=1e-6 take 2 to 10 times as many evaluations.
    bundle_looseness: float = 1e3
    #: Divisor of the tolerances after each step.
    bundle_tighter: float = 10.0

    # The end.

    #: Largest duality gap that criterion 4 accepts, relative to the objective. It is
    #: more than the other criteria allow, because the gap is loose.
    loose_gap: float = 0.05
    #: Number of last iterations in criterion 3, doubled if the objective is not convex.
    look_back: int = 3
    #: A solver is stalled if this number of iterations lower the objective by at most
    #: its rounding error, and do not halve the gradient.
    patience: int = 10
    #: Rounding error of a sum over rows, in units of the precision.
    rounding: float = 10.0
    #: Tolerance at the start of a fit of a path, relative to the tolerance. With the
    #: whole tolerance a path would be less accurate than fits from zero.
    tol_at_start: float = 0.05
