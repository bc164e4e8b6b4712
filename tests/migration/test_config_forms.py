"""Configuration files as applications, containers and clusters have them."""

from __future__ import annotations

import json

import pytest

from migration.client_config import kafka_key, kept, library_by_keys, of_consumers
from migration.config_forms import read_config

CONSUMER = {"group.protocol": "consumer", "auto.offset.reset": "earliest"}
FORMS = {
    "env": (
        "app.env",
        "# of the application\nexport KAFKA_GROUP_PROTOCOL=consumer  # new\nKAFKA_AUTO_OFFSET_RESET='earliest'\n"
        "USER_GROUP_ID=1000\nKAFKA_PRODUCER_GROUP_ID=x\n",
        CONSUMER,
    ),
    "plain names": (".env", 'GROUP_PROTOCOL="consumer"\nAUTO_OFFSET_RESET=earliest\n', CONSUMER),
    "spring's variables": (
        "spring.env",
        "SPRING_KAFKA_CONSUMER_PROPERTIES_GROUP_PROTOCOL=consumer\nSPRING_KAFKA_CONSUMER_AUTOOFFSETRESET=earliest\n"
        "SPRING_KAFKA_CONSUMER_HEARTBEATINTERVAL=3s\n",
        {**CONSUMER, "heartbeat.interval.ms": "3000"},
    ),
    "quarkus": (
        "q.env",
        "MP_MESSAGING_INCOMING_ORDERS_GROUP_PROTOCOL=consumer\n"
        "MP_MESSAGING_INCOMING_ORDERS_AUTO_OFFSET_RESET=earliest\n"
        "MP_MESSAGING_OUTGOING_BILLS_GROUP_ID=x\n",
        CONSUMER,
    ),
    "confluent's rest proxy": (
        "rest.env",
        "KAFKA_REST_CONSUMER_GROUP_PROTOCOL=consumer\nKAFKA_REST_CONSUMER_AUTO_OFFSET_RESET=earliest\n",
        CONSUMER,
    ),
    "confluent's connect": (
        "connect.env",
        "CONNECT_CONFIG_STORAGE_TOPIC=configs\nCONNECT_GROUP_ID=workers\nCONNECT_SESSION_TIMEOUT_MS=10000\n"
        "CONNECT_CONSUMER_GROUP_PROTOCOL=consumer\nCONNECT_CONSUMER_AUTO_OFFSET_RESET=earliest\n",
        CONSUMER,
    ),
    "spring": (
        "application.yml",
        "spring:\n  kafka:\n    consumer:\n      auto-offset-reset: earliest\n      heartbeat-interval: 3s\n"
        "      max-poll-interval: PT5M\n      properties:\n        group.protocol: consumer\n",
        {**CONSUMER, "heartbeat.interval.ms": "3000", "max.poll.interval.ms": "300000"},
    ),
    "spring in capitals": (
        "application.yaml",
        "spring.kafka.consumer:\n  autoOffsetReset: earliest\n  groupId: billing\n"
        "  properties[group.protocol]: consumer\n"
        "  properties: {group-instance-id: a}\n",
        {**CONSUMER, "group.id": "billing", "group.instance.id": "a"},
    ),
    "spring's documents": (
        "application.yml",
        "spring.kafka.consumer.auto-offset-reset: earliest\n---\n"
        "spring.kafka.properties.group.protocol: consumer\n---\n"
        "spring:\n  config.activate.on-profile: test\n  kafka.consumer.auto-offset-reset: latest\n---\n",
        CONSUMER,
    ),
    "spring's documents of properties": (
        "application.properties",
        "spring.kafka.consumer.auto-offset-reset=earliest\n#---\n"
        "spring.kafka.properties.group.protocol=consumer\n#---\n"
        "spring.config.activate.on-profile=test\nspring.kafka.consumer.auto-offset-reset=latest\n",
        CONSUMER,
    ),
    "compose": (
        "compose.yaml",
        "services:\n  kafka:\n    image: apache/kafka\n"
        "    environment: {KAFKA_NODE_ID: 1, KAFKA_CONNECTIONS_MAX_IDLE_MS: 5}\n"
        "  app:\n    environment:\n      - KAFKA_GROUP_PROTOCOL=consumer\n      - KAFKA_AUTO_OFFSET_RESET=earliest\n"
        "      - TZ=UTC\n  db:\n    environment: {USER_GROUP_ID: 5}\n",
        CONSUMER,
    ),
    "config map": (
        "cm.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app, labels: {group.id: x}}\ndata:\n"
        "  KAFKA_GROUP_PROTOCOL: consumer\n  application.properties: |\n"
        "    spring.kafka.consumer.auto-offset-reset=earliest\n",
        CONSUMER,
    ),
    "config map with yaml": (
        "cm.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  data:\n    application.yml: |\n"
        "      spring.kafka.consumer:\n        auto-offset-reset: earliest\n"
        "        properties: {group.protocol: consumer}\n",
        CONSUMER,
    ),
    "deployment": (
        "deploy.yml",
        "apiVersion: v1\nkind: Service\n---\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n"
        "      containers:\n      - name: app\n        env:\n        - {name: KAFKA_GROUP_PROTOCOL, value: consumer}\n"
        "        - {name: KAFKA_AUTO_OFFSET_RESET, value: earliest}\n"
        "        - {name: X, valueFrom: {secretKeyRef: {}}}\n",
        CONSUMER,
    ),
    "json": ("c.json", '{"kafka": {"groupProtocol": "consumer", "auto.offset.reset": "earliest"}}', CONSUMER),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text", "settings"), FORMS.values(), ids=FORMS)
def test_the_settings_of_a_file_are_read_in_its_form(name: str, text: str, settings: dict[str, str]) -> None:
    entries = read_config(name, text).entries
    library, _ = library_by_keys(entries)
    assert {each.key: each.value for each in kept(of_consumers(entries, library))} == settings


NOT_READ = {
    "filebeat": (
        "filebeat.yml",
        "filebeat.inputs:\n- type: kafka\n  hosts: [b:9092]\n  group_id: beats\n  topics: [orders]\n"
        "output.kafka:\n  client_id: beats\n  group_id: x\n",
    ),
    "logging": ("log4j2.yaml", "Configuration: {status: warn, name: app}\n"),
    "config map": ("cm.yaml", "apiVersion: v1\nkind: ConfigMap\ndata: {LOG_LEVEL: debug}\n"),
    "secret": ("s.yaml", "apiVersion: v1\nkind: Secret\ndata: {KAFKA_GROUP_ID: YmlsbGluZw==}\n"),
    "variables of others": ("a.env", "USER_GROUP_ID=1000\nPATH=/bin\nDEBUG=true\n"),
}


@pytest.mark.parametrize(("name", "text"), NOT_READ.values(), ids=NOT_READ)
def test_a_file_of_another_program_has_no_client_setting(name: str, text: str) -> None:
    assert [written for written, _, _ in read_config(name, text).entries if kafka_key(written)] == []


def test_parts_of_a_file_that_are_not_used_are_named() -> None:
    profiles = "group.id: a\n---\nspring.config.activate.on-profile: prod\ngroup.id: b\n"
    (unread,) = read_config("a.yml", profiles).unread
    assert unread == "Documents of Spring profiles (prod) are not used: whether they apply is not known."
    in_map = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"application.yml": profiles}}
    assert read_config("cm.json", json.dumps(in_map)).unread == (unread,)
    services = "services:\n  a: {environment: [KAFKA_GROUP_ID=a]}\n  b: {environment: {KAFKA_GROUP_ID: b}}\n"
    content = read_config("compose.yml", services)
    assert content.unread == ("The services a, b have consumer settings: give each a separate file.",)
    assert content.entries == ()
