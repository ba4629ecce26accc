"""Searches over C and a parameter of the mapping, by cross-validation.

Read `_path_search_cv.py` first. `_grid.py` holds the values, `_path.py` fits them one
after another from each other's solutions, `_scoring.py` scores the models of a fold,
and `_search_results.py` chooses the pair with the highest mean score.
"""
