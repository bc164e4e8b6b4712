"""Every interleaving of a small group: the real engine and the real members, step by step, from a first state to all
that can follow.

    steps         what a world is made of, and what can happen in it
    state         the coordinator, the members, the messages between them; and what follows from a change
    small_world   a state with the steps that lead on from it: which there are, and taking one
    canonical     when two states are the same, by the `forms` of what is in them
    fork          a second copy of a state
    properties    what must hold in a state, in a step, and in the end, by name
    worlds        the groups that are explored
    explorer      walks through all states and finds the shortest way to one where a property falls

Time does not pass here: a heartbeat may be sent at any moment, and a session ends when a step says so.
"""
