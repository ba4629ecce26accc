"""Entmax and sparsemax: probabilities [(alpha - 1)(z - tau)]_+ ^ (1 / (alpha - 1)).

Read `_entmax.py` first: it chooses the algorithm for the threshold tau of a row.
`_projection.py` is the one for sparsemax, `_threshold.py` for 1 < alpha < 2,
`_sorting.py` for alpha > 2, `_tails.py` for alpha < 1, and `_pair.py` for two classes.
`_candidates.py` removes classes whose probability is certainly zero. The Jacobian is
shared with softmax, `mappings/_jacobian.py`, up to alpha = 2; above, it is in
`_steep_jacobian.py`. `_array_api.py` has the same algorithms for arrays of other
libraries than NumPy.
"""

from ._entmax import Entmax, entmax
from ._pair import linearize_pair
from ._sparsemax import Sparsemax, sparsemax

__all__ = ["Entmax", "Sparsemax", "entmax", "linearize_pair", "sparsemax"]
