"""Where librdkafka alone can log in (Kerberos), its AdminClient answers; the tables are the same but for epochs."""

from collections.abc import Iterator

import pytest

from cli.dropin.describing import run_describe
from cli.dropin.errors import ToolFailure
from cli.dropin.main import action_of
from cli.dropin.parse import parse
from cli.sources.live import LiveSource
from tests.cli.dropin.harness import filled, run_here
from tests.cli.fleet import Fleet
from tests.cli.sources.live_source import admin_only

LINES = [
    "--list",
    "--list --type",
    "--describe --group {mixed} --group {simple} --group {java-static}",
    "--describe --verbose --group {confluent-consumer} --group {simple}",
    "--describe --state --group {mixed} --group {simple}",
    "--describe --members --group {java-static} --group {mixed}",
]


@pytest.fixture
def source(fleet: Fleet) -> Iterator[LiveSource]:
    """Give the cluster without the wire client."""
    with admin_only(fleet.broker) as source:
        yield source


def arguments(line: str, fleet: Fleet) -> list[str]:
    return ["--bootstrap-server", fleet.broker.bootstrap, *filled(line, fleet.groups).split()]


@pytest.mark.kafka
@pytest.mark.parametrize("line", LINES)
def test_the_tables_are_the_same(
    line: str, fleet: Fleet, source: LiveSource, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = run_here(arguments(line, fleet))
    options = parse(arguments(line, fleet))
    status = action_of(options)(options, source)
    said = capsys.readouterr()
    assert (status, said.out, said.err) == (expected.status, expected.stdout, expected.stderr)


@pytest.mark.kafka
def test_a_group_that_is_not_there(fleet: Fleet, source: LiveSource) -> None:
    options = parse(arguments("--describe --group missing", fleet))
    with pytest.raises(ToolFailure, match="missing: no such group"):
        run_describe(options, source)
