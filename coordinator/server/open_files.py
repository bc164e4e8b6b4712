"""How many files this process may have open: every connection is one."""

from __future__ import annotations

import resource

ENOUGH = 65_536
KEPT_FREE = 256
"""For what is no connection: the log's files, the standard streams, libraries."""


def most_connections() -> int:
    """Take what the system allows, and say how many connections that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY:
        soft = ENOUGH
    elif soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return max(1, soft - KEPT_FREE)
