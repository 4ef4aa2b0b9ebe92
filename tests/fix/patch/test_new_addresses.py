"""Addresses that were not there are found, however they are written."""

from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from triage.fix.patch.check_patch import find_new_addresses


@each_row(
    ("text", "address"),
    [
        ('x = "https://evil.io/a?b#c"', "https://evil.io/a?b#c"),
        ("see https://evil.io.", "https://evil.io"),
        ('"https:\\\\evil.io"', "https:\\\\evil.io"),
        ('"http:/evil.io"', "http:/evil.io"),
        ('src="//evil.io/x.js"', "//evil.io/x.js"),
        ("redis://10.0.0.1:6379", "redis://10.0.0.1:6379"),
        ("http://example.com\\@evil.io/", "http://example.com\\@evil.io/"),
        ("http://notexample.com/", "http://notexample.com/"),
        ("http://127.0.0.2/", "http://127.0.0.2/"),
        ('f"http://{host}/x"', "http://{host}/x"),
        ('f"http://example.com{suffix}"', "http://example.com{suffix"),
        ('"mongodb://localhost:27017,db.evil.io:27017/app"', "mongodb://localhost:27017,db.evil.io:27017/app"),
        ('"amqp://localhost:1,localhost:2;evil:3"', "amqp://localhost:1,localhost:2;evil:3"),
        ('"https://example.com\\x2eevil.io/a"', "https://example.com\\x2eevil.io/a"),
        ('fetch("https:evil.io/x")', "https:evil.io/x"),
        ("`https:\n//evil.io/x`", "https:\n//evil.io/x"),
        ('"/\\\\evil.io/x"', "/\\\\evil.io/x"),
        ('src="/\\evil.io/x"', "/\\evil.io/x"),
        ("<a href=https&colon;//evil.io>", "https&colon;//evil.io"),
        ('"https:\\u002f\\u002fevil.io"', "https:\\u002f\\u002fevil.io"),
        ("[x]: //evil.io/a", "//evil.io/a"),
        ("<img src= //evil.io/x>", "//evil.io/x"),
        ("a =\t//evil.io:80/x", "//evil.io:80/x"),
        (r'"\\\\evil.io\\share"', r"\\\\evil.io\\share"),
        (r'r"\\evil.io\share"', r"\\evil.io\share"),
        ("http://localhost/?next=//evil.io", "http://localhost/?next=//evil.io"),
        ('"//[2001:db8::1]/"', "//[2001:db8::1]/"),
        ('"ws:evil.io"', "ws:evil.io"),
    ],
)
def test_new_addresses_are_found(text: str, address: str):
    assert find_new_addresses(text, "https://known.io/ http://a.io") == [address]


@each_row(
    "text",
    [
        "http://example.com/a http://www.example.org:8080. <http://a.b.example.net>",
        "http://shop.test/ https://shop.example/, (http://x.invalid) ws://localhost:1/ http://api.localhost",
        'fetch("http://127.0.0.1:8080/x") http://[::1]:80/',
        'url.startswith(("http://", "https://"))',
        "me@shop.io, see www.example.com",
        "# // no address, a://, C:\\\\files, x: y, {'https': 1}",
        "std::vector<int> a; // foo.bar()",
        'http://localhost, foo.bar f"http://127.0.0.1:{port}/x" `http://localhost:${server.port}/a?b=1#c`',
        "x = 1  // foo.bar()\na: 2, // see b.c\n'\\\\n\\\\n' a = // b\nc = // foo.bar() d",
        "'\\\\n\\\\n' http://localhost/a/b?c=/d/",
        "https://known.io/a https://known.io/a.",
    ],
)
def test_reserved_and_known_addresses_may_stand(text: str):
    assert find_new_addresses(text, "see https://known.io/a") == []


def test_another_address_of_a_known_host_is_new():
    assert find_new_addresses("https://known.io/b", "https://known.io/a") == ["https://known.io/b"]


def test_what_seemed_to_be_a_known_host_is_a_user():
    text, known = '"https://known.io\'@evil.io"', "'https://known.io'"
    assert find_new_addresses(text, known) == ["https://known.io'@evil.io"]


@given(before=st.text(max_size=20), after=st.text(st.characters(codec="utf-8"), max_size=20))
def test_no_text_around_an_address_hides_it(before: str, after: str):
    found = find_new_addresses(f"{before} https://evil.io/ {after}", "")
    assert any("https://evil.io/" in url for url in found)


@each_row(
    "piece",
    [
        "http://",
        "a",
        "http:/",
        "www.",
        "a@b.",
        "http://a.io,",
        "a.b-c+",
        "//a.",
        "https:\\/\\/",
        "'//a.",
        "= //a.a",
        "'\\\\\\\\a.a",
        "http://localhost/a/",
        "http://[",
        "www.x.example.com/",
    ],
)
def test_hostile_texts_take_linear_time(piece: str):
    assert_grows_linearly(repeat_to(piece), lambda text: find_new_addresses(text, text[1:]))
