"""`kohort serve`."""

from cli.verbs.serve.options import ServeOptions


def serve(*, options: ServeOptions) -> None:
    """Run the embedded coordinator as a Kafka broker.

    Real clients connect to it, produce and consume. Without --data, records, groups, offsets and topics are in
    memory and are lost when the process exits.

    \b
    Examples:
      kohort serve --topic orders:6
      kohort serve --listen 127.0.0.1:9092 --data broker-data
    """
    from cli.verbs.serve.action import run_server

    run_server(options)
