"""Arrays of other libraries, under scikit-learn's array API dispatch."""

import numpy as np
import pytest
from sklearn import config_context

from skprob._utils.arrays import to_numpy

from ..versions import has_cuda


def imported(name):
    """A library; where it is not installed the test is skipped."""
    library = pytest.importorskip(name, reason=f"needs {name}")
    if name == "torch":  # The processes of the tests share the cores.
        library.set_num_threads(1)
    return library


class Library:
    """A library and a device of it: for torch a GPU, where there is one.

    Parameters
    ----------
    name : str
        That is imported; the test is skipped where it is not installed.
    """

    def __init__(self, name):
        self.xp = imported(name)
        self.name = name
        if name == "torch":
            self.device = "cuda" if has_cuda() else "cpu"
        else:
            self.device = self.xp.Device("device1")

    def array(self, values, dtype=None):
        """An array of the library with these values."""
        dtype = dtype and getattr(self.xp, dtype)
        values = np.array(values)
        return self.xp.asarray(values, dtype=dtype, device=self.device)

    def holds(self, array, dtype=None):
        """Whether an array is of the library, on the device and of the type."""
        same = type(array) is type(self.array([0.0]))
        same = same and array.device == self.array([0.0]).device
        return same and (dtype is None or array.dtype == getattr(self.xp, dtype))


LIBRARIES = ["array_api_strict", "torch"]


@pytest.fixture(params=LIBRARIES)
def library(request):
    """Each library in turn, with dispatch on."""
    library = Library(request.param)
    with config_context(array_api_dispatch=True):
        yield library


@pytest.fixture
def torch():
    """The library torch, without dispatch."""
    return imported("torch")


@pytest.fixture
def numpy():
    """The function that takes arrays of any library to NumPy's."""
    return to_numpy
