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
    ("url", "server"),
    [
        ("https://gitlab.example/a/b/issues/1", GITHUB),
        ("https://github.com/a/b/issues/1", GHES),
        ("https://github.com.evil.example/a/b/issues/1", GITHUB),
        ("https://evil.example\\@github.com/a/b/issues/1", GITHUB),
        ("https://evil.example/https://github.com/a/b/issues/1", GITHUB),
        ("https://\x1bm.example/a/b/issues/1", GITHUB),
        ("https://[bad/a/b/issues/1", GITHUB),
        ("https://github.com/a/b", GITHUB),
        ("https://github.com/a/b/issues", GITHUB),
        ("https://github.com/a/b/issues/1²", GITHUB),
        ("https://github.com/a/../b/issues/1", GITHUB),
    ],
)
def test_other_urls_are_refused(url: str, server: str):
    with pytest.raises(BadInput, match=f"on the configured server, such as {server}/owner/name/issues/12"):
        parse_issue_url(url, server)
