"""The root of what `assignors` reports to a user; a signal between two functions does not derive from it."""


class AssignorError(Exception):
    """No assignment can be computed; the message says why."""
