"""Utilities for all packages of skprob.

For users' arguments: `checks/` has the checks, `names.py` suggests the most similar
name, and `warnings.py` finds the user's line. For arrays: `arrays.py` has the functions
that take an array of any library, `scores.py` the standard form of scores, `parts.py`
data in parts, and `blas.py` the limit on threads. For estimators: `fitted.py` looks
into pipelines and searches, `fitted_params.py` has the parameters of a fit, `saving.py`
its saved state, and `compat.py` what older versions of scikit-learn lack.
"""
