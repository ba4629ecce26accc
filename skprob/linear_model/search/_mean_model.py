"""The mean of the models that a search fitted to the folds."""

import copy

from ..fit._rows import RowsInMemory


def mean_model(template, data, encoded, results, place):
    """Fitted attributes of a model with the folds' mean coefficients.

    Parameters
    ----------
    template : BaseLinearClassifier
        Unfitted, with the chosen parameters.
    data : TrainingData
        All rows: the threshold of label sets is fitted to them.
    encoded : EncodedTarget
        The target of these rows.
    results : Results
    place : tuple of int
        Row and column of the chosen parameters in the grid.

    Returns
    -------
    attributes : dict
    """
    rows = RowsInMemory(template, data, encoded)
    attributes = template._model(rows)
    for name, paths in ("coef_", results.coefs), ("intercept_", results.intercepts):
        attributes[name] = paths[:, *place].mean(axis=0)
    if rows.kind == "label_set":
        model = copy.copy(template)
        vars(model).update(attributes, n_features_in_=data.X.shape[1])
        rule = rows.threshold_rule(model, model.mapping_)
        attributes["threshold_"] = rule(
            lambda X, given: model._probabilities(X, **given.arguments)
        )
    return attributes
