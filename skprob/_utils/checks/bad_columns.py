"""The columns of X that hold NaN, infinity or text, for errors."""

import re

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from ..arrays import on_host
from .columns import names_of_columns

# Longest list of columns in an error.
_MOST_COLUMNS = 3
_NOT_KNOWN = {"nan", "none", "nat", "<na>"}
# How errors of scikit-learn about names and numbers of features begin. These errors are
# not about the values of X.
_ABOUT_FEATURES = re.compile(
    r"(The f|F)eature names |Expected unique column names|X has \d+ features, but "
)
_FILL = (
    "Fill the gaps, for instance by sklearn.impute.SimpleImputer, or leave these rows "
    "out."
)
_ENCODE = (
    "Encode text by numbers: categories for instance by "
    "sklearn.preprocessing.OneHotEncoder in a ColumnTransformer, documents by "
    "sklearn.feature_extraction.text.TfidfVectorizer."
)

_STACK = "numpy.stack makes a matrix of a column of lists."


def is_about_features(message):
    """Whether an error is about the names, or the number, of the columns of X.

    Examples
    --------
    >>> is_about_features("X has 2 features, but SVC is expecting 3 features as input.")
    True
    >>> is_about_features("Input X contains NaN.")
    False
    """
    return _ABOUT_FEATURES.match(message) is not None


def with_columns(message, X):
    """An error of scikit-learn about values of X, with the columns that hold them.

    Parameters
    ----------
    message : str
    X : object
        The user's argument: an array of any library, a sparse matrix or a frame.

    Returns
    -------
    message : str
        The error, without scikit-learn's advice to take another classifier.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"height": [1.0, None], "colour": ["red", "blue"]})
    >>> with_columns("could not convert string to float: 'red'", frame)[:60]
    "could not convert string to float: 'red', in column 'colour'"
    """
    if "contains NaN" in message:
        return f"Input X contains NaN{_where(X, _is_unknown)}. {_FILL}"
    if "contains infinity" in message:
        first = message.partition("\n")[0].rstrip(".")
        return f"{first}{_where(X, _is_infinite)}."
    if message.startswith("could not convert string"):
        return f"{message}{_where(X, _is_text)}. {_ENCODE}"
    if re.search("Dates and times|DateTime64|TimeDelta64", message):
        return f"Dates and times are not numbers{_where(X, _is_time)}."
    if message.startswith("setting an array element") and hasattr(X, "to_numpy"):
        return f"Lists were found in place of numbers{_where(X, _has_list)}. {_STACK}"
    return message


def without_values(message):
    r"""An error of scikit-learn without the part that shows all values.

    Examples
    --------
    >>> without_values("Complex data not supported\n[0.+1.j 0.+1.j]\n")
    'Complex data not supported.'
    """
    message = re.sub(r":\narray=.*\.\n(?=Reshape)", ". ", message, flags=re.DOTALL)
    return re.sub(r"(?<=Complex data not supported)\n.*", ".", message, flags=re.DOTALL)


def _where(X, is_wrong):
    """The first columns with such a value, as the end of a sentence; empty if none."""
    wrong = [repr(name) for name, values in _columns(X) if is_wrong(values)]
    if not wrong:
        return ""
    shown = ", ".join(wrong[:_MOST_COLUMNS])
    if len(wrong) > _MOST_COLUMNS:
        shown += f" and {len(wrong) - _MOST_COLUMNS} more"
    return f", in column{'s' if len(wrong) > 1 else ''} {shown}"


def _columns(X):
    """Pairs of the name, or number, of a column and its values."""
    try:
        names = names_of_columns("X", X)
    except ValueError:  # Two columns have the same name.
        names = None
    if names is not None:
        for j, name in enumerate(names.tolist()):
            yield name, np.asarray(_safe_indexing(X, j, axis=1))
        return
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        for j in range(X.shape[1]):
            yield j, X.data[X.indptr[j] : X.indptr[j + 1]]
        return
    X = on_host(X)
    if X.ndim == 2:
        yield from enumerate(X.T)


def _is_unknown(values):
    if values.dtype.kind == "f":
        return np.isnan(values).any()
    return any(str(value).lower() in _NOT_KNOWN for value in values.ravel().tolist())


def _is_infinite(values):
    with np.errstate(over="ignore"):  # A longdouble may be too large.
        return np.isinf(values.astype(np.float64)).any()


def _is_time(values):
    return values.dtype.kind in "mM"


def _has_list(values):
    return any(np.ndim(value) > 0 for value in values)


def _is_text(values):
    return any(isinstance(value, str) and not _is_number(value) for value in values)


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
