"""Faults on demand: what goes wrong on the server because somebody asked for it.

events          the vocabulary, one for the wire, the command line, a faults file and a scenario
reading         an event, or a file of events with times, from a tree of plain values
rules           events that last (delay, error, drop): which requests they meet, and for how long
error_answers   an error in the place where the answer of an API has one
actions         events that happen at once: members, coordinators, connections, topics
"""
