"""The model inside pipelines and searches."""

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
