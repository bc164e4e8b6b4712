"""The exploration (model checking) of a small group: every interleaving of the real engine and the real members,
step by step, from a first state to all reachable ones.

    worlds        the groups that are explored, their messages, and the steps that can be taken
    state         the coordinator, the members, the messages between them, and the effect of a change
    small_world   a state with its next steps: lists them, and takes one
    canonical     hashable forms, by which two states are compared
    fork          a copy of a state
    properties    conditions that must hold in a state, in a step, and in the end, by name
    explorer      visits all states and finds the shortest path to one that violates a property

Time does not pass: a heartbeat can be sent at any moment, and a session expires in a separate step.
"""
