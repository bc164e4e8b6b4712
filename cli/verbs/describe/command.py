"""`kohort describe`."""

from cli.options import ClustersOptions, OutputOptions, RepeatOptions
from cli.verbs.describe.options import DescribeOptions, DescribeSelection


def describe(
    *,
    selection: DescribeSelection,
    options: DescribeOptions,
    source: ClustersOptions,
    output: OutputOptions,
    repeat: RepeatOptions,
) -> None:
    """Show offsets, lag, members or state of groups.

    --migration shows how far a group is on its path to another protocol.

    \b
    Examples:
      kohort describe billing
      kohort describe --all-groups --only-with-lag
      kohort describe checkout --members --verbose
    """
    from cli.verbs.describe.view import describe_groups

    describe_groups(selection, options, source, output, repeat)
