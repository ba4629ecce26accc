"""The loss of fits that estimate the noise of a mapping."""

from ...losses import LOSSES, LogLoss


def check_log_loss(loss):
    """Raise unless the loss, or its name, is the log loss without an epsilon."""
    is_log = isinstance(loss, LogLoss) and loss.epsilon in ("auto", 0)
    if not (is_log or (isinstance(loss, str) and LOSSES.get(loss) is LogLoss)):
        raise ValueError(
            "learn_noise=True needs the log loss, loss='log' or 'auto': values of "
            "other losses are not comparable between noises; got "
            f"loss={loss!r}."
        )
