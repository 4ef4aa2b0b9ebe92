"""A new address may be a page of the project or of a language's reference, and nothing that a stranger can write."""

import pytest

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from testing.fake_files import FakeFiles
from triage.domain.proposal import BaseFile, FileVersion
from triage.fix.patch.documentation_links import is_documentation_link, list_own_pages
from triage.fix.patch.file_rules import find_content_problems

METADATA = {
    "pyproject.toml": (
        '[project.urls]\nDocumentation = "https://shop.readthedocs.io/en/latest/"\nHomepage = "https://shop.io"\n'
        'Source = "https://github.com/octo/shop"\nFunding = "https://funds.io/shop"\n'
    ),
    "package.json": (
        '{"homepage": "https://octo.github.io/shop/index.html", "bugs": {"url": "https://github.com"},'
        ' "repository": {"type": "git", "url": "git+https://gitlab.com/octo/shop.git"}, "author": ["x"]}'
    ),
    "Cargo.toml": "[package\n",
    "composer.json": "[]",
}
FILES = FakeFiles.of_texts(**METADATA)
OWN = list_own_pages(FILES)


def test_the_metadata_names_the_pages():
    expected = {
        "shop.readthedocs.io/en/latest/",
        "shop.io/",
        "github.com/octo/shop/",
        "octo.github.io/shop/",
        "gitlab.com/octo/shop/",
    }
    assert expected == OWN


@each_row(
    "url",
    [
        "https://shop.io/docs/a.html#total",
        "https://shop.readthedocs.io/en/latest/api/",
        "https://octo.github.io/shop/guide",
        "https://github.com/octo/shop/issues/12",
        "https://gitlab.com/octo/shop/-/merge_requests/3",
        "https://docs.python.org/3/library/re.html#re.fullmatch",
        "https://www.rfc-editor.org/rfc/rfc9110#section-5",
    ],
)
def test_true_links_may_stand(url: str):
    assert is_documentation_link(url, OWN)


@each_row(
    "url",
    [
        "http://shop.io/docs",
        "https://shop.io",
        "https://shop.io.evil.io/docs",
        "https://evil.shop.io/docs",
        "https://shop.io@evil.io/docs",
        "https://shop.io:8080/docs",
        "https://shop.io/docs?to=evil.io",
        "https://shop.io/https://evil.io/",
        "https://shop.io/%2e%2e/a",
        "https://shop.io/a\\x40evil.io",
        "https://shop.io/{evil",
        "https://funds.io/shop/a",
        "https://shop.readthedocs.io/en/pr-12/",
        "https://shop.readthedocs.io/en/latest/../pr-12/",
        "https://shop.readthedocs.io/en/latest-evil/",
        "https://octo.github.io/other/",
        "https://shop.io/uploads/abc/evil.html",
        "https://shop.io/-/snippets/1",
        "https://shop.io/wiki/Home",
        "https://github.com/octo/shop",
        "https://github.com/octo/shop/files/12/evil.zip",
        "https://github.com/octo/shop/raw/0123456789/evil.sh",
        "https://github.com/octo/shop/issues/12/../../../../evil/a/issues/1",
        "https://github.com/octo/shop-evil/issues/12",
        "https://github.com/evil/a/issues/12",
        "https://docs.python.org.evil.io/3/",
        "https://docs.python.org",
        "https://docs.python.org/３/",
        "//docs.python.org/3/",
    ],
)
def test_what_a_stranger_could_have_planted_may_not(url: str):
    assert not is_documentation_link(url, OWN)


@pytest.mark.parametrize(("url", "problems"), [("https://shop.io/docs/a", 0), ("https://evil.io/docs/a", 1)])
def test_a_patch_may_link_the_documentation_of_its_project(url: str, problems: int):
    files = FakeFiles.of_texts(**{**METADATA, "a.py": "x = 1\n"})
    file = FileVersion(path="a.py", text=f"x = 1  # See {url}.\n")
    assert len(list(find_content_problems(file, BaseFile(text="x = 1\n"), files))) == problems


@each_row("piece", ["https://a.io/", "a/", "a.", "-", "a.a-", "%"])
def test_hostile_addresses_take_linear_time(piece: str):
    assert_grows_linearly(repeat_to(piece), lambda text: is_documentation_link(f"https://shop.io/{text}", OWN))
