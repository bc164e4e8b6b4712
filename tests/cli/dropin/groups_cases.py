"""The command lines on which kohort-groups and kafka-groups.sh are compared."""

from functools import partial

from tests.cli.dropin.cases import NO_PORT
from tests.cli.dropin.harness import Case

on_groups = partial(Case, program="groups", scene="modern")
refused = partial(Case, program="groups", scene="none", connects=False)

CASES = [
    *(on_groups(line=f"--list {words}") for words in (
        "", "junk", "--share --share", "--protocol share", "--protocol a --protocol b", "--streams",
        "--consumer --group-type share", "--consumer --protocol x", "--consumer --share", "--share --streams",
        "--group-type Streams --protocol streams", "--group-type consumer --protocol ''", "--protocol nothing",
    )),
    *(on_groups(line=f"--list {words}", differs=("parser-trace",)) for words in (
        "--group-type nope", "--group-type share --group-type streams", "--bootstrap-server {server}",
        "--command-config a --command-config b",
    )),
    *(refused(line=line) for line in (
        "", "--list", "--list --nope", "--list -nope", "--help", "--bootstrap-server a:1",
        "--bootstrap-server a:1 --list --group-type", "--help --version --share",
    )),
    refused(line="--version --protocol x", differs=("version",)),
    refused(line="--bootstrap-server nocolon --list", differs=("own-words",), more=NO_PORT),
]  # fmt: skip
