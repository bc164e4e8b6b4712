"""The base of errors that `groups` reports to a user; errors that only other code handles do not derive from it."""


class GroupsError(Exception):
    """Data of groups cannot be read or checked; the message contains the reason."""
