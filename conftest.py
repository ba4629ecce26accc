"""What must be in force before scipy is imported: this file is the first one read."""

import os
from importlib.util import find_spec

# scikit-learn skips its check of array inputs without it.
os.environ["SCIPY_ARRAY_API"] = "1"

# Their examples need the extra skprob[dask]; the tests say so where they are skipped.
if find_spec("distributed") is None:
    collect_ignore = [
        "docs/user_guide/larger_data.rst",
        "skprob/data/_dask.py",
        "skprob/linear_model/_dask.py",
    ]
