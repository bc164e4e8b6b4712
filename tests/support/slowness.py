"""How much slower than its processors this machine is, because others use them too: measured, not allowed for. A bound
of a second is a second of work. On a busy machine the same work takes longer. A separate process measures how much
longer: it works for 20 ms of processor time five times a second, and records how long that took."""

import subprocess
import sys
import tempfile
from dataclasses import dataclass

SAMPLE_S = 0.02
PAUSE_S = 0.18
AROUND_NS = 1_000_000_000
_WORK = f"""
import sys, time
while True:
    began, worked = time.monotonic_ns(), time.process_time()
    while time.process_time() - worked < {SAMPLE_S}:
        pass
    print(began, time.monotonic_ns(), flush=True)
    time.sleep({PAUSE_S})
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """Work of SAMPLE_S of processor time, by `time.monotonic_ns`."""

    began_ns: int
    ended_ns: int

    @property
    def slowness(self) -> float:
        return max(1.0, (self.ended_ns - self.began_ns) / 1e9 / SAMPLE_S)


class Slowness:
    """Measures as long as the context lasts."""

    def __init__(self) -> None:
        self._output = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen([sys.executable, "-c", _WORK], stdout=self._output)
        self.samples: tuple[Sample, ...] = ()

    def __enter__(self) -> "Slowness":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()
        self._output.seek(0)
        lines = [line.split() for line in self._output]
        self._output.close()
        self.samples = tuple(Sample(int(line[0]), int(line[1])) for line in lines if len(line) == 2)

    def between(self, began_ns: int, ended_ns: int) -> float:
        """By how much work took longer between the two and up to a second around, on average; 1 on a quiet machine. To
        be asked when the context is over."""
        within = [
            sample.slowness
            for sample in self.samples
            if sample.ended_ns >= began_ns - AROUND_NS and sample.began_ns <= ended_ns + AROUND_NS
        ]
        assert within, "nothing was measured at that time"
        return sum(within) / len(within)
