"""One fit: from the arguments of `fit` to fitted attributes.

Read `_fit.py` first, from top to bottom. `_training_data.py` and `_rows.py` check X, y
and weights and make blocks of rows; `_strength.py` resolves C, `_start.py` the first
parameters, `_inputs.py` scales the features; `_minimise.py` calls the solver, and
`_progress.py` reports iterations.
"""
