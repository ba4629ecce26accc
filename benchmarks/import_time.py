"""Time of an import in a fresh process: ``python import_time.py``.

A new Python runs each statement, in turns. The table has the median processor time,
minus the time of a Python that runs nothing. All modules are compiled before.
``--save`` names a CSV file.
"""

import argparse
import csv
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import sklearn
from _report import as_markdown, environment, interleaved

STATEMENTS = [
    "import skprob",
    "import numpy",
    "from sklearn.linear_model import LogisticRegression",
    "from skprob import EntmaxClassifier",
    "import skprob.linear_model, skprob.metrics, skprob.mappings",
]
HEADER = ["statement", "milliseconds"]


def run(statement):
    """Run a statement in a new process."""
    # If this variable is not set, Python saves compiled files, as it does for users.
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-c", statement], check=True, env=environ)


def processor_time():
    """Seconds that all children have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    calls = {statement: partial(run, statement) for statement in ["pass", *STATEMENTS]}
    seconds = interleaved(calls, args.repeats, clock=processor_time)
    nothing = seconds.pop("pass")
    table = [[name, f"{1000 * (s - nothing):.0f}"] for name, s in seconds.items()]
    print(environment(sklearn))
    print(as_markdown(HEADER, table))
    if args.save:
        with args.save.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([HEADER, *table])


if __name__ == "__main__":
    main()
