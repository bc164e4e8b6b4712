"""Rehearsals: a plan played on the group as it was found, before a process is restarted."""
