"""The root of the errors that the pipeline reports to a user."""


class PipelineError(Exception):
    """Spark, a cluster or a table store cannot be used; the message says why and what to do."""
