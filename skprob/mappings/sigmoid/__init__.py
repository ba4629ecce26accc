"""Marginals: a probability for each label, which need not sum to one.

Read `_sigmoid.py` first. `_budget.py` computes the threshold with which the sum of
marginals is within a budget.
"""

from ._sigmoid import Sigmoid, sigmoid

__all__ = ["Sigmoid", "sigmoid"]
