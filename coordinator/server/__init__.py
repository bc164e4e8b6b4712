"""The server: it accepts connections of real Kafka clients to the embedded coordinator.

    cluster = Cluster(BrokerSettings(...), Config(...))      brokers, topics, settings, and the engine
    cluster.start()
    listener = await Listener.open(cluster, broker, host, port)      for each of the brokers
    ...
    await listener.close()
    await cluster.close()

Each API has a function in `apis/`: it turns a request into a call of the engine, and the answer into response fields.
"""
