"""Marginals: a probability for each label, which need not sum to one.

Read `_sigmoid.py` first. `_budget.py` finds the threshold that keeps the sum of
marginals within a budget.
"""
