"""Where the HTML representation of an object links to."""


class DocumentationLink:
    """Mixin: scikit-learn's HTML representation links to skprob's documentation."""

    _doc_link_module = "skprob"
    _doc_link_template = (
        "https://skprob.readthedocs.io/en/stable/generated/"
        "{estimator_module}.{estimator_name}.html"
    )
