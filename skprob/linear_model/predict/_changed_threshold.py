"""The threshold of a fitted model of label sets, chosen for other rows."""

from ..._utils.arrays import to_numpy
from ..._utils.checks import is_integer
from ...decision import n_labelled
from ...targets import class_weight_factors
from ._out_of_fold import out_of_fold, splits_with_labels


def changed_threshold(threshold, model, rows, given, splits, folds):
    """The threshold of a fitted model that is chosen for other rows.

    Parameters
    ----------
    threshold : str or DecisionRule
        A rule that is fitted to rows.
    model : FittedModel
    rows : LabelledRows
    given : Given
        Available classes and offsets of these rows.
    splits : list of (train, test) or None
        Folds by whose models the probabilities are computed; None stands for those of
        the fitted model.
    folds : SeparateFolds or None
        Fits their models; None with the splits.

    Returns
    -------
    threshold : float, ndarray of shape (n_classes,) or DecisionRule
    """
    if splits is None:
        blocks = model.probabilities(rows.X, given).on_host()
        return rows.fitted_threshold(threshold, blocks, slice(None))
    spec, weight = folds.spec, rows.weight
    encoded = spec.encoded(rows.labels, weight.dtype, to_numpy(model.classes))
    fit_weight = weight.copy()
    labelled = slice(None) if encoded.labelled is None else encoded.labelled
    fit_weight[labelled] *= class_weight_factors(
        spec.class_weight, encoded, weight[labelled]
    )
    models = folds.models(rows.X, rows.labels, fit_weight, splits, given)
    blocks, order = out_of_fold(models, rows.X, splits, given)
    return rows.fitted_threshold(threshold, blocks, order)


def splits_of(cv, labels):
    """The folds of `set_threshold`; None without them."""
    if cv is None:
        return None
    n_rows = n_labelled(labels)
    if not is_integer(cv) or not 2 <= cv <= n_rows:
        raise ValueError(
            "cv must be None or an integer of at least 2, and at most the "
            f"{n_rows} rows of X with a label; got {cv!r}."
        )
    return splits_with_labels(cv, labels)
