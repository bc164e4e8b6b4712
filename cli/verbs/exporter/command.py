"""`kohort exporter`."""

from cli.options import ClustersOptions
from cli.otlp.options import PushOptions
from cli.verbs.exporter.options import ExporterOptions


def exporter(*, options: ExporterOptions, push: PushOptions, source: ClustersOptions) -> None:
    """Serve metrics of groups for Prometheus.

    Serves state, members, epochs and lag at /metrics, as OpenMetrics or in Prometheus's text format. One poll
    serves all scrapes. While the cluster does not answer, the metrics of the last poll are kept, kohort_up is 0,
    and kohort_last_poll_age_seconds grows.

    \b
    Examples:
      kohort exporter -b localhost:9092
      kohort exporter --once --match '^billing'
      kohort exporter --once --label team=payments
      kohort exporter -b localhost:9092 --otlp http://localhost:4318
    """
    from cli.verbs.exporter.action import export

    export(options, push, source)
