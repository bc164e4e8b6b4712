"""Why a plan cannot be rehearsed."""


class CannotRehearseError(Exception):
    """The message says what stands in the way, in words for whoever asked."""
