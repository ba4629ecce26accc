"""The cut above which a label is predicted to be in the set."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

# Three folds chose cuts as good as five or ten did, on emotions, scene, birds and
# CAL500, and they cost the least.
_N_FOLDS = 3
# Of so many rows the model's own probabilities are hardly better than those of new
# rows; with fewer, a cut that is chosen by them is too high.
_ROWS_ENOUGH = 5000


def check_threshold(threshold, n_classes):
    """A cut, or an array of one for each of the labels; raise if it is neither."""
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


def threshold_rule(estimator, X, target, sample_weight, weight):
    """How the threshold of a fit to label sets is found.

    Parameters
    ----------
    estimator : estimator
        Its ``threshold`` says how.
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    target : SparseTarget of shape (n_samples, n_classes)
    sample_weight : ndarray of shape (n_samples,)
        Weights of the rows in the F1 score.
    weight : ndarray of shape (n_samples,)
        Their weights in the fit, of which rows of weight zero are no part.

    Returns
    -------
    rule : callable
        ``rule(predict_proba)`` is the threshold of a model with these probabilities
        as a function of X.

    Raises
    ------
    ValueError
        If the estimator's threshold is not allowed.
    """
    threshold = estimator.threshold
    if not isinstance(threshold, str):
        cuts = check_threshold(threshold, target.shape[1])
        return lambda predict_proba: cuts
    if threshold == "support":
        return lambda predict_proba: 0.0
    fitted = weight > 0
    labels = _indicator(target)[fitted]
    X, weight = X[fitted], sample_weight[fitted]
    n_samples = len(weight)
    if n_samples == 1 or (threshold == "auto" and n_samples > _ROWS_ENOUGH):
        return lambda predict_proba: best_threshold(predict_proba(X), labels, weight)
    found = []

    def cross_validated(predict_proba):
        # It does not depend on the model, so that callbacks can ask at every step.
        if not found:
            p = _out_of_fold(estimator, X, labels, weight)
            found.append(best_threshold(p, labels, weight))
        return found[0]

    return cross_validated


def best_threshold(probabilities, labels, weight):
    """The cut of the highest micro-F1.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
    labels : CSR matrix of shape (n_samples, n_classes)
        Indicator with a label in some row of positive weight.
    weight : ndarray of shape (n_samples,)

    Returns
    -------
    threshold : float
        Half way between the last probability that is to be above it and the next.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> p = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]])
    >>> labels = csr_array([[1, 0, 0], [1, 1, 0]])
    >>> round(best_threshold(p, labels, np.ones(2)), 2)
    0.35
    """
    # F1 does not depend on the unit of the weights, and their sums could overflow.
    weight = weight / weight.max()
    rows, columns = np.nonzero(probabilities)
    p = probabilities[rows, columns]
    order = np.argsort(-p, kind="stable")
    p, row_weight = p[order], weight[rows[order]]
    hit = labels.toarray()[rows[order], columns[order]] * row_weight
    n_true = weight @ np.diff(labels.indptr)
    # As a share of the most that could be, 2 hits / (predicted + true).
    f1 = 2 * np.cumsum(hit) / (np.cumsum(row_weight) + n_true)
    following = np.append(p[1:], 0)
    # Equal probabilities are predicted together.
    f1[p == following] = -1
    last = np.argmax(f1)
    middle = (p[last] + following[last]) / 2
    return float(middle if middle < p[last] else following[last])


def _out_of_fold(estimator, X, labels, weight):
    """Probabilities of each row by a model of the other folds."""
    # Not a clone: that would report to the callbacks, too.
    model = type(estimator)(**estimator.get_params(deep=False))
    model.set_params(threshold=0, warm_start=False, verbose=0)
    probabilities = np.empty(labels.shape, X.dtype)
    folds = KFold(min(_N_FOLDS, len(weight)), shuffle=True, random_state=0)
    for train, test in folds.split(weight):
        with warnings.catch_warnings():
            # The fit to all rows warns.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X[train], labels[train], sample_weight=weight[train])
        probabilities[test] = model.predict_proba(X[test])
    return probabilities


def _indicator(target):
    ones = np.ones(len(target.columns))
    return sparse.csr_array((ones, target.columns, target.indptr), target.shape)
