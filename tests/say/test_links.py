"""Addresses that code writes: pinned, encoded, and absent when there is nothing to link to."""

from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

from cmarkgfm import github_flavored_markdown_to_html
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.say.sample_reports import FULL, change_report
from triage.domain.code import Span
from triage.domain.report import NamedPlace
from triage.say import links
from triage.say.links import build_permalink, sanitize_third_party_url, sanitize_url

COMMIT = "a" * 40
BLOB = f"https://github.com/acme/ledger/blob/{COMMIT}"


@each_row("path", ["", "/etc/passwd", "../../x", "a/../../b", "a/./b", "a//b", "a/", "..", "a/.."])
def test_a_path_that_a_browser_would_resolve_is_no_link(path: str):
    assert link(path) is None
    assert link(Span(path=path, start=1, end=1)) is None


def link(
    target: Span | str, server: str = "https://github.com", slug: str = "acme/ledger", commit: str | None = COMMIT
) -> str | None:
    return build_permalink(server, slug, commit, target)


@each_row(
    ("target", "expected"),
    [
        ("src/a.py", f"{BLOB}/src/a.py"),
        (Span(path="src/a.py", start=10, end=20), f"{BLOB}/src/a.py#L10-L20"),
        (Span(path="src/a.py", start=10, end=10), f"{BLOB}/src/a.py#L10"),
        # GitHub renders these, and then line anchors lead nowhere
        (Span(path="docs/Guide.MD", start=1, end=2), f"{BLOB}/docs/Guide.MD?plain=1#L1-L2"),
        (Span(path="docs/api.rst", start=1, end=2), f"{BLOB}/docs/api.rst?plain=1#L1-L2"),
        ("docs/guide.md", f"{BLOB}/docs/guide.md"),
        ("a b.py", f"{BLOB}/a%20b.py"),
        ("a#b?c%20.py", f"{BLOB}/a%23b%3Fc%2520.py"),
        ("a(b)[c]{d}.py", f"{BLOB}/a%28b%29%5Bc%5D%7Bd%7D.py"),
        ("a<b>\"c'|d\\e*`.py", f"{BLOB}/a%3Cb%3E%22c%27%7Cd%5Ce%2A%60.py"),
        ("日本/ü.py", f"{BLOB}/%E6%97%A5%E6%9C%AC/%C3%BC.py"),
        ("a\nb.py", f"{BLOB}/a%0Ab.py"),
        # a Latin-1 name, as git's bytes come decoded
        (f"{'d' * (2_000 - len(BLOB) - 4)}.py", f"{BLOB}/{'d' * (2_000 - len(BLOB) - 4)}.py"),
        (f"{'d' * (2_000 - len(BLOB) - 3)}.py", None),
        ("ü" * 330, None),
        ("", None),
        ("/etc/passwd", None),
    ],
)
def test_the_url_contains_the_whole_path(target, expected):
    assert link(target) == expected


@each_row(
    "where",
    [
        {"server": ""},
        {"server": "javascript:alert(1)//"},
        {"server": "https://github.com) ["},
        {"slug": "ledger"},
        {"slug": "acme/led ger"},
        {"commit": None},
        {"commit": "a" * 39},
    ],
)
def test_no_link_without_server_repository_and_commit(where):
    assert link("src/a.py", **where) is None


def test_an_enterprise_server_and_sha256_commits_are_linked():
    address = link("a.py", server="https://git.acme.example:8443", commit="b" * 64)
    assert address == f"https://git.acme.example:8443/acme/ledger/blob/{'b' * 64}/a.py"


def test_what_an_explanation_names_is_linked_by_its_code():
    place = NamedPlace(text="reader.py:20", path="src/reader.py", span=Span(path="src/reader.py", start=20, end=20))
    commit = NamedPlace(text="91afd42", path="", commit="91afd4214a")
    page = links.Links(change_report(FULL, named_places=[place, commit]), shows_code=False)
    found = page.link_named_places()
    assert found["`reader.py:20`"].endswith("/src/reader.py#L20")
    assert found["`91afd42`"] == "https://redirect.github.com/acme/ledger/commit/91afd4214a"
    assert page.urls == [*found.values()]


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str | None] = []

    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes)["href"])


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=40), st.integers(1, 9999))
def test_markdown_reads_one_link_that_leads_to_the_path(path, line):
    address = link(Span(path=path, start=line, end=line + 1))
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        assert address is None
        return
    reader = Links()
    assert address
    reader.feed(github_flavored_markdown_to_html(f"| [`x`]({address}) |\n|---|"))
    assert reader.found == [address]
    parts = urlsplit(address)
    assert unquote(parts.path, errors="strict") == f"/acme/ledger/blob/{COMMIT}/{path}"
    assert parts.fragment == f"L{line}-L{line + 1}"


@each_row(
    ("url", "expected"),
    [
        ("https://docs.python.org/3/a.html#b", "https://docs.python.org/3/a.html#b"),
        ("http://localhost:8080/x?a=1&b=%20", "http://localhost:8080/x?a=1&b=%20"),
        ("https://en.wikipedia.org/wiki/Foo_(bar)", "https://en.wikipedia.org/wiki/Foo_%28bar%29"),
        ("https://x.example/a'b\"c[d]<e>`|", "https://x.example/a%27b%22c%5Bd%5D%3Ce%3E%60%7C"),
        ("https://x.example/ü", "https://x.example/%C3%BC"),
        ("https://x.example/?a&amp;b", "https://x.example/?a&amp%3Bb"),
        ("https://x.example/@user", "https://x.example/@user"),
        ("javascript:alert(1)", None),
        ("JavaScript://x.example/%0aalert(1)", None),
        ("//x.example/", None),
        ("", None),
        ("https://", None),
        ("https://github.com@evil.example/", None),
        ("https://a:b@x.example/", None),
        ("https://good.example\\@evil.example/", None),
        ("https://gіthub.com/", None),  # a Cyrillic letter
        ("https://x.example:99999/", None),
        ("https://[::1/", None),
        ("https://x.example/a b", None),
        ("https://x.example/\u202egpj", None),
        ("https://x.example/" + "a" * 2000, None),
        ("https://x.example/" + "ü" * 400, None),
    ],
)
def test_an_external_url_is_plain_or_no_link(url, expected):
    assert sanitize_url(url) == expected


@given(st.text(max_size=60) | st.builds("https://x.example/{}".format, st.text(max_size=60)))
def test_a_link_is_one_markdown_link(url):
    address = sanitize_url(url)
    if address is not None:
        reader = Links()
        reader.feed(github_flavored_markdown_to_html(f"[x]({address})"))
        assert reader.found == [address]
        assert sanitize_url(address) == address


@each_row(
    ("url", "server", "expected"),
    [
        ("https://github.com/o/r/issues/5", "https://github.com", "https://redirect.github.com/o/r/issues/5"),
        ("https://www.github.com/o/r/pull/5#x", "", "https://redirect.github.com/o/r/pull/5#x"),
        ("https://github.com/o/r/%69ssues/5", "https://ghe.test", "https://redirect.github.com/o/r/%69ssues/5"),
        ("https://github.com/o/r/commit/abc", "https://github.com", "https://redirect.github.com/o/r/commit/abc"),
        ("https://github.com/o/r/blob/main/issues/a.py", "https://github.com", "same"),
        ("https://github.com/o/r", "https://github.com", "same"),
        ("https://ghe.test/o/r/issues/5", "https://ghe.test", None),
        ("https://docs.test/o/r/issues/5", "https://github.com", "same"),
        ("javascript:alert(1)", "https://github.com", None),
    ],
)
def test_a_link_to_an_issue_leaves_no_backlink(url: str, server: str, expected: str | None):
    assert sanitize_third_party_url(url, server) == (url if expected == "same" else expected)
