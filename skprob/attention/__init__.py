"""Attention: weighted means of values, with any mapping for the weights."""

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
