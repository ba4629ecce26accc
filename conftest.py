"""What must be in force before scipy is imported: this file is the first one read."""

import os
from importlib.util import find_spec

# scikit-learn skips its check of array inputs without it.
os.environ["SCIPY_ARRAY_API"] = "1"

import skprob.linear_model

# pytest finds a class's example in the package that has the class, and this one has
# it once it is used.
for name in skprob.linear_model.__all__:
    getattr(skprob.linear_model, name)

# Their examples need the extra skprob[dask]; the tests say so where they are skipped.
if find_spec("distributed") is None:
    collect_ignore = [
        "docs/user_guide/larger_data.rst",
        "skprob/data/_dask.py",
        "skprob/linear_model/_dask.py",
    ]
