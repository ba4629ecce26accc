"""The parts of the docstrings of classifiers, and of their methods, that many share."""

import inspect
import re
from textwrap import indent

from .._typing import Decorated

_PARAMETERS = """\
loss : {"auto", "fenchel_young", "log", "accuracy", "gradient_field", \
        "sparse_softmax"} or Loss, default="auto"
    What is minimised. "auto" is the mapping's matching loss: Fenchel-Young
    where the mapping has a potential, the gradient field of a plain function,
    else the log loss. A :class:`~skprob.losses.Loss` with ``mapping=None`` gets
    the mapping.
similarity : {"dot", "cosine"}, default="dot"
    "dot" makes scores W x + b. "cosine" makes the scores the cosines between x
    and the rows of W, which have norm one: ``C`` and ``fit_intercept`` have no
    part in it, and rows of X that are zero score 0 for all classes.
margin : float, default=0.0
    In training, the target's score must beat the others by so much: the scores
    of the wrong classes are raised by it. Not used in prediction.
temperature : float, default=1.0
    The probabilities are those of the scores divided by it, in training and in
    prediction.
C : float or "auto", default=1.0
    Inverse of the regularisation strength, as in
    :class:`~sklearn.linear_model.LogisticRegression`: positive, ``np.inf`` for
    none. "auto" is what weighs as much as C=1 does for softmax: C is in inverse
    proportion to the loss's curvature at equal scores. For entmax that is
    ``n_classes ** (1 - alpha)``.
fit_intercept : bool, default=True
    Whether the scores have a constant term. It is not penalised.
class_weight : dict, "balanced" or None, default=None
    Weights of the classes (of the columns, where ``y`` is a matrix); those not
    named weigh 1. "balanced" gives every class the same total weight. A row is
    weighted by the mean over its target, times ``sample_weight``.
label_smoothing : float in [0, 1), default=0.0
    The target is mixed with the uniform distribution in this proportion.
target_type : {"auto", "class", "label_set", "distribution"}, default="auto"
    What ``y`` is. "auto" reads it off ``y``: one dimension is labels, a matrix
    of 0 and 1 label sets, any other matrix distributions.
class_names : array-like of shape (n_classes,), default=None
    Names of the classes where ``y`` is a matrix, in the order of its columns: they
    become ``classes_``. None takes those of a DataFrame's columns, or else numbers.
none_class : bool, default=True
    Of label sets: where some training rows have no label, whether "no label" is learnt
    as one more class. Its probability is what a row of ``predict_proba`` is short of
    one; it is not among ``classes_``, nor in what ``predict`` gives. A mapping with a
    parameter for each class needs one for it, the last. If False such rows are left out
    of the fit, with a warning. Where no training row is without a label,
    and for mappings to marginals such as sigmoid, there is no such class.
threshold : float, array-like, str or DecisionRule, default="auto"
    For label sets, how ``predict`` makes a set of the probabilities. A number in
    [0, 1), or one for each label: the labels whose probability is above it. "support":
    those of positive probability. "cv": those above the one cut of the highest
    micro-F1. A rule of :mod:`skprob.decision`, or its registered name: what it chooses.
    "auto" is :class:`~skprob.decision.LabelCuts`, cuts for the labels that raise
    micro-F1 where it is certain enough that they do. Cuts and rules are fitted to
    out-of-fold probabilities of the training data, from three more fits in folds that
    are always the same. Above 5,000 rows, where it hardly matters, all but "cv" are
    fitted to the training rows' own probabilities. Not used for other targets.
sparse_output : bool, default=False
    Whether ``predict_proba``, and for label sets ``predict``, return CSR arrays,
    which hold the non-zeros only; what ``y`` was in ``fit`` plays no part in it. For
    mappings with exact zeros: a CSR array of positive probabilities takes more
    memory than a dense one.
solver : {"auto", "lbfgs", "newton-cg"}, default="auto"
    How the objective is minimised. "newton-cg" is a truncated Newton method,
    "lbfgs" needs no second derivatives and the least memory; "auto" is the former
    where the objective is convex and rows times classes are at most 2**24, on little
    data with the whole Hessian, else the latter.
tol : float, default=1e-4
    The solver stops when no entry of the gradient is larger than it and, if the
    objective is convex, is not expected to fall by more than this part of itself. The
    gradient is that in standardised features, so that their units do not matter:
    centred, if there is an intercept, and divided by their deviations, or by more where
    the penalty outweighs the data.
max_iter : int, default=1000
    Iterations of the solver at most.
warm_start : bool, default=False
    Whether ``fit`` starts from the last fit's coefficients, rather than from
    zero.
verbose : int, default=0
    1 prints every tenth iteration of the solver, 2 every one."""

_ATTRIBUTES = """\
classes_ : ndarray of shape (n_classes,)
    Sorted labels; where ``y`` is a matrix the names of its columns, or their numbers.
coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
    Weights of the features in the scores: one row for two classes, whose scores
    are minus and plus half the one output. With ``has_none_class_`` there is one row
    more, the last, for "no label".
intercept_ : ndarray of shape (n_classes,) or (1,)
    Constant terms of the scores, of as many rows as ``coef_``; zeros if
    ``fit_intercept`` is False. Both are arrays of the library, and on the device, of X.
has_none_class_ : bool
    Whether "no label" was learnt as one more class: see ``none_class``.
C_ : float
    The C that was used.
mapping_ : Mapping
    The mapping from scores to probabilities, with the temperature.
loss_ : Loss
    The loss through that mapping.
target_type_ : str
    The kind of target that was learnt.
threshold_ : float, ndarray of shape (n_classes,) or DecisionRule
    The cut, the cuts or the fitted rule of ``predict``; after a fit to label sets
    only. ``set_threshold`` changes it without a fit; a number, an array or a fitted
    rule can also be assigned.
solver_ : str
    The method that was used: "newton-cholesky" (Newton's steps with the whole Hessian),
    "newton-cg" (by conjugate gradients) or "lbfgs"; two of them joined by "+" if one
    went on where the other ended.
history_ : dict of str to ndarray of shape (n_iterations + 1,)
    The start and each iteration: "iteration", its number; "objective"; "gradient_norm",
    as ``gradient_norm_``; "duality_gap", NaN where it was not computed; "passes", how
    often X had been read by then, where a product with some of the rows is a part of a
    pass; "seconds" since the solver began; "round_trips" to the workers of a cluster
    and "bytes" to and fro, which are zero for data in memory.
    ``pandas.DataFrame(model.history_)`` is a table of it,
    :class:`~skprob.inspection.ConvergenceDisplay` a drawing. Of a loss that is
    minimised in stages, only the last stage has an objective and not NaN.
n_iter_ : int
    Iterations of the solver.
objective_ : float
    Weighted mean loss plus penalty at the end.
gradient_norm_ : float
    Largest absolute entry of the gradient at the end, in standardised features: see
    ``tol``.
duality_gap_ : float
    A certified bound on how far ``objective_`` is from the minimum, usually a loose
    one; known for Fenchel-Young losses and the log loss through softmax, and
    infinite for others. Without a penalty it is ``objective_`` itself.
n_features_in_ : int
    Number of features.
feature_names_in_ : ndarray of shape (``n_features_in_``,)
    Names of the features, if X had names that are all strings."""

_SEARCH_PARAMETERS = """\
Cs : int or array-like of shape (n_Cs,), default=10
    The values of C to choose from; a number stands for so many from 1e-4 to 1e4
    times the C of "auto" for each {value}, evenly on a logarithmic scale.
cv : int, cross-validation generator or iterable, default=None
    As in :class:`~sklearn.model_selection.GridSearchCV`: None is five folds,
    stratified for labels.
scoring : str or callable, default=None
    A name of scikit-learn's or ``scorer(estimator, X, y)``, greater is better.
    None is the accuracy, ``score`` of the classifier of one fit. The Brier score
    (:class:`~skprob.metrics.BrierScorer`) compares probabilities of different
    mappings fairly; the log loss does not, once one is zero. As in
    :class:`~sklearn.linear_model.LogisticRegressionCV` a scorer of scikit-learn's is
    told all classes, as its ``labels``.
refit : bool, default=True
    Whether a model with the chosen pair is fitted to all data in the end. If
    not, there are only the results of the search, and nothing to predict with.
n_jobs : int, default=None
    Folds at a time, each in a process of its own; -1 uses all processors."""

_SEARCH_VERBOSE = """\
verbose : int, default=0
    1 prints every tenth fit of the search, and iteration of the final one; 2
    prints every one."""

_SEARCH_ATTRIBUTES = """\
C_ : float
    The chosen C.
best_score_ : float
    Mean score of the chosen pair over the folds.
scores_ : ndarray of shape (n_folds, n_{value}s, n_Cs)
    Score of each model on the rows of its fold that it was not fitted to.
Cs_ : ndarray of shape (n_{value}s, n_Cs)
    The values of C for each {value}, in the order given.
coefs_paths_ : ndarray of shape (n_folds, n_{value}s, n_Cs, n_classes, n_features)
    Coefficients of all models, with rows as those of ``coef_``.
intercepts_paths_ : ndarray of shape (n_folds, n_{value}s, n_Cs, n_classes)
    Intercepts of all models.
n_iter_ : ndarray of int of shape (n_folds, n_{value}s, n_Cs)
    Iterations of each fit of the search, 0 where the solution before was within the
    tolerance. Those of the final fit are ``history_["iteration"][-1]``.
{attributes}"""

_SEARCH_NOTES = """\
scikit-learn's callbacks get a task "candidate" for each fit of the search and then
one for the "refit". With several jobs those of a fold come together, when it ends.

A class that the training rows of a fold lack is one of the classes of its models all
the same, as in :class:`~sklearn.linear_model.LogisticRegressionCV`.

A KeyboardInterrupt keeps what the search has found: ``classes_``, ``{value}s_``,
``Cs_``, and ``scores_``, ``coefs_paths_`` and ``intercepts_paths_`` with NaN, and
``n_iter_`` with -1, for the fits that have not ended, or with several jobs for the
folds that have not. The models of one {value} are scored together, after the last of
them. ``{value}_``, ``C_`` and ``best_score_`` are there if it was the final fit that
was interrupted. Nothing is left of an earlier fit, and ``predict`` raises a
NotFittedError. After an error the classifier is as it was before."""


# Of methods of fitted models.
_ARGUMENTS = {
    "X": """\
X : {array-like, sparse matrix} of shape (n_samples, n_features)
    For a Dask collection the result is a lazy Dask array; for an array of
    another library it is one of that library.""",
    "available": """\
available : array-like of bool of shape (n_samples, n_classes), default=None
    The classes that each row may choose from; None is all of them.""",
    "offset": """\
offset : array-like, default=None
    What is added to the scores, as in ``fit``. None is zero.""",
}


def with_shared_arguments(method: Decorated) -> Decorated:
    """Decorator of a method: fill {X}, {available} and {offset} into the docstring."""
    for name, text in _ARGUMENTS.items():
        _fill(method, name, text)
    return method


def with_shared_sections(cls: Decorated) -> Decorated:
    """Class decorator: fill {parameters} and {attributes} into the docstring.

    The class is said to be of the package, under which pickle and skops look for it.

    Those of a search have the prefix "search_", and {search_notes} beside. Of the
    shared entries those are described that the docstring does not describe itself; of
    the parameters those that the constructor takes, with its default of C.
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
    parameters = "\n".join(
        entry
        for name, entry in _entries(_PARAMETERS)
        if name in taken and not _describes(cls.__doc__, name)
    )
    if "C" in taken and taken["C"].default == "auto":
        given = 'C : float or "auto", default='
        parameters = parameters.replace(f"{given}1.0", f'{given}"auto"')
    _fill(cls, "parameters", parameters)
    # A parameter is described before the attributes are, and not among them.
    described = re.split(r"(?m)^ *Attributes\n", cls.__doc__)[-1]
    attributes = [
        entry
        for name, entry in _entries(_ATTRIBUTES)
        if not _describes(described, name)
    ]
    _fill(cls, "attributes", "\n".join(attributes))
    cls.__module__ = __name__.rpartition(".")[0]
    return cls


def _entries(section):
    """Names and texts of what a section describes."""
    entries = re.split(r"\n(?=\w+ : )", section)
    return [(entry.split(" : ")[0], entry) for entry in entries]


def _describes(text, name):
    return re.search(rf"(?m)^ *{name} : ", text)


def _fill(documented, name, text):
    """Put a text into the line that is {name}, as far to the right as this is."""
    # From Python 3.13 the compiler takes the indentation away.
    documented.__doc__ = re.sub(
        rf"(?m)^( *){{{name}}}$",
        lambda place: indent(text, place[1]),
        documented.__doc__,
    )
