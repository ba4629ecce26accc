"""Advice in errors about values and parameters that other packages name otherwise."""

#: Advice about values that have another meaning or name in other packages.
OTHER_VALUES = {
    "coverage": "It is a share: 90 % is coverage=0.9.",
    "alpha": "It is the α of entmax. An error rate of 0.1 is coverage=0.9.",
    "score_function": {
        "lac": "LAC is 'threshold' with never_empty=False.",
        "aps": "APS is 'adaptive'.",
        "raps": "RAPS is 'adaptive' with a rank_penalty.",
    },
}
#: Sentences for the errors on names of parameters of other packages.
OTHER_NAMES = {
    **dict.fromkeys(
        ["score", "conformity_score", "method", "nonconformity"],
        "It is 'score_function' here.",
    ),
    **dict.fromkeys(
        ["confidence_level", "confidence", "level"], "It is 'coverage' here."
    ),
    "miscoverage": "An error rate of 0.1 is coverage=0.9.",
    **dict.fromkeys(["mondrian", "class_conditional"], "Choose by='class'."),
    "prefit": "Choose cv='prefit'.",
}
