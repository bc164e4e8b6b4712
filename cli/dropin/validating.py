"""`--validate-regex`."""

from __future__ import annotations

from cli.dropin.cluster import open_cluster
from cli.dropin.parse import Options
from cli.dropin.printing import print_remark
from cli.errors import ExitStatus
from cli.render.cells import safe_text
from cli.sources.wire_source import WireSource


def run_validation(options: Options) -> int:
    """Print whether the brokers accept the regex, whether it would harm them, and which topics match."""
    from groups.regex.broker import judge

    regex = options.regex or ""
    verdict = judge(regex)
    if not verdict.valid:
        # The tool does not print the part of the pattern that RE2/J names after its reason.
        reason = str(verdict.reason).partition(": `")[0]
        print(f"The regular expression `{safe_text(regex)}` is invalid: {reason}.")
        return ExitStatus.FALSE
    print(f"The regular expression `{safe_text(regex)}` is valid.")
    if verdict.regex is None:
        print_remark(f"\nWarning: do not subscribe to it, it would harm the brokers: {verdict.danger}.")
        return ExitStatus.FALSE
    if options.bootstrap_server:
        with open_cluster(options) as source:  # internal topics are included: brokers match these too
            if isinstance(source, WireSource):
                topics = list(source.client.metadata().topics)
            else:
                topics = [topic.name for topic in source.topics(None, end_offsets=False).items]
        matching = verdict.regex.matches(topics)
        print(
            f"It matches {len(matching)} of {len(topics)} topics{': ' if matching else '.'}{', '.join(matching)}"
        )
    return ExitStatus.DONE
