"""`kohort diagnose`."""

from cli.options import ClustersOptions, OutputOptions, SelectionOptions
from cli.verbs.diagnose.options import DiagnoseOptions


def diagnose(
    *, selection: SelectionOptions, options: DiagnoseOptions, source: ClustersOptions, output: OutputOptions
) -> None:
    """Find problems in groups, and how to fix them.

    Exit status: 0 no errors, 1 errors found, 3 something could not be read.

    \b
    Examples:
      kohort diagnose fraud
      kohort diagnose --all-groups -b localhost:9092 --for 30s
    """
    from cli.verbs.diagnose.action import diagnose_groups

    diagnose_groups(selection, options, source, output)
