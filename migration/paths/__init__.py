"""The paths from one protocol to another, as steps: one file for each path; `choose.py` selects a path."""
