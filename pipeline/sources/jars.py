"""The jars of Spark's Kafka source, which pyspark lacks: Maven fetches them once, into the user's cache."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from groups.times import seconds_text
from pipeline.errors import PipelineError
from pipeline.jvm import check_extra

KAFKA_SOURCE = "spark-sql-kafka-0-10"
SCALA = "2.13"
FETCH_TIMEOUT_S = 240
_SETTINGS = ("spark.jars", "spark.jars.packages", "spark.driver.extraClassPath")

_POM = """\
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kohort</groupId>
  <artifactId>kafka-source</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
_DEPENDENCY = """\
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{artifact}</artifactId>
      <version>{version}</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>"""


class MissingKafkaSource(PipelineError):
    """Spark's Kafka source is not available; the message says why, and what to do."""


def kafka_jars(jars: Sequence[str] = (), conf: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """`jars`, and those of Spark's Kafka source unless `jars` or Spark's settings `conf` contain it, for
    `SessionSettings`: a running session accepts none. The first call fetches 10 MB. Raises MissingSpark: the extra is
    not installed. Raises MissingKafkaSource: the jars are not cached, and Maven is missing or fails."""
    check_extra()
    settings = [(conf or {}).get(name, "") for name in _SETTINGS]
    if any(KAFKA_SOURCE in text for text in (*(Path(jar).name for jar in jars), *settings)):
        return tuple(jars)
    return (*jars, *(str(jar) for jar in sorted(_fetched().glob("*.jar"))))


def cache() -> Path:
    """The directory of the jars, existing or not. Its last part is a digest of the POM."""
    home = os.environ.get("XDG_CACHE_HOME")
    if not home and os.environ.get("HOME") == "":
        why = "HOME is empty, so there is no directory for Spark's jars"
        raise MissingKafkaSource(f"{why}; set it, or XDG_CACHE_HOME")
    home = home or str(Path.home() / ".cache")
    stamp = hashlib.sha256(_pom().encode()).hexdigest()[:12]
    return Path(home) / "kohort" / f"spark-kafka-{version('pyspark')}" / stamp


def _jars() -> tuple[tuple[str, str, str], ...]:
    """Group, artifact and version of each jar: the source of Spark's own version, the others work with all of 4."""
    return (
        ("org.apache.spark", f"{KAFKA_SOURCE}_{SCALA}", version("pyspark")),
        ("org.apache.spark", f"spark-token-provider-kafka-0-10_{SCALA}", "4.0.0"),
        ("org.apache.commons", "commons-pool2", "2.12.0"),
        ("org.apache.kafka", "kafka-clients", "3.9.1"),
    )


def _pom() -> str:
    """The POM for Maven: every jar by name and without its dependencies, which pyspark contains."""
    jars = (_DEPENDENCY.format(group=group, artifact=name, version=number) for group, name, number in _jars())
    return _POM.format(dependencies="\n".join(jars))


def _fetched() -> Path:
    def fetch(directory: Path) -> None:
        pom = directory.with_name("pom.xml")
        pom.write_text(_pom(), encoding="utf-8")
        _run_maven(pom, directory)

    return filled(cache(), fetch)


def _run_maven(pom: Path, directory: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise MissingKafkaSource(_advice("and there is no mvn on the PATH to fetch it"))
    goal = ("dependency:copy-dependencies", f"-DoutputDirectory={directory}")
    command = [maven, "-q", "-B", "-f", str(pom), *goal]
    try:
        subprocess.check_output(  # noqa: S603  (the Maven of the PATH)
            command,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=FETCH_TIMEOUT_S,
        )
    except subprocess.CalledProcessError as error:
        lines = error.stdout.splitlines()
        # The first lines of Maven's errors; the rest is advice on Maven.
        errors = "\n".join(([line for line in lines if line.startswith("[ERROR]")] or lines)[:5])[:1500]
        why = f"and Maven could not fetch it:\n{errors}\n"
        raise MissingKafkaSource(_advice(why)) from None
    except subprocess.TimeoutExpired:
        why = f"and Maven did not fetch it within {seconds_text(FETCH_TIMEOUT_S)}"
        raise MissingKafkaSource(_advice(why)) from None


def how_to_get() -> str:
    """The advice for a user without the source."""
    names = ", ".join(f"{artifact}-{number}.jar" for _, artifact, number in _jars())
    return f"pass its jars with --jars: {names}"


def _advice(what: str) -> str:
    return f"Spark's Kafka source is not in the cache {what}: install Maven, or {how_to_get()}"


def filled(target: Path, fill: Callable[[Path], None]) -> Path:
    """Return the directory `target`, which `fill` creates first if it does not exist. Two processes may do this at
    once: each fills a separate directory, and the first rename wins."""
    if target.is_dir():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = tempfile.TemporaryDirectory(prefix=".fill-", dir=target.parent, ignore_cleanup_errors=True)
    with temporary as scratch:
        made = Path(scratch) / "filled"
        fill(made)
        try:
            made.rename(target)
        except OSError:
            # Another process was faster; anything else is an error.
            if not target.is_dir():
                raise
    return target
