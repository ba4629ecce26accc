"""The model inside pipelines and searches, and the rows that it gets."""

from sklearn.pipeline import Pipeline


def last_step(estimator):
    """The model at the end of pipelines and searches."""
    while True:
        if isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return estimator


def predicted_sets(estimator, X):
    """Indicator of the sets of a fitted classifier, in pipelines and searches, too.

    Raises
    ------
    ValueError
        If the model has no ``predict_set`` and predicts one label for each row.
    """
    model = last_step(estimator)
    if hasattr(model, "predict_set"):
        return model.predict_set(_before_last_step(estimator, X))
    sets = estimator.predict(X)
    if sets.ndim != 2:
        raise ValueError(
            "estimator must have predict_set, such as ConformalSets, or be fitted to "
            f"label sets; {type(model).__name__} predicts one label a row."
        )
    return sets


def _before_last_step(estimator, X):
    """The rows as the model at the end of pipelines and searches takes them."""
    while True:
        if isinstance(estimator, Pipeline):
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
            estimator = estimator[-1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        else:
            return X
