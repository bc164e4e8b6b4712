"""`kohort list` of 20 clusters, of which one is slow and two are dead: `python -m benchmarks.clusters`.

Each live cluster is a `kohort serve`. The slow one answers ListGroups after a second; of the dead ones, one refuses
connections and one never answers. Medians of wall time and, in brackets, processor time of whole processes.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from tests.cli.served_data import serving
from tests.wire.client.peer import black_hole, closed_port

LIVE = 18
SLOW_S, LIMIT_S = 1.0, 2.0
RUNS = 5
KOHORT = str(Path(sys.executable).with_name("kohort"))


def main() -> None:
    with tempfile.TemporaryDirectory() as home, ExitStack() as stack:
        contexts = Path(home) / "config.d"
        contexts.mkdir()
        env = {**os.environ, "KOHORT_CONFIG": str(contexts)}
        servers = [stack.enter_context(serving(None, "--topic", "orders")).bootstrap for _ in range(LIVE)]
        dead = [stack.enter_context(closed_port()), stack.enter_context(black_hole())]
        names = [f"live-{number}" for number in range(LIVE)] + ["refusing", "silent"]
        for name, address in zip(names, [*servers, *dead], strict=True):
            (contexts / f"{name}.yaml").write_text(f"bootstrap_server: {address}\n")
        delay = [KOHORT, "fault", "delay", f"{SLOW_S:.0f}s", "-b", servers[0], "--api", "ListGroups"]
        subprocess.run(delay, check=True, capture_output=True, env=env)
        live, limit = names[:LIVE], ["--timeout", f"{LIMIT_S:.0f}s"]
        cases = {
            "a fast cluster": (["--context", live[1]], 0),
            "the slow cluster": (["--context", live[0]], 0),
            f"{LIVE} live clusters": (["--context", ",".join(live)], 0),
            f"all {len(names)}, two dead, limit {LIMIT_S:.0f} s": (["--all-contexts", *limit], 3),
        }
        print(f"{'kohort list of':<34} {'ms':>14}")
        times = {name: _times(words, status, env) for name, (words, status) in cases.items()}
        for name, (wall_s, cpu_s) in times.items():
            print(f"{name:<34} {wall_s * 1000:>6.0f} ({cpu_s * 1000:.0f})")
        (slow_s, _), (live_s, _), (all_s, _) = list(times.values())[1:]
        bounds = (
            ("more than the slow one", live_s - slow_s, 0.3),
            ("more than the slow one or the limit", all_s - slow_s - (LIMIT_S - SLOW_S), 0.3),
        )
        for what, more_s, most_s in bounds:
            verdict = "holds" if more_s <= most_s else "FAILS"
            print(f"{what:<34} {more_s * 1000:>6.0f}, at most {most_s * 1000:.0f}: {verdict}")


def _times(words: Sequence[str], status: int, env: Mapping[str, str]) -> tuple[float, float]:
    """Medians of wall and processor seconds; the first run is not counted."""
    counted = []
    for _ in range(RUNS + 1):
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run([KOHORT, "list", *words], env=env, capture_output=True, check=False, text=True)
        wall_s, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != status:
            raise SystemExit(f"kohort list {' '.join(words)} ended with {done.returncode}: {done.stderr}")
        counted.append((wall_s, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    wall, cpu = zip(*counted[1:], strict=True)
    return statistics.median(wall), statistics.median(cpu)


if __name__ == "__main__":
    main()
