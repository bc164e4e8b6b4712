"""Many seeds of many scenarios: verdicts, figures, and the command that replays each failed seed."""
