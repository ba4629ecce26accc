"""Attention: weighted means of values, with any mapping for the weights.

`_attention.py` has the functions for arrays of queries, keys and values, whose checks
are in `_checked_arrays.py`, and `_taylor_attention.py` the one with Taylor softmax in
linear time. The estimators, whose keys are their training rows, are in `_classifier.py`
and `_regressor.py`; read `_base.py` first, which computes the weights of the training
rows.
"""

from ._attention import attention, attention_vjp
from ._classifier import AttentionClassifier
from ._regressor import AttentionRegressor
from ._taylor_attention import taylor_attention

__all__ = [
    "AttentionClassifier",
    "AttentionRegressor",
    "attention",
    "attention_vjp",
    "taylor_attention",
]
