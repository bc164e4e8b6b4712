"""The model of a group, from whatever source: lag, snapshots, regexes, diagnosis."""
