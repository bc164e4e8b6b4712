"""`kohort exporter` in a separate process, and its scrapes."""

from __future__ import annotations

import gzip
import signal
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as classic_families

from tests.cli.command import Kohort, Word
from tests.cli.verbs.watch.running import Running, in_pipe

OPENMETRICS = "application/openmetrics-text; version=1.0.0"
Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Figures:
    """Samples by name and labels."""

    samples: Mapping[str, Mapping[Labels, float]]

    @classmethod
    def read(cls, text: str, *, openmetrics: bool = False) -> Figures:
        """A scrape, by prometheus_client's own parser."""
        parse = text_string_to_metric_families if openmetrics else classic_families
        samples: dict[str, dict[Labels, float]] = {}
        for family in parse(text):
            for sample in family.samples:
                values = samples.setdefault(sample.name, {})
                labels = frozenset(sample.labels.items())
                assert labels not in values, f"{sample.name}{dict(labels)} is there twice"
                values[labels] = sample.value
        return cls(samples)

    def __call__(self, name: str, /, **labels: str) -> float | None:
        """The value of a sample, or None."""
        return self.samples.get(name, {}).get(frozenset(labels.items()))

    def by(self, name: str, label: str, /, **others: str) -> dict[str, float]:
        """The values of the samples with these labels, by another label of theirs."""
        pairs = frozenset(others.items())
        return {
            dict(labels)[label]: value
            for labels, value in self.samples.get(name, {}).items()
            if pairs <= labels and label in dict(labels)
        }


@dataclass(frozen=True)
class Response:
    """An answer over HTTP."""

    status: int
    body: bytes
    headers: Mapping[str, str]


@dataclass
class Exporter:
    """One run."""

    running: Running
    url: str
    tls: ssl.SSLContext | None = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def stderr(self) -> str:
        return self.running.stderr

    def get(self, path: str, **headers: str) -> Response:
        """An answer, whatever its status."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, headers={**self.headers, **named})
        try:
            answer = urllib.request.urlopen(request, timeout=30, context=self.tls)
        except urllib.error.HTTPError as refusal:
            answer = refusal
        with answer:
            return Response(answer.status, answer.read(), dict(answer.headers))

    def scrape(self, accept: str = OPENMETRICS, *, compressed: bool = True) -> Figures:
        """The metrics; checks what is said of them."""
        answer = self.get("/metrics", Accept=accept, Accept_Encoding="gzip" if compressed else "identity")
        assert answer.status == 200, answer
        is_openmetrics = answer.headers["Content-Type"].startswith("application/openmetrics-text")
        assert is_openmetrics is ("openmetrics" in accept)
        assert (answer.headers.get("Content-Encoding") == "gzip") is compressed
        body = gzip.decompress(answer.body) if compressed else answer.body
        return Figures.read(body.decode(), openmetrics=is_openmetrics)

    def stop(self) -> int:
        """End it by SIGTERM; the exit status."""
        return self.running.interrupt(signal.SIGTERM)


@contextmanager
def exporting(kohort: Kohort, directory: Path, *args: Word) -> Iterator[Exporter]:
    """An exporter on a free port, once it listens."""
    command = ("exporter", "--listen", "127.0.0.1:0", *args)
    with in_pipe(kohort, directory, *command, name="exporter") as running:
        running.wait_for(lambda run: run.stdout.endswith("\n"), "it listens")
        said = running.stdout
        assert said.startswith("Serving metrics on "), said
        yield Exporter(running, said.removeprefix("Serving metrics on ").strip().removesuffix("/metrics"))
