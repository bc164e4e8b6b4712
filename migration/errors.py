"""The base class of errors of plans and gates."""


class MigrationError(Exception):
    """A plan or the notes of a gate cannot be used; the message explains why."""
