"""The mean of the models that a search fitted to the folds."""

from ..fit import RowsInMemory, attributes_of_model, model_of


def mean_model(spec, data, encoded, results, place, threshold):
    """Fitted attributes of a model with the folds' mean coefficients.

    Parameters
    ----------
    spec : FitSpec
        With the chosen parameters.
    data : TrainingData
        All rows.
    encoded : EncodedTarget
        The target of these rows.
    results : Results
    place : tuple of int
        Place of the chosen parameters in the grid.
    threshold : float, ndarray of shape (n_classes,), DecisionRule or None
        Of label sets; None for other targets.

    Returns
    -------
    attributes : dict
    """
    rows = RowsInMemory(spec, data, encoded)
    spec = spec.for_rows(rows)
    coef = results.coefs[:, *place].mean(axis=0)
    intercept = results.intercepts[:, *place].mean(axis=0)
    model = model_of(coef, intercept, spec, rows)
    if threshold is not None:
        model = model.with_threshold(threshold)
    return attributes_of_model(model, spec)
