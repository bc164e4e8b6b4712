"""Fault injection: failures that the server causes on request (`coordinator.faults`).

reading         a fault, or a file of timed faults, parsed from a tree of plain values
rules           faults that last (delay, error, drop): which requests they match, and for how long
error_answers   an error in the fields that an API's answer has for it

Faults that happen at once are in `coordinator.server.fault_actions`.
"""
