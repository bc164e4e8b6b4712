"""The pytest plugin in another project: the examples of the documentation run unchanged."""

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import DOCS, ROOT, blocks

TIMEOUT_S = 240


def run_pytest(project: Path, *words: str) -> tuple[int, str]:
    """Run pytest in a separate process, with no other plugin. Returns the status and the output."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTEST")},
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": str(ROOT),  # an installation that is older than the package does not know it
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "kohort_testing.plugin", "-p", "no:cacheprovider", *words],
        cwd=project, env=environment, text=True, capture_output=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def page_tests() -> str:
    (tests,) = (
        block.text for block in blocks(DOCS / "testing.md", "python") if "# test_orders.py" in block.text
    )
    return tests


def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    (tmp_path / "test_orders.py").write_text(page_tests())
    status, printed = run_pytest(tmp_path, "-x")
    assert status == 0, printed
    assert "3 passed" in printed


def test_the_test_of_the_page_finds_an_eager_service(tmp_path: Path) -> None:
    (tmp_path / "test_orders.py").write_text(page_tests().replace('"cooperative-sticky"', '"range"'))
    status, printed = run_pytest(tmp_path, "-k", "takes_only")
    assert status == 1, printed
    assert "assert 6 == 3" in printed


USES = """
import pytest


@pytest.fixture(scope="session")
def kohort_session_options():
    return {"topics": {"shared": 2}}


@pytest.mark.kohort_broker(topics={"orders": 3}, config={"group.max.size": 7})
def test_options(kohort_broker, kohort_session_broker):
    from confluent_kafka.admin import AdminClient

    own = AdminClient({"bootstrap.servers": kohort_broker.bootstrap_servers}).list_topics(timeout=10)
    shared = AdminClient({"bootstrap.servers": kohort_session_broker.bootstrap_servers}).list_topics(timeout=10)
    assert len(own.topics["orders"].partitions) == 3
    assert len(shared.topics["shared"].partitions) == 2


@pytest.mark.kohort_broker(config={"group.max.size": "many"})
def test_bad_config(kohort_broker):
    pass


@pytest.mark.kohort_broker(topic={"orders": 3})
def test_bad_option(kohort_broker):
    pass
"""


def test_options_come_from_the_marker_and_a_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_uses.py").write_text(USES)
    (tmp_path / "cli").mkdir()  # a package of the project with the name of one of Kohort's
    (tmp_path / "cli" / "__init__.py").write_text("raise RuntimeError('not this one')")
    status, output = run_pytest(tmp_path, "--strict-markers")
    assert status == 1, output
    assert "1 passed, 2 errors" in output
    assert "kohort serve does not start: kohort: group.max.size" in output
    assert "kohort_broker has no option topic; its options are brokers, topics and config" in output


def test_pytest_loads_nothing_of_kohort_but_the_plugin(tmp_path: Path) -> None:
    (tmp_path / "test_none.py").write_text(
        "import sys\n\n\ndef test_none():\n"
        "    names = ('cli', 'wire', 'groups', 'coordinator', 'confluent_kafka', 'asyncio', 'typer', 'numpy')\n"
        "    assert [name for name in names if name in sys.modules] == []\n"
    )
    status, output = run_pytest(tmp_path)
    assert status == 0, output


def test_the_entry_point_is_the_plugin() -> None:
    assert (
        '[project.entry-points.pytest11]\nkohort = "kohort_testing.plugin"'
        in (ROOT / "pyproject.toml").read_text()
    )
