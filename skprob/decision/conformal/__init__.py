"""Prediction sets with a guarantee, by split conformal prediction.

Every class of a row gets a nonconformity score: the less the class fits the row, the
higher. The limit is a quantile of the scores that the true classes of calibration rows
have. The set of a new row is all classes whose score is at most the limit. It contains
the true class with the chosen probability if the calibration rows were not used in the
fit. With folds, where the classifier is fitted again to all rows, it does so
approximately.

Read ``_conformal_sets.py`` first, the estimator and its calibration, then
``_predictions.py``, the sets of new rows. A new nonconformity score has the members
that ``_scores.py`` names, and a line there; ``_entmax_score.py`` and
``_probability_scores.py`` have today's. ``_calibration.py`` computes the scores of the
true classes, and their quantile by ``_quantile.py``. ``_responses.py`` has the scores
and probabilities of classifiers of any package, and ``_folds.py`` those of rows that
are left out. ``_routed_arguments.py`` gives each part of a fit and of a prediction its
arguments, with scikit-learn's metadata routing and without, and ``_inner_models.py``
says which of them reach a model in a search or a pipeline.
"""

from ._conformal_sets import ConformalSets

__all__ = ["ConformalSets"]
