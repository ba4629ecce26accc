"""The decision rules that a name stands for."""

from __future__ import annotations

from sklearn.base import clone

from .._utils.names import did_you_mean
from ._base import DecisionRule
from ._cuts import CommonCut, LabelCuts
from ._row_wise import ExampleF1, MetaLabeler
from ._stacked import StackedLabels

#: Every name that is accepted wherever a rule is, and a function that makes the rule.
RULES = {
    "common_cut": CommonCut,
    "label_cuts": LabelCuts,
    "example_f1": ExampleF1,
    "meta_labeler": MetaLabeler,
    "stacked_labels": StackedLabels,
    "micro": lambda: StackedLabels(LabelCuts("micro")),
    "macro": lambda: StackedLabels(LabelCuts("macro")),
}


def get_rule(rule: str | DecisionRule) -> DecisionRule:
    """The rule that a name stands for, or an unfitted copy of a rule.

    Parameters
    ----------
    rule : str or DecisionRule
        A name in ``RULES``, or an object of a rule.

    Returns
    -------
    rule : DecisionRule

    Raises
    ------
    ValueError
        If the name is not registered or `rule` is something else.

    See Also
    --------
    DecisionRule : The base class of the rules.

    Examples
    --------
    >>> from skprob.decision import get_rule
    >>> get_rule("label_cuts")
    LabelCuts()
    """
    if isinstance(rule, DecisionRule):
        return clone(rule)
    if isinstance(rule, str) and rule in RULES:
        return RULES[rule]()
    raise ValueError(
        f"rule must be a DecisionRule or one of the names {sorted(RULES)}; got "
        f"{rule!r}.{did_you_mean(rule, RULES)}"
    )
