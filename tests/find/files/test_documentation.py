"""What is written for people, and where its sections begin."""

from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from triage.find.files.documentation import Heading, find_headings, is_documentation

PAGES = """
README.md
docs/guide/usage.mdx
book/src/editor.md
doc/en/how-to/fixtures.rst
docs/ref/settings.txt
man/man1/fzf.1
tmux.1
jq.1.prebuilt
contrib/signet/README
modules/api.adoc
"""
NO_PAGES = """
src/app/store.py
lib/libfoo.so.1.2
notes.txt
LICENSE.md
CHANGELOG.md
docs/changelog.rst
docs/changes/1.0.rst
docs/release-notes/0.20.md
docs/RELEASES.md
website/versioned_docs/version-2.0/cli.md
docs/content/v1.6/manual.md
docs/de-DE/config/README.md
doc/pt-br/config.md
README.zh-CN.md
README.中文.md
README_ja.md
.github/ISSUE_TEMPLATE/bug.md
"""


@each_row("path", PAGES.split())
def test_a_page_may_answer(path: str):
    assert is_documentation(path)


@each_row("path", NO_PAGES.split())
def test_what_is_no_answer(path: str):
    assert not is_documentation(path)


@each_row(
    ("path", "text", "headings"),
    [
        ("a.md", "# One\n\ntext\n### Two `--x` ##\n", [(1, "One"), (4, "Two `--x`")]),
        ("a.md", "#no heading\n```sh\n# a comment\n```\n## After\n", [(5, "After")]),
        ("a.md", "~~~\n```\n# in code\n~~~\n# Out\n", [(5, "Out")]),
        ("a.md", "````md\n```sh\n# in code\n```\n# in code\n````\n# Out\n", [(7, "Out")]),
        ("a.md", "```sh\n```text\n# in code\n```\n# Out\n", [(5, "Out")]),
        ("a.md", "Usage\n-----\n\na | b\n--- | ---\n\ntext\nmore\n----\n", [(1, "Usage")]),
        ("a.md", "---\ntitle: x\n---\n", []),
        ("a.md", '<h3 name="x">\nHow do I <code>x</code>?\n</h3>\n', [(1, "How do I x?")]),
        ("a.md", "<h2>Inline</h2>\n", [(1, "Inline")]),
        (
            "a.rst",
            "=====\nTitle\n=====\n\nPart\n~~~~\n\n    code\n    ----\n\n# no heading\n",
            [(2, "Title"), (5, "Part")],
        ),
        ("docs/a.txt", "Settings\n========\n", [(1, "Settings")]),
        ("a.adoc", "= Title\n\n== Part one\n==== \n", [(1, "Title"), (3, "Part one")]),
        (
            "x.1",
            '.TH X 1\n.SH OPTIONS\n.TP\n.SS "KEY\\-EVENT \\fBBINDING\\fR"\n.Sh NAME\n',
            [(2, "OPTIONS"), (4, "KEY-EVENT BINDING"), (5, "NAME")],
        ),
        ("a.py", "# One\n", []),
        ("a.md", "", []),
    ],
)
def test_sections_begin_at_headings(path: str, text: str, headings: list[tuple[int, str]]):
    assert find_headings(path, text.split("\n")) == [Heading(*one) for one in headings]


@each_row("path", ["a.md", "a.rst", "a.adoc", "a.1"])
def test_a_hostile_page_takes_linear_time(path: str):
    def build(size: int) -> list[str]:
        return [
            "#" + " #" * size,
            "<h1" + "<" * size,
            "." + " SH" * size,
            "=" * size,
            "`" * size,
            ".SH" + " " * size + '"',
        ]

    assert_grows_linearly(build, lambda lines: find_headings(path, lines))
