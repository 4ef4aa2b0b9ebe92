"""URLs of issues, as a person copies them from a browser."""

import pytest

from testing.each_row import each_row
from triage.app.command_line import parse_issue_url
from triage.base.errors import BadInput

GITHUB = "https://github.com"
GHES = "https://git.acme.example:8443"


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://github.com/octo/my.shop_1/issues/12", GITHUB),
        ("https://www.github.com/octo/my.shop_1/issues/12", GITHUB),
        ("HTTPS://GitHub.com/octo/my.shop_1/issues/12?x=1#issuecomment-99", GITHUB),
        ("https://git.acme.example:8443/octo/my.shop_1/issues/12", GHES),
    ],
)
def test_the_repository_and_the_number(url: str, server: str):
    assert parse_issue_url(url, server) == ("octo/my.shop_1", 12)


@each_row(
    ("url", "server", "message"),
    [
        ("https://gitlab.example/a/b/issues/1", GITHUB, "leads to 'gitlab.example', but the .* server is github.com"),
        ("https://github.com/a/b/issues/1", GHES, "leads to 'github.com', but the .* server is git.acme.example:8443"),
        ("https://github.com.evil.example/a/b/issues/1", GITHUB, "leads to 'github.com.evil.example'"),
        ("https://evil.example\\@github.com/a/b/issues/1", GITHUB, "leads to 'evil.example"),
        ("https://\x1bm.example/a/b/issues/1", GITHUB, r"leads to '\\x1bm"),
        ("https://[bad/a/b/issues/1", GITHUB, "cannot be read"),
        ("https://github.com/a/b/pull/1", GITHUB, "leads to a pull request"),
        ("https://github.com/a/b", GITHUB, "such as https://github.com/owner/name/issues/12"),
        ("https://github.com/a/b/issues", GITHUB, "this is not the URL of an issue"),
        ("https://github.com/a/b/issues/1²", GITHUB, "this is not the URL of an issue"),
        ("https://github.com/a/../b/issues/1", GITHUB, "this is not the URL of an issue"),
    ],
)
def test_other_urls_are_refused(url: str, server: str, message: str):
    with pytest.raises(BadInput, match=message):
        parse_issue_url(url, server)
