"""The estimators: one class for each mapping, and what they share.

Read `_softmax_classifier.py` first: an estimator is its parameters and the mapping and
loss that they stand for. `_parameters.py` holds the parameters that all share,
`_base.py` the public methods. A new estimator is one file here, one line in
`linear_model/__init__.py` and one in `skprob/__init__.py`.
"""
