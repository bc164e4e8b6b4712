"""The root of what the pipeline reports to a user; a signal between two functions does not derive from it."""


class PipelineError(Exception):
    """Spark, a cluster or a table store cannot be used; the message says why and what to do."""
