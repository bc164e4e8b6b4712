"""The root of what the embedded coordinator reports to a user; a refused request is not: it is answered with a code."""


class CoordinatorError(Exception):
    """The coordinator cannot start, or cannot continue; the message says why and what to do."""
