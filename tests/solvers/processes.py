"""Blocks in another process, which is this file, run as a program.

The process keeps what `map` makes of its blocks under a key. A sum adds the terms of
the blocks in their order. Each block is given a copy of the function and the arguments,
as if it had a process for itself.
"""

import itertools
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np

import skprob
from skprob.data import Blocks

_keys = itertools.count()
#: Folder of the package that is tested, which need not be the installed one.
SOURCE = str(Path(skprob.__file__).parents[1])


class Process:
    """A process that holds some blocks, and the sizes of its messages."""

    def __init__(self):
        self.n_bytes_sent, self.n_bytes_received = [], []
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": SOURCE},
        )

    def ask(self, *request):
        message = pickle.dumps(request)
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()
        reply = pickle.load(self._process.stdout)
        self.n_bytes_sent.append(len(message))
        self.n_bytes_received.append(len(reply))
        answer = pickle.loads(reply)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def end(self):
        self._process.stdin.close()
        self._process.wait(30)
        self._process.stdout.close()


class ProcessBlocks(Blocks):
    """Blocks that a process owns."""

    def __init__(self, process, key):
        self._process, self._key = process, key

    @classmethod
    def of(cls, process, blocks):
        """Give the process a list of blocks."""
        key = next(_keys)
        process.ask("own", key, blocks)
        return cls(process, key)

    def map(self, function, *args):
        key = next(_keys)
        self._process.ask("map", self._key, key, function, args)
        return ProcessBlocks(self._process, key)

    def sum(self, function, *args):
        return self._process.ask("sum", self._key, None, function, args)


def serve(requests, replies):
    kept = {}
    while True:
        try:
            verb, key, argument, *call = pickle.loads(pickle.load(requests))
        except EOFError:
            return
        try:
            answer = None
            if verb == "own":
                kept[key] = argument
            elif verb == "map":
                kept[argument] = list(results(kept[key], *call))
            else:
                for terms in results(kept[key], *call):
                    answer = terms_added(answer, terms)
        except Exception as error:
            answer = error
        pickle.dump(pickle.dumps(answer), replies)
        replies.flush()


def results(blocks, function, args):
    copied = pickle.dumps((function, args))
    for block in blocks:
        function, args = pickle.loads(copied)
        yield function(block, *args)


def terms_added(totals, terms):
    if totals is None:
        return [np.array(term, dtype=np.float64) for term in terms]
    return [total + term for total, term in zip(totals, terms, strict=True)]


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
