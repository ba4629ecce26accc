"""The parts of the docstrings of classifiers, and of their methods, that many share."""

import inspect
import re
from textwrap import indent

from .._utils.typing import Decorated

_PARAMETERS = """\
C : float, "auto" or "loo", default=1.0
    Inverse of the regularisation strength, as in
    :class:`~sklearn.linear_model.LogisticRegression`: positive, ``np.inf`` for no
    penalty. Two values choose it (:doc:`/user_guide/tuning`):

    - "auto": a penalty with the same effect as ``C=1`` for softmax. C is inversely
      proportional to the curvature of the loss at equal scores, for entmax
      ``n_classes ** (1 - alpha)``, or ``1 / (n_classes * (alpha - 1))`` with alpha
      above 2. For ``l1_ratio=1`` it is inversely proportional to the gradient instead,
      which is that of softmax for entmax: 1. If the variances of the features sum to
      less than 20, it is multiplied by 20 divided by the sum, or for ``l1_ratio=1`` by
      the square root of this. Take it for mappings with exact zeros, for which ``C=1``
      is much too weak a ridge penalty if there are many classes;
    - "loo": the C with the best approximate leave-one-out score of ten values, from
      1e-4 to 1e4 times that of "auto". It needs a convex loss with bounded second
      derivatives, the penalty of ``l1_ratio=0`` and X in memory. With many features and
      classes the score is that of up to five folds.
l1_ratio : float in [0, 1], default=0.0
    Share ρ of the penalty that makes coefficients exactly zero, as in
    :class:`~sklearn.linear_model.LogisticRegression`: the penalty is
    ((1 - ρ) / 2 ‖W‖² + ρ ‖W‖₁) / (C Σs) with the weights s of the rows. Scale features
    that have different units.
select : {"coefficients", "features"}, default="coefficients"
    Unit that ``l1_ratio`` makes zero: single coefficients, or features, which are then
    used for all classes or for none. With "features" the second term of the penalty is
    ρ times the sum over features of the Euclidean norm of a feature's coefficients. For
    two classes, and with ``l1_ratio=0``, both are the same.
penalty_factors : array-like of shape (n_features,) or dict, default=None
    Non-negative multiples of the penalty for each feature. With 0 the coefficients of a
    feature are not penalised, with ``np.inf`` they are zero. A dict has names of
    columns of X as keys; the others have the factor 1. The names of a pandas Series are
    matched likewise if X has names. None stands for ones.
fit_intercept : bool, default=True
    Whether the scores have a constant term. It is not penalised.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes, or of the columns where ``y`` is a matrix; classes that are
    not named have the weight 1. "balanced" gives every class the same total weight. The
    weight of a row is the mean of the class weights under its target, times
    ``sample_weight``.
target_type : {"auto", "class", "label_set", "distribution", "candidates"}, \
        default="auto"
    Kind of ``y``. "auto" derives it from ``y``: one dimension is labels, a matrix of 0
    and 1 is label sets, and any other matrix is distributions. With "candidates" a
    matrix of 0 and 1 marks the classes of which exactly one is true: the loss is
    :class:`~skprob.losses.InfimumLoss`, and ``predict`` returns one class.
class_names : array-like of shape (n_classes,), default=None
    Names of the classes where ``y`` is a matrix, in the order of the columns of an
    array; columns of a DataFrame are matched by name. They become ``classes_``. None
    stands for the names of the columns of a DataFrame, and for numbers otherwise.
none_class : bool, default=True
    For label sets, whether "no label" is learnt as one more class if some training rows
    have no label. Its probability is one minus the sum of the row of ``predict_proba``;
    it is not in ``classes_``, and ``predict`` does not return it. A mapping with a
    parameter for each class needs one more, the last, for this class. If False, rows
    without a label are left out of the fit, with a warning. If all training rows have a
    label, or the mapping gives marginals, as sigmoid does, there is no such class.
threshold : float, array-like, str, DecisionRule or LeastCost, default="auto"
    Rule by which ``predict`` chooses the labels of a label set from their
    probabilities:

    - a number in [0, 1), or one number for each label: the labels with a larger
      probability; a pandas Series of numbers is matched with the labels by name;
    - "support": the labels with a positive probability;
    - "cv": the labels above one cut, chosen for the highest micro-F1;
    - a rule of :mod:`skprob.decision`, or its registered name;
    - "micro" or "macro": :class:`~skprob.decision.StackedLabels` with
      :class:`~skprob.decision.LabelCuts`, for a high micro-F1 or macro-F1;
    - "auto": "micro" for up to 5,000 rows and 1,000 labels. For more of either it is
      ``LabelCuts("micro")``, and above 5,000 rows it is fitted to the probabilities of
      the training rows.

    Cuts and rules are fitted to out-of-fold probabilities of the training data, from
    three more fits, or to approximate leave-one-out probabilities where the loss is a
    sum over labels, as that of sigmoid, and columns are few.

    For class labels, "auto" predicts the most probable class, and a
    :class:`~skprob.decision.LeastCost` the class of least expected cost: with
    ``LeastCost([[0, 0.3], [0.7, 0]])`` the second of two classes if its probability is
    greater than 0.3. Other values are errors. After a fit to distributions or
    candidates the most probable class is predicted, and any value but "auto" is an
    error.
sparse_output : bool, default=False
    Whether ``predict_proba``, and for label sets ``predict``, return CSR arrays. This
    saves memory with mappings that have exact zeros: a CSR array of positive
    probabilities takes more memory than a dense one.
loss : {"auto", "fenchel_young", "log", "cross_entropy", "accuracy", \
        "gradient_field", "infimum", "sparse_softmax"} or Loss, default="auto"
    The loss that is minimised. "auto" is the one that matches the mapping: the
    Fenchel-Young loss where the mapping has a potential, the gradient-field loss where
    it is a plain function, and the log loss otherwise. "cross_entropy" is another name
    of "log". A :class:`~skprob.losses.Loss` with ``mapping=None`` uses the mapping of
    the classifier.
similarity : {"dot", "cosine"}, default="dot"
    Kind of scores. With "dot" they are W x + b. With "cosine" they are the cosines
    between x and the rows of W, which have norm one; then ``C`` and ``fit_intercept``
    are not used, and a row of X that is zero has the score 0 for every class.
margin : float or array-like of shape (n_classes, n_classes), default=0.0
    Number that is added in training to the scores of all classes but the target, so
    that the target's score must be larger than the others by this amount. A matrix of
    costs (the row is the true class, the diagonal zero) is a margin for each pair of
    classes; rows and columns of a pandas DataFrame are matched with labels by name. In
    a fit to label sets of which some are empty, the last row and column are those of
    "no label". Not used in prediction.
temperature : float, default=1.0
    Positive number by which the scores are divided before the mapping is applied, in
    training and in prediction.
label_smoothing : float in [0, 1), default=0.0
    Share of the uniform distribution that is mixed into the target.
solver : {"auto", "lbfgs", "newton-cg", "newton-cholesky"}, default="auto"
    Algorithm that minimises the objective. "newton-cg" is a truncated Newton method,
    "newton-cholesky" Newton's method with the whole Hessian, for convex losses of
    linear scores and at most 10,000 coefficients. "lbfgs" needs no second derivatives
    and the least memory. "auto" is "lbfgs" if the loss is not convex or its second
    derivatives are not bounded, as those of entmax with alpha above 2. Otherwise it is
    "newton-cholesky" on little data, "lbfgs" for other Dask collections and where
    classes are more than eight times the numbers that X stores for a row, and
    "newton-cg" on all other data. With a penalty that makes
    coefficients zero, a Hessian without bound is computed, too, where it costs little.
    A search along a path uses "auto" for both of Newton's methods.
tol : float, default=1e-4
    Tolerance. The solver stops when no entry of the gradient is larger than ``tol`` in
    absolute value and, if the objective is convex, its expected decrease is at most
    ``tol`` times its value. The gradient is that in standardised features, so their
    units do not matter. If the rows are far fewer than the features, it is that in
    their standardised principal components.
max_iter : int, default=1000
    Largest number of iterations of the solver, with those of an easier loss or a
    stronger penalty that some fits begin with. Many labels of a mapping to marginals
    are fitted group by group: this is then the largest number for each group. Where a
    noise is estimated, it is the largest number for each noise that is tried.
warm_start : bool, default=False
    Whether ``fit`` starts from the coefficients of the previous fit instead of zero. If
    zero has a lower objective, as in other units of the features, it starts from zero.
verbose : int, default=0
    1 prints every tenth iteration of the solver, 2 prints every iteration."""

_ATTRIBUTES = """\
classes_ : ndarray of shape (n_classes,)
    Sorted labels; where ``y`` is a matrix, the names of its columns or, if they have
    none, their numbers.
coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
    Weights of the features in the scores: one row for two classes (two rows where the
    mapping gives marginals of label sets), whose scores are -u/2 and u/2 for
    u = coef x + intercept. With ``has_none_class_`` there is one more row, the last,
    for "no label".
intercept_ : ndarray of shape (n_classes,) or (1,)
    Constant terms of the scores, one for each row of ``coef_``; zeros if
    ``fit_intercept`` is False. Both are arrays of the same library, and on the same
    device, as X.
has_none_class_ : bool
    Whether "no label" was learnt as one more class: see ``none_class``.
C_ : float
    The C of the fit: ``C``, or the number that "auto" or "loo" stands for. It is
    infinite if the mapping does not change when all scores are multiplied by the same
    number.
Cs_ : ndarray of shape (10,)
    With ``C="loo"``, the values of C to choose from, from the strongest penalty to the
    weakest.
loo_scores_ : ndarray of shape (10,)
    With ``C="loo"``, the approximate leave-one-out score of each of these values, or
    the score of folds, greater is better: minus the mean log loss if the mapping has no
    exact zeros, else minus the mean Brier score. For marginals it is also the mean over
    the labels; other label sets are equal shares of their labels. It is NaN for values
    that were not tried: the search moves to the better neighbour until one is worse, or
    under a weaker penalty hardly better. The other attributes, such as ``history_``,
    are those of the last fit.
mapping_ : Mapping
    The mapping from scores to probabilities, which includes the temperature.
loss_ : Loss
    The loss that was minimised, as a function of scores and target.
target_type_ : str
    "class", "label_set", "distribution" or "candidates": what ``y`` was in ``fit``.
similarity_ : {"dot", "cosine"}
    The ``similarity`` of the fitted scores.
fitted_params_ : dict of str to object
    The parameters of the fit. ``set_params`` does not change them, nor tables of
    coefficients, which use them.
threshold_ : float, ndarray of shape (n_classes,), DecisionRule or LeastCost
    The cut, the cuts or the fitted rule that ``predict`` uses; only after a fit to
    label sets or, for class labels, with a ``LeastCost``. ``set_threshold`` changes it
    without another fit; a number, an array or a fitted rule can also be assigned to
    it.
solver_ : str
    Solver of the fit: "newton-cholesky", "newton-cg", "lbfgs" or "bundle" (bundles of
    gradients); two of them joined by "+" if the second continued from where the first
    ended. With ``l1_ratio`` it is "proximal-newton", for which ``solver`` says whether
    the whole Hessian is computed, or "proximal-lbfgs".
history_ : dict of str to ndarray of shape (n_iterations + 1,)
    The start and each iteration: "iteration", its number; "objective"; "gradient_norm",
    as ``gradient_norm_``; "duality_gap", NaN where it was not computed; "passes", how
    often X had been read by then (a product with some of the rows counts as a part of a
    pass); "seconds" since the solver began; "round_trips" to the workers of a cluster
    and "bytes" sent and received, both zero for data in memory; "stage", what is
    minimised. The stage is "final" for the objective itself. First steps of some fits
    minimise it with a "stronger penalty", and the objective is then the value with this
    penalty. Before them may be fits of an "easier loss", or with "other noise", whose
    objective is NaN. A fit to many rows starts from a fit to a sample of them, which
    counts as the start. ``pandas.DataFrame(model.history_)`` makes a table of it,
    :class:`~skprob.inspection.ConvergenceDisplay` a plot.
n_iter_ : int
    Number of iterations of the solver.
objective_ : float
    Weighted mean loss plus penalty at the end.
gradient_norm_ : float
    Largest absolute entry of the gradient at the end, in standardised features: see
    ``tol``.
duality_gap_ : float
    Upper bound of ``objective_`` minus its minimum, usually much larger than this
    difference. It is computed for Fenchel-Young losses and for the log loss with
    softmax, and infinite for other losses. Without a penalty, or with features that are
    not penalised, it is ``objective_`` itself.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (``n_features_in_``,)
    Names of the features, if X had names that are all strings."""

_SEARCH_PARAMETERS = """\
Cs : int or array-like of shape (n_Cs,), default=10
    Values of C to choose from; an integer is the number of values, evenly spaced on a
    logarithmic scale. For softmax they are from 1e-4 to 1e4, as in
    :class:`~sklearn.linear_model.LogisticRegressionCV`, and for each {value} from 1e-4
    to 1e4 times the C with the same effect as ``C=1`` for softmax. For an
    ``l1_ratio`` above 0 they are from :func:`~skprob.linear_model.smallest_C`, at which
    all coefficients are zero, to 1e4 times that.
l1_ratios : array-like of shape (n_l1_ratios,), default=None
    The values of ``l1_ratio`` to choose from, from 0 to 1, as in
    :class:`~sklearn.linear_model.LogisticRegressionCV`. 0 is the ridge penalty; above 0
    coefficients become exactly zero: see :doc:`/user_guide/few_coefficients`. None is 0
    alone, and leaves out the axis of the ratios in the attributes below.
cv : int, cross-validation generator, iterable or "loo", default=None
    As in :class:`~sklearn.model_selection.GridSearchCV`: None is five folds,
    stratified for labels; fewer where y has fewer rows, or no class has five rows.
    "loo" is approximate leave-one-out, which fits to all rows only and counts as one
    fold in the attributes. Where that takes more than about a second for each fit, it
    is up to five folds of 20 % of the rows, as for ``C="loo"``. It needs a convex loss
    with bounded second derivatives, the ridge penalty, X in memory, and a ``scoring``
    that depends on predictions only: None, a name, or the result of ``make_scorer``.
scoring : str or callable, default=None
    Name of a scorer of scikit-learn or ``scorer(estimator, X, y)``, greater is better.
    None is minus the Brier score (:class:`~skprob.metrics.BrierScorer`) for labels and
    distributions, and micro-F1 with the labels that ``threshold`` chooses for label
    sets. The log loss is infinite for a single zero at a true class, and the accuracy
    often is the same for many pairs. The method ``score`` uses ``scoring``, too, except
    that None is the accuracy there, as in other classifiers. As in
    :class:`~sklearn.linear_model.LogisticRegressionCV`, scorers of scikit-learn get all
    classes as ``labels``.
refit : bool, default=True
    Whether a model with the chosen parameters is fitted to all data in the end. If not,
    ``coef_`` and ``intercept_`` are the means over the folds of those of the models
    with the chosen parameters, similar to
    :class:`~sklearn.linear_model.LogisticRegressionCV`, which averages the best model
    of each fold. The threshold of label sets is the same in both cases: see Notes.
n_jobs : int, default=None
    Number of folds that are run in parallel, each in its own process; -1 uses all
    processors."""

_SEARCH_VERBOSE = """\
verbose : int, default=0
    1 prints every tenth fit of the search and every tenth iteration of the final fit; 2
    prints all of them."""

_SEARCH_ATTRIBUTES = """\
C_ : float
    The chosen C.
l1_ratio_ : float
    The chosen ``l1_ratio``; only if ``l1_ratios`` are given.
best_score_ : float
    Mean score of the chosen parameters over the folds; without ``scoring`` it is
    negative for labels and distributions, minus the Brier score.
scores_ : ndarray of shape (n_folds, n_{value}s, n_Cs)
    Score of each model on the test rows of its fold. If ``l1_ratios`` are given this
    array, ``Cs_``, ``coefs_paths_``, ``intercepts_paths_`` and ``n_iter_`` have an axis
    for them after that of the {value}s: (n_folds, n_{value}s, n_l1_ratios, n_Cs).
Cs_ : ndarray of shape (n_{value}s, n_Cs)
    The values of C for each {value}, in the order given.
l1_ratios_ : ndarray of shape (n_l1_ratios,)
    The values of ``l1_ratio``, in the order given; only if there are any.
coefs_paths_ : ndarray of shape (n_folds, n_{value}s, n_Cs, n_classes, n_features)
    Coefficients of all models, each as ``coef_``, which
    :class:`~skprob.inspection.PathDisplay` draws. The array is dense: 5 folds, 5
    {value}s, 3 ratios and 10 Cs take 750 times as much memory as ``coef_``.
intercepts_paths_ : ndarray of shape (n_folds, n_{value}s, n_Cs, n_classes)
    Intercepts of all models.
n_iter_ : ndarray of int of shape (n_folds, n_{value}s, n_Cs)
    Number of iterations of each fit of the search; 0 where the solution that a fit
    started from was within the tolerance. A fit that does not converge from there is
    repeated from zero, and the number is that of the fit that is kept. The number of
    the final fit is ``history_["iteration"][-1]``.
{attributes}"""

_SEARCH_NOTES = """\
scikit-learn's callbacks get a task "candidate" for each fit of the
search and then one for the "refit". With several jobs, the tasks of a fold are reported
together when the fold ends.

A ``threshold`` of label sets that is fitted to rows needs no further fits: it is fitted
to predictions for the rows that the folds leave out. A fold is scored with the
threshold by the rows of the other folds, and the chosen model has the one by the rows
of all folds. "auto" is "micro" here, for any number of rows and up to 1,000 labels.
With "loo", or if there is one fold, the score is the mean over five parts of the
left-out rows, each with the threshold by the other four.

A class that is missing from the training rows of a fold is still a class of the models
of this fold, as in :class:`~sklearn.linear_model.LogisticRegressionCV`.

After a KeyboardInterrupt the results so far are kept: ``classes_``, ``{value}s_``,
``Cs_``, ``scores_``, ``coefs_paths_``, ``intercepts_paths_`` and ``n_iter_``, and
``l1_ratios_`` if there are any. For fits that have not ended (with several jobs, for
folds that have not ended) they are NaN, and -1 in ``n_iter_``. The models of one
{value} and l1_ratio are scored together, after the last of them has been fitted, and
those with a ``threshold`` that is fitted to rows after all fits.
``{value}_``, ``C_`` and ``best_score_`` are set if the final fit was interrupted.
Attributes of an earlier fit are removed, and ``predict`` raises a NotFittedError. After
any other error the classifier is as it was before ``fit``."""


# Arguments of the methods of fitted models.
_ARGUMENTS = {
    "X": """\
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    For a Dask collection the result is a lazy Dask array; for an array of
    another library it is one of that library.""",
    "available": """\
available : array-like of bool of shape (n_samples, n_classes), default=None
    The classes that are available to each row; None stands for all classes. Columns
    of a DataFrame are matched with ``classes_`` by name.""",
    "offset": """\
offset : array-like, default=None
    Known numbers that are added to the scores of these rows, of a shape as in
    ``fit``. None adds nothing, even if ``fit`` was given offsets: they are not
    kept. Columns of a DataFrame are matched with ``classes_`` by name.""",
}


def with_shared_arguments(method: Decorated) -> Decorated:
    """Decorator of a method: fill {X}, {available} and {offset} into the docstring."""
    for name, text in _ARGUMENTS.items():
        _fill(method, name, text)
    return method


def with_shared_sections(cls: Decorated) -> Decorated:
    """Class decorator: fill {parameters} and {attributes} into the docstring.

    The section is made of the shared entries, in the order of the constructor. It lacks
    parameters that the constructor does not take, and entries that the docstring
    already has. A search also has {search_parameters}, {search_verbose},
    {search_attributes} and {search_notes}.

    The ``__module__`` of the class becomes the package, where pickle and skops look for
    it.
    """
    taken = inspect.signature(cls.__init__).parameters
    value = getattr(cls, "_parameter", "")
    for name, text in (
        ("search_parameters", _SEARCH_PARAMETERS),
        ("search_verbose", _SEARCH_VERBOSE),
        ("search_attributes", _SEARCH_ATTRIBUTES),
        ("search_notes", _SEARCH_NOTES),
    ):
        _fill(cls, name, text.replace("{value}", value))
    entries = dict(_entries(_PARAMETERS))
    parameters = "\n".join(
        entries[name]
        for name in taken
        if name in entries and not _describes(cls.__doc__, name)
    )
    if "C" in taken and taken["C"].default == "auto":
        given = 'C : float, "auto" or "loo", default='
        parameters = parameters.replace(f"{given}1.0", f'{given}"auto"')
    _fill(cls, "parameters", parameters)
    # A parameter may have the name of an attribute: read the section of attributes
    # only.
    described = re.split(r"(?m)^ *Attributes\n", cls.__doc__)[-1]
    # Attributes of C="loo", which a search does not have.
    without = set() if "C" in taken else {"Cs_", "loo_scores_"}
    attributes = [
        entry
        for name, entry in _entries(_ATTRIBUTES)
        if not _describes(described, name) and name not in without
    ]
    _fill(cls, "attributes", "\n".join(attributes))
    cls.__module__ = __name__.rpartition(".")[0]
    return cls


def _entries(section):
    """Name and text of each entry of a section."""
    entries = re.split(r"\n(?=\w+ : )", section)
    return [(entry.split(" : ")[0], entry) for entry in entries]


def _describes(text, name):
    return re.search(rf"(?m)^ *{name} : ", text)


def _fill(documented, name, text):
    """Replace the line {name} of a docstring by a text with the same indentation."""
    # The indentation differs: from Python 3.13 the compiler removes it.
    documented.__doc__ = re.sub(
        rf"(?m)^( *){{{name}}}$",
        lambda place: indent(text, place[1]),
        documented.__doc__,
    )
