"""The mappings that the documentation compares, and the tests of their properties."""

from skprob.mappings import MAPPINGS

#: Parameters, besides the defaults, at which a registered mapping is compared.
VARIANTS = {
    "entmax": [{"alpha": 1.25}, {"alpha": 3.0}],
    "taylor_softmax": [{"order": 6}],
    "sparse_softmax": [{"k": 2}, {"p": 0.9}],
    "perturb_max": [
        {"noise": noise}
        for noise in (
            "gumbel",
            "logistic",
            "laplace",
            "exponential",
            "uniform",
            "cauchy",
        )
    ],
}

#: Every registered mapping by its name, at its defaults.
REGISTERED = {name: cls() for name, cls in MAPPINGS.items()}
#: Those at other parameters.
VARIED = {
    " ".join([name, *(f"{key}={value}" for key, value in parameters.items())]): cls(
        **parameters
    )
    for name, cls in MAPPINGS.items()
    for parameters in VARIANTS.get(name, [])
}
#: All of them, a registered mapping before those at its other parameters.
COMPARED = {
    label: mapping
    for name in REGISTERED
    for label, mapping in (REGISTERED | VARIED).items()
    if label.split()[0] == name
}
