"""The mean of the models that a search fitted to the folds."""

from ..fit import RowsInMemory, attributes_of_model, model_of


def mean_model(prepared, results, choice, threshold):
    """Fitted attributes of a model with the folds' mean coefficients.

    Parameters
    ----------
    prepared : PreparedSearch
    results : Results
        Of all folds.
    choice : Choice
    threshold : float, ndarray of shape (n_classes,), DecisionRule or None
        Of label sets; None for other targets.

    Returns
    -------
    attributes : dict
    """
    spec = prepared.chosen_spec(choice)
    rows = RowsInMemory(spec, prepared.data, prepared.encoded)
    spec = spec.for_rows(rows)
    coef = results.coefs[:, *choice.place].mean(axis=0)
    intercept = results.intercepts[:, *choice.place].mean(axis=0)
    model = model_of(coef, intercept, spec, rows)
    if threshold is not None:
        model = model.with_threshold(threshold)
    return attributes_of_model(model, spec)
