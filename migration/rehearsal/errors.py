"""The error of a plan that cannot be rehearsed."""


class CannotRehearseError(Exception):
    """The plan cannot be rehearsed; the message explains to the operator why."""
