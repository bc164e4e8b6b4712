"""The command lines on which kohort-streams-application-reset and kafka-streams-application-reset.sh are compared;
CHANGING change the application `app` of modern_scene.py."""

from functools import partial

from tests.cli.dropin.cases import NO_PORT
from tests.cli.dropin.changing import Change
from tests.cli.dropin.harness import Case

on_streams = partial(Case, program="streams-application-reset", scene="modern")
refused = partial(Case, program="streams-application-reset", scene="none", connects=False)

CASES = [
    *(on_streams(line=f"--application-id missing --dry-run {words}") for words in (
        "", "--force", "--input-topics {orders}", "--input-topics {orders} --intermediate-topics {orders},nix",
        "--input-topics {orders},nope --input-topics nix", "--input-topics nope", "--input-topics ,",
        "--input-topics {orders} --to-offset 2", "--input-topics {orders} --to-offset 0",
        "--input-topics {orders} --to-offset 99", "--input-topics {orders} --to-latest",
        "--input-topics {orders} --shift-by -1", "--input-topics {orders} --by-duration P1D",
        "--input-topics {orders} --to-datetime 2036-01-01T00:00:00.000",
    )),
    *(on_streams(line=f"--application-id missing --dry-run {words}", differs=("stack-trace",)) for words in (
        "--internal-topics {orders}", "--input-topics {orders} --to-datetime x",
    )),
    on_streams(line="--application-id {counting} --dry-run --intermediate-topics {orders}"),
    *(refused(line=line) for line in (
        "", "--help", "--dry-run", "--application-id a --nope", "--application-id a --to-latest --to-earliest",
        "--application-id a --shift-by 1 --from-file f", "--application-id a --config-file a --command-config b",
        "--application-id", "--application-id a --version --input-topics",
    )),
    refused(line="--version", differs=("version",)),
    refused(
        line="--application-id a --bootstrap-server nocolon", differs=("own-words",), more=NO_PORT
    ),
    on_streams(
        line="--application-id a --config-file /nowhere", differs=("own-words",),
        more="/nowhere: the file does not exist. Check the path.",
    ),
]  # fmt: skip

change = partial(Change, program="streams-application-reset", scene="modern")
CHANGING = [
    *(change(line=f"--application-id {{app}} {words}") for words in (
        "", "--input-topics {orders}", "--input-topics {orders} --shift-by 2", "--intermediate-topics {orders}",
        "--internal-topics {changelog} --input-topics {orders} --to-latest", "--input-topics {orders} --dry-run",
    )),
    change(
        line="--application-id {app} --input-topics {orders} --from-file {file}",
        file="{orders},0,3\n{orders},1,0\n{orders},2,9\n",
    ),
]  # fmt: skip
