"""Web queries are plain words, and those of a model are words of the issue."""

import base64
import re

from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.safety.secrets.web_query import MAX_QUERY_CHARS, restrict_query, sanitize_query

ISSUE = ["IntegrityError in Store.saveAll", "Saving fails on PostgreSQL 16.2 with `duplicate key` in payment_queue."]
GOOD = [
    "ValueError: day is out of range for month",
    "django.db.utils.OperationalError no such table",
    "RuntimeError event loop is closed python 3.12.1",
    "System.IO.FileNotFoundException .NET 8",
    "std::bad_alloc gcc-13 x86_64",
    "TypeError: Cannot read properties of undefined (reading 'map')",
    "react-dom 18.2 hydration getServerSideProps",
    "socket.io read/write timeout",
]
PRIVATE_WORDS = [
    "https://intern.corp/x?token=1",
    "hxxp://a.test",
    "bob@corp.test",
    "/home/bob/secret",
    r"C:\Users\bob",
    r"\\share\x",
    "../../etc/passwd",
    "10.0.0.7",
    "10.0.0.7:8080",
    "[fe80::1]",
    "2001:db8::8a2e:370:7334",
    "db01.corp.internal",
    "db01.internal.corp.example",
    "localhost",
    "a.b.lan",
    "site:evil.test",
    "-site:evil.test",
    "filetype:env",
    "inurl:admin",
    "0xdeadbeef1234",
    "550e8400-e29b-41d4-a716-446655440000",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    base64.b64encode(b"the canary of the code").decode(),
    base64.urlsafe_b64encode(b"another canary, hidden well").decode().strip("="),
    b"another canary".hex(),
    "%68%74%74%70",
    "4111111111111111",
    "gh" + "p_" + "a1" * 18,
    "AK" + "IA" + "IOSFODNN7EXAMPLE",
    "ｈｔｔｐ：／／evil．test",
    "a" * 70,
]


@each_row("query", GOOD)
def test_good_queries_keep_their_words(query: str):
    words = re.sub("[('/)]|::", " ", query).split()
    assert sanitize_query(query).split() == [word.lstrip(".") for word in words]


@each_row("private_word", PRIVATE_WORDS)
@each_row("around", ["date {} fails", "date ({}) fails", "date '{}', fails"])
def test_private_words_are_removed(private_word: str, around: str):
    assert sanitize_query(around.format(private_word)) == "date fails"


@each_row(
    ("query", "expected"),
    [
        (
            "ConnectionError: cannot connect to db01.internal.corp.example as user jsmith with password hunter2",
            "ConnectionError: cannot connect to as with",
        ),
        ("password: `hunter2`, token not valid for server 'build-7' at noon", "token not valid for at noon"),
        ("password user bob failed", "failed"),
    ],
)
def test_what_a_credential_is_called_does_not_leave(query: str, expected: str):
    assert sanitize_query(query) == expected


@given(
    st.text(max_size=500)
    | st.lists(st.sampled_from([*PRIVATE_WORDS, *GOOD, "user", "token:", "bob"]), max_size=9).map(" ".join)
)
def test_queries_are_short_and_printable_and_sanitizing_twice_changes_nothing(query: str):
    sanitized = sanitize_query(query)
    assert len(sanitized) <= MAX_QUERY_CHARS
    assert sanitized.isprintable()
    assert not set(sanitized) & set('/\\@"<>|=')
    assert sanitize_query(sanitized) == sanitized


def test_a_long_query_is_cut_between_words():
    assert sanitize_query("range " * 100) == ("range " * 33).strip()


@each_row(
    ("query", "expected"),
    [
        ("postgresql duplicate key error saving", "postgresql duplicate key error saving"),
        (
            "how to fix IntegrityError in Store.saveAll on PostgreSQL 16.2",
            "how to fix IntegrityError in Store.saveAll on PostgreSQL 16.2",
        ),
        ("payment queue saves failed", "payment queue saves failed"),
        ("IntegrityError zebra-canary-walrus", "IntegrityError"),
        ("CANCODE zebra", ""),
        ("z e b r a", "a"),
        ("IntegrityError QueueZebra", "IntegrityError"),
        ("IntegrityError 12.34.1", "IntegrityError"),
    ],
)
def test_a_model_may_use_only_words_of_the_issue(query: str, expected: str):
    assert restrict_query(query, ISSUE) == expected


def test_a_model_may_name_packages_that_the_project_declares():
    query = "console crate OSC8 hyperlink line-wrapping acme-billing"
    visible = ["OSC8 escape sequence in line-wrapping"]
    assert restrict_query(query, visible) == "crate OSC8 line-wrapping"
    assert restrict_query(query, [*visible, "console", "@acme/billing"]) == "console crate OSC8 line-wrapping"


@given(st.text(max_size=300), st.text(max_size=300))
def test_a_model_cannot_add_words(query: str, visible_text: str):
    words = set(restrict_query(query, [visible_text]).lower().split())
    assert words <= set(restrict_query(query, [visible_text, query]).lower().split()) | {""}


@each_row("shape", ["a.", "a1", "aB", "x/", "::", "a:", "-", "_", "1.", "https://", "A", "'", "a'"])
def test_hostile_text_takes_linear_time(shape: str):
    assert_grows_linearly(repeat_to(shape), sanitize_query)
    assert_grows_linearly(repeat_to(shape), lambda text: restrict_query("date", [text]))
