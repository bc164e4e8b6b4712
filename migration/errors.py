"""The root of what plans and gates report to a user."""


class MigrationError(Exception):
    """A plan, or what a gate noted, cannot be used; the message says why."""
