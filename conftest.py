"""What must be in force before scipy is imported: this file is the first one read."""

import os
from importlib.util import find_spec

# scikit-learn skips its check of array inputs without it.
os.environ["SCIPY_ARRAY_API"] = "1"

import skprob.decision
import skprob.linear_model

# pytest finds a class's example in the package that has the class, and this one has
# it once it is used.
for package in skprob.linear_model, skprob.decision:
    for name in package.__all__:
        getattr(package, name)

collect_ignore = ["tests/typing"]  # For mypy, with errors on purpose.
# Examples that need another library; docs/conftest.py has those of pages.
if find_spec("distributed") is None:
    collect_ignore_glob = ["skprob/data/dask/_*.py", "skprob/linear_model/dask/_*.py"]
