"""The root of what `groups` reports to a user; a signal between two functions does not derive from it."""


class GroupsError(Exception):
    """What is known of groups cannot be read or judged; the message says why."""
