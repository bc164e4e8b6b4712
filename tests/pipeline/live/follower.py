"""`python -m tests.pipeline.live.follower BOOTSTRAP OUT CHECKPOINT [STEP]`: follow a topic to its present end.

With a step, `publish` or `after`, the process kills itself: before the tables of the first batch that is not there yet
count, or when they do and the stream does not know it yet.
"""

import os
import signal
import sys

from pipeline.decode.records import LogReader
from pipeline.history import HistoryProgress, HistoryStep, run_history
from pipeline.live import follow_history, stream_events
from pipeline.session import SessionSettings, session
from pipeline.sources.jars import kafka_jars
from tests.pipeline.conftest import CONF

PUBLISH, AFTER = "publish", "after"
PER_BATCH = {"maxOffsetsPerTrigger": "3500"}


def main() -> None:
    bootstrap, out, checkpoint, *steps = sys.argv[1:]

    def look(progress: HistoryProgress) -> None:
        if steps == [PUBLISH] and progress.step is HistoryStep.PUBLISH:
            _die()

    def add(batch: LogReader, _: int) -> None:
        run_history(spark, batch, out)
        _die()

    with session(SessionSettings(master="local[2]", jars=kafka_jars(), conf=CONF, input_bytes=0)) as spark:
        if steps == [AFTER]:
            stream_events(spark, bootstrap, PER_BATCH, sink=add, checkpoint=checkpoint).awaitTermination()
        else:
            follow_history(spark, bootstrap, out, PER_BATCH, checkpoint=checkpoint, progress=look).wait()


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
