"""The table of docs/applications.md: which check holds for which client, on every server."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path

import confluent_kafka

from tests.coordinator.applications.checks import CHECKS
from tests.coordinator.applications.clients import CLIENTS
from tests.coordinator.applications.servers import SERVERS
from tests.kafka.jars import kafka_version
from tests.kafka.other_programs import HERE

PAGE = Path(__file__).parents[3] / "docs" / "applications.md"
BEGIN, END = "<!-- made by `make applications` -->\n", "<!-- end -->\n"
Case = tuple[str, str, str]  # a server, a client, a check


def cases() -> Iterator[Case]:
    for server in SERVERS:
        for client, made in CLIENTS.items():
            for check, (_, can) in CHECKS.items():
                if can(made):
                    yield server, client, check


def table(passed: Mapping[Case, bool]) -> str:
    rows = [["", *CHECKS], [":--", *[":-:"] * len(CHECKS)]]
    for client, made in CLIENTS.items():
        row = [f"{client} {_version(made.library)}"]
        for check, (_, can) in CHECKS.items():
            failed = [server for server in SERVERS if not passed.get((server, client, check), False)]
            row.append("–" if not can(made) else f"not {', '.join(failed)}" if failed else "yes")
        rows.append(row)
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def write_page(passed: Mapping[Case, bool]) -> None:
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{table(passed)}\n\n{END}{after}", encoding="utf-8")


def _version(library: str) -> str:
    match library:
        case "java":
            return kafka_version()
        case "librdkafka":
            return f"{version('confluent-kafka')} (librdkafka {confluent_kafka.libversion()[0]})"
        case "kafkajs":
            release: str = json.loads((HERE / "node" / "package.json").read_text())["dependencies"][library]
            return release
        case "sarama" | "franz-go":
            modules = (HERE / "go" / "go.mod").read_text()
            (release,) = re.findall(rf"/{library} v(\S+)", modules)
            return release
        case _:
            return version(library)
