"""One fit: from checked rows and a `FitSpec` to fitted attributes.

Read `_run.py` first, from top to bottom: rows, spec, objective, minimise, attributes.
`_spec.py` holds what a fit does, as plain data: an estimator makes it, and nothing here
sees the estimator. `_rows.py` makes blocks of rows; `_penalty.py` resolves C,
`_start.py` the first parameters; `_minimise.py` calls the solver, `_learnt_noise.py` a
search of the noise around it; `_folds.py` fits the folds from which thresholds are
chosen.
"""
