"""Why a plan cannot be rehearsed."""


class CannotRehearseError(Exception):
    """The message contains the reason, for the operator."""
