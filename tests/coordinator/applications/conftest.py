"""Keeps what becomes of the applications, for the table."""

import os

import pytest

from tests.coordinator.applications.page import Case, cases, write_page

WRITE = "KOHORT_APPLICATIONS_PAGE"
_passed: dict[Case, bool] = {}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    case = dict(report.user_properties).get("case")
    if case is not None and report.when == "call":
        server, client, check = map(str, case)  # type: ignore[call-overload]
        _passed[server, client, check] = report.passed


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the table once all were tried; with several processes, the one that has all outcomes does."""
    is_worker = hasattr(session.config, "workerinput")
    if os.environ.get(WRITE) == "1" and not is_worker and set(_passed) == set(cases()):
        write_page(_passed)
