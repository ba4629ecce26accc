"""Utilities for all packages of skprob.

For arrays: `arrays.py` has the functions that take an array of any library, `scores.py`
the standard form of scores, `blas.py` the limit on threads, and `slices.py`,
`repeatable.py` and `top_k.py` small helpers. For what users give: `checks/` has the
checks, `columns.py` matches DataFrames with the classes by name, `names.py` suggests
the most similar name, and `warnings.py` finds the user's line. For estimators:
`fitted.py` looks into pipelines and searches, `fitted_params.py` has the parameters of
a fit, `saving.py` its saved state, and `compat.py` what older scikit-learn lacks.
"""
