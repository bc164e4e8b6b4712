"""The names of real Kafka client properties (`configNames()` of kafka-clients 4.3.1 and 4.4.0; librdkafka's
CONFIGURATION.md). Only a misspelling of a setting that the connection depends on is refused."""

import re
from collections.abc import Collection, Iterable

from wire.java_text import Property
from wire.suggestion import did_you_mean

_JAVA_KEYS = """
    acks allow.auto.create.topics auto.commit.interval.ms auto.offset.reset batch.size bootstrap.controllers
    bootstrap.resolve.timeout.ms bootstrap.servers buffer.memory buffer.memory.allocation.strategy check.crcs
    client.dns.lookup client.id client.rack compression.gzip.level compression.lz4.level compression.type
    compression.zstd.level config.providers connections.max.idle.ms default.api.timeout.ms delivery.timeout.ms
    enable.auto.commit enable.idempotence enable.metrics.push exclude.internal.topics fetch.max.bytes
    fetch.max.wait.ms fetch.min.bytes group.id group.instance.id group.protocol group.remote.assignor
    heartbeat.interval.ms interceptor.classes internal.throw.on.fetch.stable.offset.unsupported isolation.level
    key.deserializer key.serializer linger.ms max.block.ms max.in.flight.requests.per.connection
    max.partition.fetch.bytes max.poll.interval.ms max.poll.records max.request.size metadata.cluster.check.enable
    metadata.max.age.ms metadata.max.idle.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy
    metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
    partition.assignment.strategy partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms
    partitioner.class partitioner.ignore.keys partitioner.rack.aware receive.buffer.bytes reconnect.backoff.max.ms
    reconnect.backoff.ms request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms
    sasl.client.callback.handler.class sasl.jaas.config sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin
    sasl.kerberos.service.name sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
    sasl.login.callback.handler.class sasl.login.class sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
    sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.mechanism
    sasl.oauthbearer.allow.unverified.audience sasl.oauthbearer.allow.unverified.issuer
    sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud
    sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
    sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
    sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file
    sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file
    sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.client.credentials.client.secret
    sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
    sasl.oauthbearer.header.urlencode sasl.oauthbearer.jwks.endpoint.refresh.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
    sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class
    sasl.oauthbearer.scope sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
    sasl.oauthbearer.token.endpoint.url security.protocol security.providers send.buffer.bytes session.timeout.ms
    share.acknowledgement.mode share.acquire.mode socket.connection.setup.timeout.max.ms
    socket.connection.setup.timeout.ms ssl.cipher.suites ssl.enabled.protocols ssl.endpoint.identification.algorithm
    ssl.engine.factory.class ssl.key.password ssl.keymanager.algorithm ssl.keystore.certificate.chain ssl.keystore.key
    ssl.keystore.location ssl.keystore.password ssl.keystore.type ssl.protocol ssl.provider
    ssl.secure.random.implementation ssl.trustmanager.algorithm ssl.truststore.certificates ssl.truststore.location
    ssl.truststore.password ssl.truststore.type transaction.timeout.ms transaction.two.phase.commit.enable
    transactional.id value.deserializer value.serializer
"""
JAVA_KEYS = frozenset(_JAVA_KEYS.split())
_LIBRDKAFKA_KEYS = """
    allow.auto.create.topics api.version.fallback.ms api.version.request api.version.request.timeout.ms
    bootstrap.servers broker.address.family broker.address.ttl broker.version.fallback builtin.features
    client.dns.lookup client.id client.rack connections.max.idle.ms debug enable.metrics.push enable.random.seed
    enable.sasl.oauthbearer.unsecure.jwt enable.ssl.certificate.verification enabled_events https.ca.location
    https.ca.pem internal.termination.signal log.connection.close log.queue log.thread.name log_level max.in.flight
    max.in.flight.requests.per.connection message.copy.max.bytes message.max.bytes metadata.broker.list
    metadata.max.age.ms metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy plugin.library.paths
    receive.message.max.bytes reconnect.backoff.jitter.ms reconnect.backoff.max.ms reconnect.backoff.ms
    retry.backoff.max.ms retry.backoff.ms sasl.kerberos.keytab sasl.kerberos.kinit.cmd
    sasl.kerberos.min.time.before.relogin sasl.kerberos.principal sasl.kerberos.service.name sasl.mechanism
    sasl.mechanisms sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud
    sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
    sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
    sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.jwt.template.file
    sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.private.key.passphrase
    sasl.oauthbearer.assertion.private.key.pem sasl.oauthbearer.client.credentials.client.id
    sasl.oauthbearer.client.credentials.client.secret sasl.oauthbearer.client.id sasl.oauthbearer.client.secret
    sasl.oauthbearer.config sasl.oauthbearer.extensions sasl.oauthbearer.grant.type
    sasl.oauthbearer.metadata.authentication.type sasl.oauthbearer.method sasl.oauthbearer.scope
    sasl.oauthbearer.sub.claim.name sasl.oauthbearer.token.endpoint.url sasl.password sasl.username security.protocol
    socket.blocking.max.ms socket.connection.setup.timeout.ms socket.keepalive.enable socket.max.fails
    socket.nagle.disable socket.receive.buffer.bytes socket.send.buffer.bytes socket.timeout.ms
    ssl.ca.certificate.stores ssl.ca.location ssl.ca.pem ssl.certificate.location ssl.certificate.pem
    ssl.cipher.suites ssl.crl.location ssl.curves.list ssl.endpoint.identification.algorithm ssl.engine.id
    ssl.engine.location ssl.key.location ssl.key.password ssl.key.pem ssl.keystore.location ssl.keystore.password
    ssl.providers ssl.sigalgs.list statistics.interval.ms topic.blacklist topic.metadata.propagation.max.ms
    topic.metadata.refresh.fast.cnt topic.metadata.refresh.fast.interval.ms topic.metadata.refresh.interval.ms
    topic.metadata.refresh.sparse
"""
LIBRDKAFKA_KEYS = frozenset(_LIBRDKAFKA_KEYS.split())
"""librdkafka's global properties for every kind of client, AdminClient included."""

_LIBRDKAFKA_OTHER_KEYS = """
    acks auto.commit.enable auto.commit.interval.ms auto.offset.reset batch.num.messages batch.size check.crcs
    compression.codec compression.level compression.type consume.callback.max.messages coordinator.query.interval.ms
    delivery.report.only.error delivery.timeout.ms enable.auto.commit enable.auto.offset.store
    enable.gapless.guarantee enable.idempotence enable.partition.eof fetch.error.backoff.ms fetch.max.bytes
    fetch.message.max.bytes fetch.min.bytes fetch.queue.backoff.ms fetch.wait.max.ms group.id group.instance.id
    group.protocol group.protocol.type group.remote.assignor heartbeat.interval.ms isolation.level linger.ms
    max.partition.fetch.bytes max.poll.interval.ms max.poll.records message.send.max.retries message.timeout.ms
    offset.store.method offset.store.path offset.store.sync.interval.ms partition.assignment.strategy partitioner
    produce.offset.report queue.buffering.backpressure.threshold queue.buffering.max.kbytes
    queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes queued.min.messages
    queuing.strategy request.required.acks request.timeout.ms retries session.timeout.ms share.acknowledgement.mode
    sticky.partitioning.linger.ms transaction.timeout.ms transactional.id
"""
LIBRDKAFKA_OTHER_KEYS = frozenset(_LIBRDKAFKA_OTHER_KEYS.split())
"""librdkafka's properties of consumers, producers and topics, which have no meaning for an AdminClient."""

KOHORT_KEYS = frozenset({"kohort.token.command", "kohort.token.provider", "kohort.token.timeout.ms"})
"""Kohort's own keys. Java clients ignore them, librdkafka refuses them."""

ALL_KEYS = JAVA_KEYS | LIBRDKAFKA_KEYS | LIBRDKAFKA_OTHER_KEYS | KOHORT_KEYS

_SHAPE = re.compile(r"[a-z][a-z0-9_-]*(\.[A-Za-z0-9_-]+)+", re.ASCII)
"""Words separated by dots, such as `schema.registry.url` and `value.subject.nameStrategy`."""
_CONNECTS = ("bootstrap.", "security.", "sasl.", "ssl.", "https.", "metadata.broker.", "kohort.")
_SIMILAR = 0.8
_SHORTEST_WORD = 5
"""A shorter word that differs in one letter is probably another word: `min` and `max`, `iss` and `iat`."""


def is_refused(key: str, present: Collection[str]) -> bool:
    meant = _misspelt(key)
    return not _SHAPE.fullmatch(key) or (meant is not None and meant not in present)


def refusal_of(entry: Property) -> str:
    if not entry.is_named:
        return (
            "this line is not KEY=VALUE. It is not shown, as it may be a secret: remove it, or write its key."
        )
    hint = did_you_mean(entry.key, ALL_KEYS) or ". Remove the line, or check the key's spelling."
    return f"{entry.key!r} is not a Kafka client property{hint}"


def remark_on(unknown: Iterable[Property]) -> str:
    keys = ", ".join(
        f"{entry.key} (line {entry.line}{did_you_mean(entry.key, ALL_KEYS, _SIMILAR)})"
        if entry.is_named
        else f"a line without a value (line {entry.line})"
        for entry in unknown
    )
    return f"ignored, as they are not Kafka client properties known to Kohort: {keys}"


def _misspelt(key: str) -> str | None:
    """The connection's key that `key` misspells in one word; None if no key is that close."""
    words = key.split(".")
    for known in sorted(ALL_KEYS):
        if not known.startswith(_CONNECTS):
            continue
        meant = known.split(".")
        differing = [pair for pair in zip(words, meant, strict=False) if pair[0] != pair[1]]
        if len(words) == len(meant) and len(differing) == 1 and _is_slip(*differing[0]):
            return known
    return None


def _is_slip(written: str, meant: str) -> bool:
    if any(written in key.split(".") for key in ALL_KEYS) or len(meant) < _SHORTEST_WORD:
        return False
    from difflib import SequenceMatcher

    return SequenceMatcher(None, written, meant).ratio() >= _SIMILAR
