"""A session ends although a stream called back into its process."""

import subprocess
import sys
from pathlib import Path

from pyspark.sql import SparkSession

STREAM = """
import sys
from pipeline.session import SessionSettings, session
from tests.pipeline.conftest import CONF
with session(SessionSettings(master="local[2]", conf=CONF, input_bytes=0)) as spark:
    lines = spark.readStream.text(sys.argv[1]).writeStream.option("checkpointLocation", sys.argv[2])
    stream = lines.foreachBatch(lambda rows, number: print("batch", number, rows.columns, flush=True))
    stream.trigger(availableNow=True).start().awaitTermination()
print("ended")
"""
TIMEOUT_S = 200.0


def test_a_session_ends_whose_stream_called_back(spark: SparkSession, tmp_path: Path) -> None:
    assert spark  # Spark can be had
    source = tmp_path / "source"
    source.mkdir()
    (source / "one.txt").write_text("a line\n")
    said = subprocess.run(
        [sys.executable, "-c", STREAM, str(source), str(tmp_path / "checkpoint")],
        check=False, capture_output=True, text=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    assert (said.returncode, said.stderr) == (0, "")
    assert said.stdout.splitlines() == ["batch 0 ['value']", "ended"]
