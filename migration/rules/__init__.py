"""The rules that a plan checks, a file per topic: functions from the case to findings."""
