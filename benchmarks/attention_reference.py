"""Write tests/attention/reference.npz: results and gradients by torch and entmax.

Run it with ``python benchmarks/attention_reference.py``, which needs both packages.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from entmax import entmax15, entmax_bisect, sparsemax

TESTS = Path(__file__).parents[1] / "tests" / "attention"
sys.path.insert(0, str(TESTS))
from queries_and_keys import CASES, arrays, cotangent  # noqa: E402

MAPPINGS = {
    "sparsemax": lambda z: sparsemax(z, dim=-1),
    "entmax": lambda z: entmax15(z, dim=-1),
    "entmax 1.25": lambda z: entmax_bisect(z, alpha=1.25, dim=-1, n_iter=80),
}


def result(mapping, query, key, value, mask):
    if mapping == "softmax":
        return torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=mask
        )
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e300)
    return MAPPINGS[mapping](scores) @ value


def main():
    results = {}
    for name, (mapping, *_) in CASES.items():
        *given, mask = arrays(name)
        given = [torch.tensor(a, requires_grad=True) for a in given]
        mask = None if mask is None else torch.tensor(mask)
        out = result(mapping, *given, mask)
        out.backward(torch.tensor(cotangent(out.shape)))
        results[f"{name}, out"] = out.detach().numpy()
        for chosen, array in zip(("query", "key", "value"), given, strict=True):
            results[f"{name}, {chosen}"] = array.grad.numpy()
    np.savez_compressed(TESTS / "reference.npz", **results)


if __name__ == "__main__":
    main()
