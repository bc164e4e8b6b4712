"""`sasl.jaas.config` of a properties file, as Kafka 4.3.1's JaasContext reads it after java.util.Properties."""

import pytest

from wire.client.config.jaas import BadJaas, parse_jaas
from wire.java_text import parse_properties

JAVA = {
    r'password="a\\8b"': "a8b",
    r'password="a\\9b"': "a9b",
    r'password="a\\²b"': "a²b",
    r'password="a\\٣b"': "a٣b",
    r'password="a\\101b"': "aAb",
    r'password="a\\1018b"': "aA8b",
    r'password="a\\377b"': "aÿb",
    r'password="a\\400b"': "a 0b",
    r'password="a\\477b"': "a'7b",
    r'password="a\\08b"': "a\x008b",
    r'password="a\\n\\t\\r\\f\\b\\a\\vb"': "a\n\t\r\f\b\a\vb",
    r'password="a\\qb\\\\c\\"d"': 'aqb\\c"d',
    r'password="a\\u0041b"': "au0041b",
    r'password="a\u0041\u00e9\u20acb"': "aAé€b",
    r'password="ä\\é\\€😀"': "äé€😀",
    r"""password='a"b\\'c' """: "a\"b'c",
    r'password="a\\\nb"': "a\nb",
    r'password="a/b//c/*d*/;="': "a/b//c/*d*/;=",
    r'password=""': "",
    "password=a_b$c-d.e1": "a_b$c-d.e1",
    "password=ä€": "ä€",
    r'password="a" password="b"': "b",
    r'/* " */ password = "a" / another comment\n': "a",
}
"""Options of a login module, and the password that Java reads."""
JAVA_REFUSES = (
    r'password="a\nb"', "password=a/b", "password=1234", "password=1a", "password=-abc", "password=.abc",
    "password=a@b",
    r"password=x\\y", 'k#="x"', '#k="x"', "k", "k=", 'k=="x"', 'k="x" =', "a=b=c", 'k="x', r'k="x\\',
)  # fmt: skip


@pytest.mark.parametrize(("options", "password"), JAVA.items())
def test_a_password_of_jaas_is_what_java_reads(options: str, password: str) -> None:
    (entry,) = parse_properties(f"sasl.jaas.config=m required {options};")
    assert parse_jaas(entry.value).options["password"].reveal() == password


@pytest.mark.parametrize("options", JAVA_REFUSES)
def test_jaas_that_java_refuses_is_refused(options: str) -> None:
    (entry,) = parse_properties(f"sasl.jaas.config=m required {options};")
    with pytest.raises(BadJaas):
        parse_jaas(entry.value)
