"""Blocks in other processes, each of which is this file, run as a program.

A process keeps what `map` makes of its blocks under a key. A sum goes from one process
to the next, and each adds its blocks' terms in their order.
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
    """Blocks that several processes own, one after the other."""

    def __init__(self, processes, key):
        self._processes, self._key = processes, key

    @classmethod
    def of(cls, processes, parts):
        """Give each process a list of blocks."""
        key = next(_keys)
        for process, blocks in zip(processes, parts, strict=True):
            process.ask("own", key, blocks)
        return cls(processes, key)

    def map(self, function, *args):
        key = next(_keys)
        for process in self._processes:
            process.ask("map", self._key, key, function, args)
        return ProcessBlocks(self._processes, key)

    def sum(self, function, *args):
        totals = None
        for process in self._processes:
            totals = process.ask("sum", self._key, totals, function, args)
        return totals


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
                answer = argument
                for terms in results(kept[key], *call):
                    answer = terms_added(answer, terms)
        except Exception as error:
            answer = error
        pickle.dump(pickle.dumps(answer), replies)
        replies.flush()


def results(blocks, function, args):
    return (function(block, *args) for block in blocks)


def terms_added(totals, terms):
    if totals is None:
        return [np.array(term, dtype=np.float64) for term in terms]
    return [total + term for total, term in zip(totals, terms, strict=True)]


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
