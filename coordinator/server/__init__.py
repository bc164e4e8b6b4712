"""The embedded coordinator on the wire: real Kafka clients connect to it.

    cluster = Cluster(BrokerSettings(...), Config(...))      brokers, topics, settings, and the engine
    cluster.start()
    listener = await Listener.open(cluster, broker, host, port)      for each of the brokers
    ...
    await listener.close()
    await cluster.close()

A function per API in `apis/` turns a request into a call of the engine and its answer into the fields of a response.
"""
