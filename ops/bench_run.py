"""One measurement of `make bench`, in a process of its own: `python -m ops.bench_run WHAT POOLS`.

Prints seconds, resources and peak memory as JSON. What is made of the figures is `ops.bench`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import statistics
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ops.options import DEFAULT_STACK, ROOT
from ops.recorder import record
from ops.stack_file import PROJECT, StackFile, find, read

if TYPE_CHECKING:
    from collections.abc import Callable

_RUNS: Final = 5
_NOT_MEASURED: Final = (f"{PROJECT}:quotas", f"{PROJECT}:budget")


def stack_file(pools: int) -> StackFile:
    """The default stack; with `pools`, that many GPU pools like its first instead of its own."""
    original = read(find(DEFAULT_STACK, ROOT))
    if not pools:
        return original
    stated = json.loads(original.config[f"{PROJECT}:gpu-pools"])
    first = next(iter(stated.values()))
    many = {name: stated.get(name, first) for name in (*stated, *(f"pool-{_word(n)}" for n in range(pools)))}
    wanted = dict(list(many.items())[:pools])
    # What the account grants and what the stack may cost is not what is measured.
    kept = {key: text for key, text in original.config.items() if key not in _NOT_MEASURED}
    return replace(original, config={**kept, f"{PROJECT}:gpu-pools": json.dumps(wanted)})


def _word(number: int) -> str:
    """A number as letters, because names hold no index."""
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")


def recorder(file: StackFile) -> int:
    """The recorder's way: the number of resources it registers."""
    return len(record(file))


def bare(file: StackFile) -> int:
    """The SDK's own way, under a monitor that only counts. A preview, in which nothing has to be answered."""
    from ops.bench_monitor import Counter  # noqa: PLC0415
    from program import run  # noqa: PLC0415  # the program's packages are part of what is measured before

    counter = Counter(file)
    asyncio.run(counter.run(run))
    return counter.count


def measure(work: Callable[[StackFile], int], file: StackFile) -> dict[str, Any]:
    """The median of some runs, after one that nobody counts."""
    count = work(file)
    seconds = []
    for _ in range(_RUNS):
        gc.collect()
        started = time.process_time()
        count = work(file)
        seconds.append(time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {"seconds": statistics.median(seconds), "resources": count, "peak_mib": peak}


if __name__ == "__main__":
    ways = {"recorder": recorder, "bare": bare}
    print(json.dumps(measure(ways[sys.argv[1]], stack_file(int(sys.argv[2])))))
