"""Mappings made of functions that users give.

`_function.py` takes a mapping from scores to probabilities as it is,
`_normalized_mapping.py` divides a positive function by its sum, and
`_threshold_mapping.py` shifts scores until an increasing function sums to one.
`_user_function.py` checks the values that such functions return;
`_increasing_function.py`, `_antiderivative.py` and `_monotone_root.py` integrate and
invert them.
"""
