"""Files that a command writes beside its answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CommandError, UsageError

if TYPE_CHECKING:
    from pipeline.report.numbers import ReportNumbers


def check_writable(option: str, file: Path) -> None:
    """UsageError, before hours of work, where a file cannot be written."""
    if file.is_dir():
        raise UsageError(f"{option} {file}: is a directory; name a file in it")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"{option} {file}: the directory {file.parent} is not there")


def write_text(file: Path, text: str) -> None:
    """Write or replace a file. :raises CommandError: it cannot be written"""
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None


def write_report(file: Path, numbers: ReportNumbers) -> None:
    """A page, or where the name ends in .json the same numbers as data. :raises CommandError: it cannot be written"""
    if file.suffix.lower() == ".json":
        import json

        write_text(file, json.dumps(numbers.as_data(), indent=2, ensure_ascii=False) + "\n")
        return
    from cli.verbs.fleet.report_page import history_page

    write_text(file, history_page(numbers))
