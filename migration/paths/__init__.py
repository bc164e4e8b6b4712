"""The paths from one protocol to another, as steps: a file each, and `choose.py`, which selects one."""
