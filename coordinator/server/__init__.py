"""The embedded coordinator on the wire: real Kafka clients connect to it.

    node = Node(NodeSettings(...), Config(...))      topics, settings, and the engine
    listener = await Listener.open(node, host, port)
    ...
    await listener.close()

A function per API in `apis/` turns a request into a call of the engine and its answer into the fields of a response.
"""
