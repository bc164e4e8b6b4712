import os
import subprocess
import sys
import time

import pytest

from tests.support.slowness import AROUND_NS, Slowness

BUSY = "while True: pass"


def test_work_takes_longer_next_to_other_work() -> None:
    began = time.monotonic_ns()
    with Slowness() as slowness:
        time.sleep(1.5)
        middle = time.monotonic_ns()
        loops = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * (os.cpu_count() or 1))]
        try:
            time.sleep(1.5)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
        ended = time.monotonic_ns()
    before, loaded = slowness.between(began, middle - AROUND_NS), slowness.between(middle + AROUND_NS, ended)
    assert before >= 1
    assert loaded > 1.5


def test_there_is_no_factor_for_an_unmeasured_time() -> None:
    with Slowness() as slowness:
        time.sleep(0.3)
    with pytest.raises(AssertionError, match="measured"):
        slowness.between(0, 1)
