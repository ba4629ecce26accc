"""Matplotlib, imported when it is used, and the colours of predictions."""

#: Of what is predicted, and of what has any probability.
PREDICTED, POSSIBLE = "#4573c4", "#c4d1ea"


def import_pyplot(user):
    """``matplotlib.pyplot``, or an ImportError that says who needs what."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f'{user} needs matplotlib: pip install "skprob[plot]".'
        ) from error
    return pyplot


def axes_for(user, ax):
    """The axes `ax`, or those of a new figure if it is None."""
    pyplot = import_pyplot(user)
    return pyplot.subplots()[1] if ax is None else ax
