"""Check a commit message: ``python check_subject.py FILE``, as a hook of pre-commit.

The subject is at most 72 characters long, begins with a verb in the imperative, perhaps
after a word for the area and a colon, and has no full stop. An empty line divides it
from the body.
"""

import re
import sys
from pathlib import Path

LONGEST = 72
# Verbs with the ending of a past tense, a participle or a third person.
IMPERATIVES = set(
    "bring embed exceed feed focus need proceed seed shed speed spread succeed".split()
)
NO_VERBS = set("a an the this that these those some no more new first wip".split())


def problems(message):
    """Sentences that say what is wrong with a message."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if not subject.strip():
        return ["The message has no subject."]
    if re.match(r"(Merge|Revert|fixup!|squash!) ", subject):
        return []
    wrong = []
    if len(subject) > LONGEST:
        wrong.append(
            f"The subject has {len(subject)} characters; {LONGEST} are allowed."
        )
    if subject.endswith("."):
        wrong.append("The subject ends with a full stop.")
    verb = re.sub(r"^[^:]+: +", "", subject).split()[0].lower()
    inflected = re.fullmatch(r"\w+(ed|ing|[^s]s)", verb) and verb not in IMPERATIVES
    if inflected or verb in NO_VERBS:
        wrong.append(
            "The subject must begin with a verb in the imperative, as 'Add' or 'Keep'; "
            f"got {verb!r}."
        )
    if len(lines) > 1 and lines[1].strip():
        wrong.append("The second line must be empty.")
    return wrong


def main():
    """Print the problems; the exit status is 1 if there are some."""
    message = Path(sys.argv[1]).read_text(encoding="utf-8")
    wrong = problems(message)
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
