"""Copies between the host and a device by a fit to tensors of torch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch")
overrides = pytest.importorskip("torch.overrides")
dispatch = pytest.importorskip("torch.utils._python_dispatch")

# Operators whose result the host waits for: a number, or indices.
_WAITS = ("aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select")
_TO_DEVICE = ("asarray", "tensor", "as_tensor", "from_numpy")


class Transfers(overrides.TorchFunctionMode):
    """Context that records copies of arrays to and from tensors.

    On the CPU, too, where they share memory: a GPU would copy.

    Attributes
    ----------
    to_host, to_device : list of int
        Sizes of the arrays.
    n_waits : int
        Numbers and indices that the host waits for, without those of arrays.
    """

    def __init__(self):
        super().__init__()
        self.to_host, self.to_device, self._waits = [], [], _Waits()

    @property
    def n_waits(self):
        return self._waits.number

    def __enter__(self):
        self._waits.__enter__()
        return super().__enter__()

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self._waits.__exit__(*exception)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in ("cpu", "tolist") and isinstance(args[0], torch.Tensor):
            self.to_host.append(args[0].numel())
        if name in _TO_DEVICE and isinstance(args[0], np.ndarray):
            self.to_device.append(args[0].size)
        return function(*args, **(kwargs or {}))


class _Waits(dispatch.TorchDispatchMode):
    number = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.number += function.name() in _WAITS
        return function(*args, **(kwargs or {}))
