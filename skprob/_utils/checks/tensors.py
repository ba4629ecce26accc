"""A check of tensors of torch."""


def check_tensor(name, array):
    """Raise if a tensor of torch is sparse, or requires gradients.

    Few functions of torch take a sparse one, and no gradients are computed.
    """
    if getattr(array, "requires_grad", False) is True:
        raise ValueError(
            f"{name} must not require gradients, which are not propagated; got a "
            f"tensor with requires_grad=True. Give {name}.detach()."
        )
    layout = str(getattr(array, "layout", ""))
    if layout.startswith("torch.sparse"):
        raise ValueError(
            f"{name} must be a dense tensor; got one with layout={layout}. Give "
            f"{name}.to_dense(), or a sparse matrix of SciPy."
        )
