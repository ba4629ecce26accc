"""The decision rule of a fit to label sets: how it is fitted, and its predictions."""

import warnings
from itertools import chain

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold

from .._arrays import take, to_numpy
from ..decision import (
    RULES,
    DecisionRule,
    LabelCuts,
    Sample,
    best_threshold,
    expected_size,
    get_rule,
    has_empty,
    n_labelled,
)
from ..targets import class_weight_factors
from ._given import NOTHING

#: Names of thresholds that are allowed.
NAMES = {"auto", "cv", "support", *RULES}
_NO_LABEL = "y must have a label in some row of positive weight."
# Three folds chose cuts as good as five or ten did, on emotions, scene, birds and
# CAL500, and they cost the least.
_N_FOLDS = 3
# Of so many rows the model's own probabilities are hardly better than those of new
# rows; with fewer, a cut that is chosen by them is too high.
_ROWS_ENOUGH = 5000


def check_threshold(threshold, n_classes):
    """The checked threshold: a fitted rule, a cut, or an array of cuts."""
    if isinstance(threshold, DecisionRule):
        if not hasattr(threshold, "n_labels_"):
            raise ValueError(
                "threshold must be a fitted rule, a number or one for each of the "
                f"{n_classes} labels; got {threshold!r}, which is not fitted."
            )
        if threshold.n_labels_ != n_classes:
            raise ValueError(
                f"threshold must be a rule that was fitted to {n_classes} labels; got "
                f"{threshold!r}, of {threshold.n_labels_}."
            )
        return threshold
    try:
        cuts = np.asarray(threshold, dtype=np.float64)
    except (TypeError, ValueError):
        cuts = np.full(1, np.nan)
    if cuts.ndim and cuts.shape != (n_classes,):
        raise ValueError(
            f"threshold must be one number or one for each of the {n_classes} labels; "
            f"got {threshold!r}, of shape {cuts.shape}."
        )
    good = (cuts >= 0) & (cuts < 1)
    if not good.all():
        where = f", at label {np.argmin(good)}" if cuts.ndim else ""
        raise ValueError(
            "threshold must be in [0, 1), a number or one for each label; got "
            f"{threshold!r}{where}."
        )
    return cuts if cuts.ndim else float(cuts)


def is_fitted_to_rows(threshold):
    """Whether a threshold is found by the probabilities and labels of rows."""
    return isinstance(threshold, str | DecisionRule) and threshold != "support"


def known_threshold(threshold, n_classes):
    """The checked threshold, of those that need no rows, as a number or a rule."""
    is_support = isinstance(threshold, str) and threshold == "support"
    return 0.0 if is_support else check_threshold(threshold, n_classes)


def threshold_rule(
    estimator,
    mapping,
    X,
    target,
    sample_weight,
    weight,
    *,
    n_labels,
    any_empty=False,
    path=None,
    given=NOTHING,
):
    """How the threshold of a fit to label sets is found.

    Parameters
    ----------
    estimator : estimator
        Its ``threshold`` says how.
    mapping : Mapping
        From scores to probabilities.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    target : SparseTarget of shape (n_samples, n_labels)
        Or of one more column, that of the class for rows without a label.
    sample_weight : ndarray of shape (n_samples,)
        Weights of the rows in the F1 score.
    weight : ndarray of shape (n_samples,)
        Their weights in the fit, of which rows of weight zero are no part.
    n_labels : int
    any_empty : bool, default=False
        Whether there were rows without a label that are not among these.
    path : object, default=None
        What fits along a path share: ``path.fold_models(estimator, X, labels, weight,
        folds)`` iterates over models that are fitted to each fold's training rows,
        and ``path.sizes(make)`` is what ``make()`` gave the first time. None stands
        for fits from zero.
    given : Given
        Of the rows. Only without `path`.

    Returns
    -------
    rule : callable
        ``rule(probabilities)`` is the threshold of a model whose probabilities, as
        blocks of rows, are ``probabilities(X, given)``.

    Raises
    ------
    ValueError
        If the estimator's threshold is not allowed.
    """
    threshold = estimator.threshold
    if not is_fitted_to_rows(threshold):
        cuts = known_threshold(threshold, n_labels)
        return lambda probabilities: cuts
    labels = _indicator(target)[:, :n_labels]
    fit_weight, weight = weight, sample_weight
    has_none = target.shape[1] > n_labels
    fitted = fit_weight > 0
    if not fitted.all():  # All rows need no copy, which may not fit.
        labels, given = labels[fitted], given.of(fitted)
        X = take(X, np.flatnonzero(fitted))
        fit_weight, weight = fit_weight[fitted], weight[fitted]
    if not labels.nnz:
        raise ValueError(_NO_LABEL)
    n_samples = len(weight)
    path = path or _Alone()

    def chosen(blocks, rows, polytope):
        if threshold == "cv":
            return best_threshold(blocks, labels[rows], weight[rows])

        def sizes():
            size = path.sizes(
                lambda: expected_size(to_numpy(X), labels, weight, has_none)
            )
            return size, size.out_of_fold[rows]

        return fitted_rule(
            threshold,
            Sample(
                blocks,
                labels[rows],
                weight[rows],
                sizes,
                polytope,
                any_empty or has_empty(labels),
                has_none,
            ),
        )

    polytope = mapping.polytope
    n_folds = min(_N_FOLDS, n_labelled(labels))
    if n_folds == 1 or (threshold == "auto" and n_samples > _ROWS_ENOUGH):
        return lambda probabilities: chosen(
            probabilities(X, given).on_host(), slice(None), polytope
        )
    found = []

    def cross_validated(probabilities):
        # It does not depend on the model, so that callbacks can ask at every step.
        if not found:
            folds = _folds(n_folds, labels)
            models = path.fold_models(estimator, X, labels, fit_weight, folds, given)
            found.append(chosen(*_out_of_fold(models, X, folds, given), polytope))
        return found[0]

    return cross_validated


def threshold_of_rows(estimator, threshold, X, labels, weight, cv, given):
    """The threshold by rows that are given after the fit.

    Parameters
    ----------
    estimator : estimator
        Fitted to label sets.
    threshold : str or DecisionRule
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    labels : CSR array of shape (n_samples, n_classes)
    weight : ndarray of shape (n_samples,)
    cv : int or None
        Number of folds in which models are fitted; None for the probabilities of the
        estimator itself.
    given : Given
        Of the rows.

    Returns
    -------
    threshold : float or DecisionRule
    """
    keep = weight > 0
    labels, weight, given = labels[keep], weight[keep], given.of(keep)
    X = take(X, np.flatnonzero(keep))
    if not labels.nnz:
        raise ValueError(_NO_LABEL)
    if cv is None:
        blocks = estimator._probabilities(X, **given.arguments).on_host()
        rows = slice(None)
    else:
        n_rows = n_labelled(labels)
        if not 2 <= cv <= n_rows:
            raise ValueError(
                f"cv must be None or at least 2, and at most the {n_rows} rows of "
                f"X with a label; got {cv!r}."
            )
        folds = _folds(cv, labels)
        encoded = estimator._encoded(labels, weight.dtype, to_numpy(estimator.classes_))
        fit_weight = weight.copy()
        labelled = slice(None) if encoded.labelled is None else encoded.labelled
        fit_weight[labelled] *= class_weight_factors(
            estimator.class_weight, encoded, weight[labelled]
        )
        models = _Alone().fold_models(estimator, X, labels, fit_weight, folds, given)
        blocks, rows = _out_of_fold(models, X, folds, given)
    if threshold == "cv":
        return best_threshold(blocks, labels[rows], weight[rows])

    has_none = estimator.has_none_class_

    def sizes():
        size = expected_size(to_numpy(X), labels, weight, has_none)
        return size, size.out_of_fold[rows]

    return fitted_rule(
        threshold,
        Sample(
            blocks,
            labels[rows],
            weight[rows],
            sizes,
            estimator.mapping_.polytope,
            has_empty(labels),
            has_none,
        ),
    )


def fitted_rule(threshold, sample):
    """The rule that a name or a rule stands for, fitted."""
    is_auto = isinstance(threshold, str) and threshold == "auto"
    rule = LabelCuts() if is_auto else get_rule(threshold)
    rule._validate_params()
    return rule._fit_sample(sample)


class Sets:
    """The label sets that a rule makes of a model's probabilities, block by block.

    Parameters
    ----------
    rule : DecisionRule
        Fitted.
    blocks : iterable of ndarray of shape (n_rows, n_classes)
    sizes : ndarray of shape (n_samples,) or None
        Expected sizes of the sets, if the rule uses them.
    n_samples : int
    """

    def __init__(self, rule, blocks, sizes, n_samples):
        self._rule, self._blocks, self._sizes = rule, blocks, sizes
        self._shape = n_samples, rule.n_labels_

    def __iter__(self):
        return self._rule._sets(self._blocks, self._sizes)

    def to_dense(self):
        """All of them as one array."""
        result, start = np.empty(self._shape, dtype=np.int64), 0
        for block in self:
            result[start : start + len(block)] = block
            start += len(block)
        return result

    def to_sparse(self):
        """All of them as one CSR array."""
        return sparse.vstack([sparse.csr_array(block) for block in self], format="csr")


class _Alone:
    """What a single fit uses: nothing is shared with other fits."""

    _known = None

    @staticmethod
    def fold_models(estimator, X, labels, weight, folds, given):
        """Models of the folds, fitted one by one."""
        for train, _ in folds:
            model = estimator._unfitted()
            # The weights of the classes are in those of the rows.
            model.set_params(threshold=0, warm_start=False, verbose=0)
            model.set_params(class_weight=None)
            with warnings.catch_warnings():
                # The fit to all rows warns, and a fold may be without a rare label.
                warnings.simplefilter("ignore", UserWarning)
                known = {"sample_weight": weight[train], **given.of(train).arguments}
                model.fit(take(X, train), labels[train], **known)
            yield model

    def sizes(self, make):
        """The result of the first call."""
        if self._known is None:
            self._known = make()
        return self._known


def _folds(number, labels):
    """Folds whose training rows have labels; at least two rows have some."""
    labelled = np.diff(labels.indptr) > 0
    how = {"shuffle": True, "random_state": 0}
    if labelled.all():
        return list(KFold(number, **how).split(labelled))
    with warnings.catch_warnings():
        # It warns where there are fewer empty rows than folds.
        warnings.simplefilter("ignore", UserWarning)
        return list(StratifiedKFold(number, **how).split(labelled, labelled))


def _out_of_fold(models, X, folds, given):
    """Probabilities of each row by a model of the other folds.

    Returns
    -------
    probabilities : iterable of ndarray of shape (n_rows, n_classes)
    rows : ndarray of shape (n_samples,)
        The order in which the rows come.
    """
    tests = [test for _, test in folds]
    blocks = [
        model._probabilities(take(X, test), **given.of(test).arguments).on_host()
        for model, test in zip(models, tests, strict=True)
    ]
    return _Chain(blocks), np.concatenate(tests)


class _Chain:
    """Blocks of several iterables one after the other, any number of times."""

    def __init__(self, iterables):
        self._iterables = iterables

    def __iter__(self):
        return chain.from_iterable(self._iterables)


def _indicator(target):
    ones = np.ones(len(target.columns))
    return sparse.csr_array((ones, target.columns, target.indptr), target.shape)
