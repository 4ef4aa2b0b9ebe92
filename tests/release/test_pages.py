"""Placeholders and pins on the pages."""

import pytest

from release.pages import rewrite_page
from tests.release.conftest import DIGEST, RELEASE

HASH = "0123456789abcdef0123456789abcdef01234567"
COMMIT = "c0ffee" + "0" * 34


@pytest.mark.parametrize(
    ("text", "by_version", "by_commit"),
    [
        (
            f"- uses: OWNER/bug-triage@{HASH} # the commit of a release\n",
            "- uses: octo/shop@v1.2.3\n",
            f"- uses: octo/shop@{COMMIT} # v1.2.3\n",
        ),
        (
            f"+ uses: OWNER/bug-triage/composite@{HASH} # the commit of a release\n",
            "+ uses: octo/shop/composite@v1.2.3\n",
            f"+ uses: octo/shop/composite@{COMMIT} # v1.2.3\n",
        ),
        (f"uses: octo/shop@{HASH} # v1.1.0\n", "uses: octo/shop@v1.2.3\n", f"uses: octo/shop@{COMMIT} # v1.2.3\n"),
        ("uses: octo/shop@v1.1.0\n", "uses: octo/shop@v1.2.3\n", f"uses: octo/shop@{COMMIT} # v1.2.3\n"),
        (
            f"uvx --from git+https://github.com/OWNER/bug-triage@{HASH} \\\n  bug-triage\n",
            "uvx --from git+https://github.com/octo/shop@v1.2.3 \\\n  bug-triage\n",
            f"uvx --from git+https://github.com/octo/shop@{COMMIT} \\\n  bug-triage\n",
        ),
        ("`OWNER/bug-triage/composite@…`", "`octo/shop/composite@…`", "`octo/shop/composite@…`"),
        ("https://github.com/OWNER/bug-triage", "https://github.com/octo/shop", "https://github.com/octo/shop"),
        ("--owner OWNER", "--owner octo", "--owner octo"),
        ("ghcr.io/OWNER/bug-triage@sha256:DIGEST", f"ghcr.io/octo/shop@{DIGEST}", f"ghcr.io/octo/shop@{DIGEST}"),
        (f"ghcr.io/octo/shop@sha256:{'9' * 64}", f"ghcr.io/octo/shop@{DIGEST}", f"ghcr.io/octo/shop@{DIGEST}"),
        (
            "a\n<!-- before the first release -->\nReplace `OWNER`.\n<!-- /before the first release -->\nb\n",
            "a\nb\n",
            "a\nb\n",
        ),
    ],
)
def test_what_is_replaced(text: str, by_version: str, by_commit: str) -> None:
    assert rewrite_page(text, RELEASE) == by_version
    assert rewrite_page(text, RELEASE, COMMIT) == by_commit


@pytest.mark.parametrize(
    "text",
    [
        "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
        "CODEOWNERS",
        "someone/octo/shop@v1.1.0x",
        "octo/shopping@v1.1.0",
        "A version tag such as `v1.2.3`, `@sha256:` and a DIGEST",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    assert rewrite_page(text, RELEASE) == text
