"""The loss of rows with candidates for their class."""

from ...losses import FenchelYoungLoss, InfimumLoss, MarginLoss


def loss_of_candidates(loss, label_smoothing):
    """The infimum loss of a classifier that is fitted to candidates.

    Parameters
    ----------
    loss : Loss
        The checked loss of the classifier.
    label_smoothing : float

    Returns
    -------
    loss : InfimumLoss

    Raises
    ------
    ValueError
        If the loss is not the Fenchel-Young loss or the infimum loss itself, or with
        label smoothing, which makes a candidate of each class.
    """
    if isinstance(loss, MarginLoss):
        raise ValueError(
            "margin must be 0 for target_type='candidates', whose rows have no true "
            f"class that a margin could be beside; got {loss.margin!r}."
        )
    if not isinstance(loss, FenchelYoungLoss | InfimumLoss):
        raise ValueError(
            "target_type='candidates' needs a Fenchel-Young loss, and with it a "
            f"mapping with a potential; got {loss!r}. Use loss='auto' with softmax, "
            "sparsemax, entmax or perturb-max."
        )
    if label_smoothing:
        raise ValueError(
            "label_smoothing must be 0 for the infimum loss, the loss of "
            "target_type='candidates': it would make a candidate of each class; got "
            f"{label_smoothing}."
        )
    loss = InfimumLoss(loss.mapping)
    loss.check()
    return loss
