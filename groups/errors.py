"""The root of what `groups` reports to a user; a signal between two functions does not derive from it."""


class GroupsError(Exception):
    """Data of groups cannot be read or judged; the message contains the reason."""
