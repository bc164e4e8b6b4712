"""The options of pushes. `label` is also for the page of `kohort exporter`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

from cli.options import option

_pushing = partial(option, rich_help_panel="Pushing metrics")


@dataclass(frozen=True, slots=True, kw_only=True)
class PushOptions:
    otlp: Annotated[
        str | None,
        _pushing("--otlp", "Push metrics to this receiver over OTLP/HTTP: http://127.0.0.1:4318.", "URL"),
    ] = None
    otlp_header: Annotated[
        list[Path] | None,
        _pushing(
            "--otlp-header", "A file with a header for it: Authorization: Bearer SECRET; repeatable.", "FILE"
        ),
    ] = None
    otlp_insecure: Annotated[
        bool, _pushing("--otlp-insecure", "Allow http to another machine, in clear text.")
    ] = False
    label: Annotated[
        list[str] | None, _pushing("--label", "Add this label to all metrics; repeatable.", "NAME=VALUE")
    ] = None
