"""What must be in force before scipy is imported: this file is the first one read."""

import os

# scikit-learn skips its check of array inputs without it.
os.environ["SCIPY_ARRAY_API"] = "1"
