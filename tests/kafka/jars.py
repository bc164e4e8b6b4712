"""Fetch the jars of Apache Kafka that the tests run, once, into the user's cache; KOHORT_KAFKA=4.3.1 is another version
than the pom's."""

import hashlib
import os
import re
import shutil
import subprocess
from functools import partial
from pathlib import Path

from pipeline.sources.jars import filled
from tests.kafka.process import run_tool

POM = Path(__file__).with_name("pom.xml")
CONNECT_POM = Path(__file__).with_name("connect-pom.xml")
STREAMS_POM = Path(__file__).with_name("streams-pom.xml")
CONNECT_VERSION = "4.3.1"
"""The newest that Maven Central has the file connectors of; a worker of 4.4.0 cannot load those of 4.3.1."""
VERSION = "KOHORT_KAFKA"

OLDEST_JAVA = 17


class KafkaUnavailableError(Exception):
    """Java, Maven or Maven Central is missing; the message says which, and what to do."""


def kafka_version() -> str:
    named = os.environ.get(VERSION)
    if named:
        return named
    match = re.search(r"<kafka\.version>(.+?)</kafka\.version>", POM.read_text(encoding="utf-8"))
    if match is None:
        raise ValueError(f"{POM.name} has no kafka.version property")
    return match.group(1)


def cache(version: str) -> Path:
    return _place(f"kafka-{version}", POM)


def _place(name: str, pom: Path) -> Path:
    """The last part is a digest of the pom: a running broker keeps the jars it was started with."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    stamp = hashlib.sha256(pom.read_bytes()).hexdigest()[:12]
    return Path(home) / "kohort" / name / stamp


def fetch(version: str | None = None) -> Path:
    """Return the directory of the jars of `version`, by default that of the tests, filling it first if need be."""
    _require_java()
    version = version or kafka_version()
    return filled(cache(version), partial(_run_maven, version, POM))


def fetch_connect() -> Path:
    _require_java()
    directory = _place(f"connect-{CONNECT_VERSION}", CONNECT_POM)
    return filled(directory, partial(_run_maven, CONNECT_VERSION, CONNECT_POM))


def fetch_streams(version: str) -> Path:
    """The directory of the jars of Kafka Streams of a release, filled first if need be."""
    _require_java()
    return filled(_place(f"streams-{version}", STREAMS_POM), partial(_run_maven, version, STREAMS_POM))


def _require_java() -> None:
    java = shutil.which("java")
    if java is None:
        raise KafkaUnavailableError(f"no java on PATH; install a JDK of version {OLDEST_JAVA} or newer")
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    match = re.search(r'version "(\d+)', said)
    if match is None or int(match.group(1)) < OLDEST_JAVA:
        raise KafkaUnavailableError(
            f"java on PATH is not version {OLDEST_JAVA} or newer: {said.strip() or 'no answer'}"
        )


def _run_maven(version: str, pom: Path, directory: Path) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        raise KafkaUnavailableError(
            "Apache Kafka is not in the cache and there is no mvn on PATH to fetch it"
        )
    options = (f"-DoutputDirectory={directory}", f"-Dkafka.version={version}")
    command = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", *options]
    run_tool(command, f"fetching Apache Kafka {version} by Maven", KafkaUnavailableError)


if __name__ == "__main__":
    print(fetch())
