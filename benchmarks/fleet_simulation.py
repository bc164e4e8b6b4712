"""Seeds of the standard scenario on Spark, on one core and two: `make bench-fleet-simulation` runs it.

Wall time is from the first row to the tables on disk and their sums, without Spark's start. Runs on one core and on
two alternate, each in a separate process; the fastest one counts. `--seeds 2000` is a short run; 100,000 take hours.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from coordinator.simulation.scenario_file import shipped_scenario
from coordinator.simulation.seeds import always
from pipeline.session import SessionSettings, session
from pipeline.simulation.play import SimulationCase
from pipeline.simulation.run import simulate

SEEDS = 100_000
SCENARIO = "standard"
BOUND = 1.8
"""The required speedup of two cores over one."""


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--cores", type=int, help="only this many, printed as seconds")
    options = parser.parse_args()
    if options.cores is not None:
        print(_seconds(options.seeds, options.cores))
        return
    print(f"{platform.machine()}, Python {platform.python_version()}, {os.cpu_count()} processors")
    fastest = {1: float("inf"), 2: float("inf")}
    for _ in range(options.turns):
        for cores in fastest:
            fastest[cores] = min(fastest[cores], _in_own_process(options.seeds, cores))
    print(
        f"{SCENARIO + ', ' + format(options.seeds, ',') + ' seeds':<28} {'wall':>9} {'per second':>11} {'and core':>9}"
    )
    for cores, wall in fastest.items():
        each = options.seeds / wall
        print(
            f"{cores} {'core' if cores == 1 else 'cores':<26} {wall:>8.1f}s {each:>11.2f} {each / cores:>9.2f}"
        )
    ratio = fastest[1] / fastest[2]
    print(f"one core to two {ratio:.2f}, bound {BOUND}{'' if ratio >= BOUND else ': missed'}")


def _in_own_process(seeds: int, cores: int) -> float:
    command = [
        sys.executable,
        "-m",
        "benchmarks.fleet_simulation",
        "--seeds",
        str(seeds),
        "--cores",
        str(cores),
    ]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def _seconds(seeds: int, cores: int) -> float:
    case = SimulationCase(
        called=SCENARIO, name=SCENARIO, scenario_of=always(shipped_scenario(SCENARIO)), settings={}
    )
    settings = SessionSettings(master=f"local[{cores}]", conf={"spark.driver.memory": "1g"}, input_bytes=0)
    with tempfile.TemporaryDirectory(prefix="kohort-bench-") as directory, session(settings) as spark:
        started = time.perf_counter()
        run = simulate(spark, [case], range(1, seeds + 1), out=str(Path(directory) / "tables"))
        wall = time.perf_counter() - started
    if sum(run.verdicts.values()) != seeds or run.verdicts["threw"]:
        raise SystemExit(f"not every seed was played: {run.verdicts}")
    return wall


if __name__ == "__main__":
    main()
