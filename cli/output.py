"""Print a command's document in the requested format, and choose the exit status."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

import typer

from cli.errors import CommandError, ExitStatus, UsageError
from cli.options import FileOptions, OutputOptions
from cli.progress import cleared, discard
from cli.render.cells import quoted_start, safe_text
from cli.render.document import Document
from cli.render.output_format import FOR_PROGRAMS, OutputFormat
from groups.files import replace_file
from groups.listing import Cause, Problem

NO_BREAK = "\N{NO-BREAK SPACE}"  # A blank at which no line is broken
STDOUT = Path("-")
CLUSTER: ContextVar[str] = ContextVar("cluster", default="")  # The one of several that this thread reads


def emit(document: Document, options: OutputOptions, status: ExitStatus = ExitStatus.DONE) -> None:
    """Print data to stdout and errors to stderr, and exit; errors set the status, by `status_of`; REFUSED stays. A long
    answer is read meanwhile: what is found then is printed after it."""
    late = [] if document.late is None else document.late.remarks
    found = len(late)
    for remark in (*document.remarks, *late):
        notice(remark)
    document = arranged(document, options)
    # Headings without rows would look like an answer; a document for programs also contains the errors.
    if options.output in FOR_PROGRAMS or not document.errors or document.rows_or_text:
        write_out(lambda stream: render(document, options.output, stream))
    for remark in late[found:]:
        notice(remark)
    errors = document.all_errors
    for error in errors:
        notice(f"{safe_text(error.subject)}: {error.message}")
    if errors and status is not ExitStatus.REFUSED:
        status = status_of(errors, shown=bool(document.rows_or_text or document.data.get("groups")))
    if status is not ExitStatus.DONE:
        raise typer.Exit(int(status))


def status_of(errors: Iterable[Problem], *, shown: bool) -> ExitStatus:
    """DONE without errors; REFUSED if nothing is `shown` because this user is not authorized for any of it."""
    causes = {error.cause for error in errors}
    if not causes:
        return ExitStatus.DONE
    return ExitStatus.REFUSED if causes == {Cause.FORBIDDEN} and not shown else ExitStatus.UNREADABLE


def arranged(document: Document, options: OutputOptions) -> Document:
    """The document with its tables arranged by the options. UsageError for an unknown column."""
    if options.shape is None:
        return document
    from cli.render.csv_tables import shaped

    return shaped(document, options.shape)


@contextmanager
def about(cluster: str) -> Iterator[None]:
    """Begin the notices of this thread with the name of a cluster."""
    token = CLUSTER.set(cluster)
    try:
        yield
    finally:
        CLUSTER.reset(token)


def notice(message: str, lead: str = "kohort: ") -> None:
    """Print a line for the user on stderr; control characters are escaped."""
    message = f"{CLUSTER.get()}: {message}" if CLUSTER.get() else message
    text = "\n".join(map(safe_text, quoted_start(message).split("\n")))
    if sys.stderr is None:  # print would use stdout
        return
    try:
        with cleared():
            print(_wrapped(f"{lead}{text}", sys.stderr), file=sys.stderr)
    except OSError:  # there is no other place to report that nothing can be reported
        discard(sys.stderr)


def _wrapped(text: str, stream: TextIO) -> str:
    """The lines of a message, on a terminal broken between words; code between backticks is a word."""
    if not stream.isatty():
        return text
    from textwrap import fill

    from cli.render.cells import prose_parts
    from cli.render.table import terminal_width

    def unbroken(line: str) -> str:
        parts = prose_parts(line)
        return "".join(f"`{part}`".replace(" ", NO_BREAK) if is_code else part for part, is_code in parts)

    width = terminal_width(stream)
    lines = (
        fill(unbroken(line), width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        for line in text.split("\n")
    )
    return "\n".join(lines).replace(NO_BREAK, " ")


def write_line(text: str) -> bool:
    """Print a line to stdout and flush it, as `write_out` does."""
    return write_out(lambda stream: stream.write(text + "\n"))


def report(text: str) -> None:
    """Print a line that says what was done to stdout, or to stderr if its reader has left. Raises CommandError."""
    written = False
    try:
        written = write_line(text)
    finally:
        if not written:
            notice(text)


def file_of(options: FileOptions) -> Path | None:
    """The file to write, None for stdout; earlier names of its option get a notice. UsageError for a format."""
    earlier = options.earlier_file
    if earlier is None:
        return None if options.file == STDOUT else options.file
    if str(earlier) in (form.value for form in OutputFormat):
        raise UsageError(f"this command has one format; --file FILE names a file, also one called {earlier}")
    if options.file is not None:
        raise UsageError("--file and -o name two files; give --file alone")
    notice("-o, --output and --out are earlier names of --file, the file that this command writes")
    return None if earlier == STDOUT else earlier


def write_file(file: Path, parts: Iterable[str], *, new: bool = False, newline: str | None = None) -> None:
    """Write a file of texts at once. Raises CommandError. Raises UsageError: a `new` one exists."""
    try:
        replace_file(file, parts, newline=newline, new=new)
    except FileExistsError:
        raise UsageError(f"{file} exists already: name another file, or overwrite it with --force") from None
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None


def write_out(write: Callable[[TextIO], object]) -> bool:
    """Write to stdout; False if the reader has closed the pipe (`| head`), which is no error. Raises CommandError."""
    if sys.stdout is None:
        raise CommandError("standard output is closed")
    try:
        with cleared():
            write(sys.stdout)
            sys.stdout.flush()
    except BrokenPipeError:
        discard(sys.stdout)
        return False
    except OSError as error:
        discard(sys.stdout)
        raise CommandError(f"standard output cannot be written: {error.strerror or error}") from None
    return True


def write_next(write: Callable[[TextIO], object]) -> None:
    """`write_out` for output without an end: exits quietly if the reader has closed the pipe."""
    if not write_out(write):
        raise typer.Exit(int(ExitStatus.DONE))


def as_utf8(stream: TextIO) -> TextIO:
    """The stream; for a file that is read as UTF-8, whatever the terminal's encoding is."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8")
    return stream


def _escape(stream: TextIO, errors: str) -> None:
    """Set how a stream writes characters that its encoding lacks."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors=errors)


def render(document: Document, output: OutputFormat, stream: TextIO) -> None:
    match output:
        case OutputFormat.TABLE:
            from cli.render.table import render_table

            render_table(document, stream)
        case OutputFormat.JSON:
            from cli.render.json_text import json_text

            stream.writelines(json_text(document.items(), indent=2 if stream.isatty() else None))
        case OutputFormat.YAML:
            from groups.yaml_files import yaml_lines

            _escape(stream, "backslashreplace")  # YAML's escapes, unlike JSON's, have no surrogate pairs
            stream.writelines(yaml_lines(document.items()))
        case OutputFormat.CSV:
            from cli.render.csv_tables import render_csv

            render_csv(document, stream)
        case OutputFormat.MARKDOWN:
            from cli.render.markdown import render_markdown

            render_markdown(document, stream)
        case OutputFormat.HTML:
            from cli.render.html import render_html

            _escape(stream, "xmlcharrefreplace")
            render_html(document, stream)
