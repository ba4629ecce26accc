"""The mean of the models that a search fitted to the folds."""

from ..fit import RowsInMemory, SeparateFolds, attributes_of_model
from ..predict import FittedModel


def mean_model(spec, data, encoded, results, place):
    """Fitted attributes of a model with the folds' mean coefficients.

    Parameters
    ----------
    spec : FitSpec
        With the chosen parameters.
    data : TrainingData
        All rows: the threshold of label sets is fitted to them.
    encoded : EncodedTarget
        The target of these rows.
    results : Results
    place : tuple of int
        Place of the chosen parameters in the grid.

    Returns
    -------
    attributes : dict
    """
    rows = RowsInMemory(spec, data, encoded)
    spec = spec.for_rows(rows)
    model = FittedModel(
        coef=results.coefs[:, *place].mean(axis=0),
        intercept=results.intercepts[:, *place].mean(axis=0),
        classes=rows.classes,
        target_type=rows.kind,
        mapping=spec.mapping,
        has_none=rows.has_none,
        inputs=spec.inputs,
        threshold=spec.rule_of_labels,
    )
    if rows.kind == "label_set":
        choose_threshold = rows.threshold_rule(spec, SeparateFolds(spec))
        model = model.with_threshold(choose_threshold(model.probabilities))
    return attributes_of_model(model, spec)
