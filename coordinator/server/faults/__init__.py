"""Fault injection: failures that the server causes on request.

events          the faults, the same on the wire, on the command line, in a faults file and in a scenario
reading         a fault, or a file of timed faults, parsed from a tree of plain values
rules           faults that last (delay, error, drop): which requests they match, and for how long
error_answers   an error in the fields that an API's answer has for it
actions         faults that happen at once: members, coordinators, connections, topics
"""
