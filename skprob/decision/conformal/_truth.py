"""The classes of a classifier, and the true ones of each row."""

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from ..._utils.arrays import is_foreign, on_host, to_numpy
from ..._utils.checks import (
    fill_unknown,
    in_order,
    names_of_columns,
    refuse_dask,
    refuse_missing_labels,
)
from ..._utils.fitted import last_step
from ..._utils.labels import (
    label_indicator,
    plain_labels,
    plain_names,
    positions_of,
    types_of_objects,
)
from .._input import as_indicator

# Kinds of labels, by their names in scikit-learn.
_KINDS_OF_LABELS = "binary", "multiclass"


def labels_or_sets(y):
    """Checked target of a fit, and its kind.

    Returns
    -------
    y : array or sparse matrix
        Labels of shape (n_samples,), or a matrix of label sets.
    target_type : {"class", "label_set"}

    Raises
    ------
    ValueError
        If `y` is neither, or a Dask collection.
    """
    refuse_dask("y", y)
    allowed = (
        "y must be labels of shape (n_samples,), or a 0/1 indicator of label sets of "
        "shape (n_samples, n_labels)"
    )
    try:
        # scikit-learn looks for whole numbers among infinities.
        with np.errstate(invalid="ignore"):
            y = plain_labels(y)
            known, _ = without_unknown(y)
            check_classification_targets(known)
            kind = type_of_target(known, input_name="y")
        if kind in _KINDS_OF_LABELS:
            return column_or_1d(y, warn=True), "class"
    # scikit-learn sorts the labels: None and text cannot be compared.
    except (TypeError, ValueError) as error:
        raise ValueError(f"{allowed}. {_reason(y, str(error))}") from None
    if kind != "multilabel-indicator":
        raise ValueError(f"{allowed}; got {kind} data.")
    return (y if hasattr(y, "shape") else np.asarray(y)), "label_set"


def _reason(y, message):
    """The reason why `y` is refused, from the message of scikit-learn's error."""
    if "label type: unknown" in message or "not supported between" in message:
        try:
            refuse_missing_labels(y, "y")
        except ValueError as error:
            return error
        return f"Unknown label type: {types_of_objects(y)}."
    return message.partition("\n")[0]  # The other lines show all values.


def labels_to_compare(y, classes, n_rows):
    """Checked labels of rows with predicted classes; they may be none of the classes.

    Raises
    ------
    ValueError
        If they are not one label for each row, of the kind of the classes.
    """
    y, target_type = labels_or_sets(plain_labels(y))
    y = to_numpy(y) if is_foreign(y) else y
    such_as = f"labels such as {plain_names(classes[:10])}, the classes of the fit"
    if target_type == "label_set":
        raise ValueError(f"y must be {such_as}; got an indicator of label sets.")
    if len(y) != n_rows:
        raise ValueError(
            f"y must have one label for each of the {n_rows} rows; got {len(y)}."
        )
    if (y.dtype.kind in "biuf") != (classes.dtype.kind in "biuf"):
        raise ValueError(f"y must be {such_as}; got {y[:1].tolist()[0]!r}.")
    return y


def classes_of(model, y, target_type):
    """Names of the classes of a fitted classifier.

    Parameters
    ----------
    model : estimator
    y : array-like or sparse matrix
        Labels or label sets.
    target_type : {"class", "label_set"}

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        For label sets of a classifier that has no names of the columns, the names of
        the columns of `y`, or their numbers.
    """
    classes = getattr(model, "classes_", None)
    if target_type == "class":
        if classes is None:
            raise ValueError(
                f"estimator must have classes_ after the fit; {type(model).__name__} "
                "has not."
            )
        return on_host(classes)
    # Some classifiers have a list with the values 0 and 1 for each label.
    if classes is not None and not isinstance(classes, list):
        classes = on_host(classes)
        if classes.shape == (y.shape[1],):
            return classes
    names = names_of_columns("y", y)
    return np.arange(y.shape[1]) if names is None else names


def without_unknown(y):
    """Label sets with zeros in place of NaN, and which entries are known.

    Returns
    -------
    y : object
        `y` itself if all is known, or if it is not label sets.
    known : ndarray of bool or None
        None if all is known.
    """
    finite = {"ensure_all_finite": "allow-nan", "ensure_2d": False}
    values = to_numpy(y) if is_foreign(y) else y
    try:
        values = check_array(values, accept_sparse="csr", dtype=None, **finite)
    except (TypeError, ValueError):
        return y, None  # The next check says what is wrong.
    # A single column is a vector of labels.
    if values.ndim != 2 or values.shape[1] == 1:
        return y, None
    values, known = fill_unknown(values)
    return (y if known is None else values), known


def true_classes(y, classes, target_type):
    """0/1 indicator of the true classes, as a CSR array.

    Entries of label sets that are not known are zero: only true labels are calibrated.

    Raises
    ------
    ValueError
        If a label is none of the classes, or the sets have other columns.
    """
    if target_type == "label_set":
        y, _ = without_unknown(in_order("y", y, classes))
        return as_indicator(y, (y.shape[0], len(classes)), "y")
    columns = positions_of(y, classes)
    if columns.min(initial=0) < 0:
        raise ValueError(
            f"y must hold classes of the fitted estimator, {classes[:10].tolist()}; "
            f"got {np.unique(y[columns < 0])[:5].tolist()}."
        )
    return label_indicator(columns, len(classes))


def check_truth_is_known(model, target_type):
    """Raise where rows have candidates for the class, of which any may be the true one.

    Parameters
    ----------
    model : estimator
        Fitted; also a pipeline or a search.
    target_type : {"class", "label_set"}
        What the calibration rows have.
    """
    is_candidates = getattr(last_step(model), "target_type_", None) == "candidates"
    if is_candidates and target_type == "label_set":
        raise ValueError(
            "y must be labels of shape (n_samples,) for an estimator of candidates, "
            "because sets are calibrated by the true class; got an indicator. Fit the "
            "estimator first, and give rows with known labels with cv='prefit'."
        )
