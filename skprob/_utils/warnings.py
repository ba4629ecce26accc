"""Warnings that point to the line of the user's code."""

import contextlib
import os
import sys
import warnings
from pathlib import Path

import joblib
import sklearn


def _folder(module):
    return f"{Path(module.__file__).parent}{os.sep}"


# Frames of these files are skipped: a search of scikit-learn's, or a decorator, calls
# skprob for the user. From Python 3.12 on, `warnings.warn` has `skip_file_prefixes`.
_SKIPPED = (
    f"{Path(__file__).parents[1]}{os.sep}",
    _folder(sklearn),
    _folder(joblib),
    contextlib.__file__,
)


def warn(message, category=UserWarning):
    """Warn, at the line that called skprob, directly or through scikit-learn.

    Parameters
    ----------
    message : str
    category : type of Warning, default=UserWarning
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
