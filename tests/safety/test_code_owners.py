"""Rules of CODEOWNERS: the examples of GitHub's documentation, and how its patterns differ from those of gitignore."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import measure_cost_ratio
from testing.each_row import each_row
from triage.safety.code_owners import CodeOwners

DOCUMENTED = """
# This is a comment.
*       @global-owner1 @global-owner2
*.js    @js-owner #This is an inline comment.
*.go docs@example.com
*.txt @octo-org/octocats
/build/logs/ @doctocat
docs/*  docs@example.com @docs-owner
apps/ @octocat
/docs/api/ @api-owner
/scripts/ @doctocat @octocat
**/logs @logs-owner
/apps/ @octocat
/apps/github
/apps/gitlab @doctocat
"""


@each_row(
    ("path", "owners"),
    [
        ("README.md", ["global-owner1", "global-owner2"]),
        ("web/app.js", ["js-owner"]),
        ("main.go", []),
        ("notes/a.txt", ["octo-org/octocats"]),
        ("build/logs/a.md", ["logs-owner"]),
        ("docs/getting-started.md", ["docs-owner"]),
        ("docs/api/deep/reference.md", ["api-owner"]),
        ("src/docs/getting-started.md", ["global-owner1", "global-owner2"]),
        ("src/apps/a.py", ["octocat"]),
        ("scripts/run.sh", ["doctocat", "octocat"]),
        ("deeply/nested/logs/a.log", ["logs-owner"]),
        ("apps/a.py", ["octocat"]),
        ("apps/github/a.py", []),
        ("apps/gitlab/a.py", ["doctocat"]),
    ],
)
def test_documented_examples(path: str, owners: list[str]):
    assert CodeOwners(DOCUMENTED).find_owners(path) == owners


@each_row(
    ("pattern", "path", "is_owned"),
    [
        ("/build/logs/", "build/logs/deep/a", True),
        ("/build/logs/", "x/build/logs/a", False),
        ("/*", "a/b", False),
        ("**/*", "a/b/c", True),
        ("**/docs/*", "docs/docs/a.md", True),
        ("**/docs/*", "docs/a/b.md", False),
        ("/docs/**/*", "docs/a/b/c.md", True),
        ("a?.py", "ab.py", True),
        (r"with\ space", "with space/a.py", True),
        ("A.py", "a.py", False),
    ],
)
def test_files_that_a_pattern_owns(pattern: str, path: str, is_owned: bool):
    assert CodeOwners(f"{pattern} @octocat").find_owners(path) == ["octocat"] * is_owned


@each_row(
    "line",
    ["!a.py @x", "[ab].py @x", "[a.py @x", r"\#a.py @x", "/ @x", "a\\", "a" * 1001, "* x", "* @x y", "* @x, @y"],
)
def test_a_line_that_github_refuses_names_nobody_and_is_found(line: str):
    owners = CodeOwners(f"* @everyone\n{line}\n/later/ @later")
    for path in ("a.py", "#a.py", "[ab].py"):
        assert owners.find_owners(path) == ["everyone"]
        rule = owners.find_rule(path)
        assert rule
        assert (rule.line, rule.is_readable) == (2, False)
    assert (rule := owners.find_rule("later/a.py"))
    assert rule.is_readable


@pytest.mark.parametrize("line", ["", "   ", "# a.py @x", "@x", "\\ @x", "b.py x", "\r"])
def test_a_line_that_does_not_concern_a_file(line: str):
    rule = CodeOwners(f"\ufeff* @everyone\n{line}\n").find_rule("a.py")
    assert rule
    assert (rule.line, rule.owners, rule.is_readable) == (1, ("@everyone",), True)


@pytest.mark.parametrize("owner", ["@mona", "@mona_acme", "@acme/core.team", "mona@example.com", "@m-1"])
def test_owners_that_github_takes(owner: str):
    rule = CodeOwners(f"* {owner}").find_rule("a.py")
    assert rule
    assert rule.is_readable


def test_only_line_feeds_end_a_line():
    rule = CodeOwners("* @mona\u2028* @mallory").find_rule("a.py")
    assert rule
    assert not rule.is_readable


@given(st.text("ab/*?!#\\@[] \n\x00é", max_size=60), st.text("ab/é ", min_size=1, max_size=20))
def test_any_text_is_a_file_of_rules(text: str, path: str):
    CodeOwners(text).find_owners(path)


@pytest.mark.parametrize("pattern", ["*a*a*a*a*a*b", "/*a*a*a*a*a*b/*", "a?*a?*a?*a?*a?*b"])
def test_the_cost_of_a_hostile_pattern_is_linear_in_the_path(pattern: str):
    """With backtracking it would be the fifth power."""
    owners = CodeOwners(f"*.py @team\n{pattern} @octo\n")

    def find(length: int) -> None:
        for _ in range(50):
            assert owners.find_owners(f"{'a' * length}.py") == ["team"]

    assert measure_cost_ratio(find, 10) < 10


@each_row("space", ["\u00a0", "\u3000", "\x0b", "\r", "\u2028"])
@each_row("line", ["*.py{}@bob", "*.py @bob{}@carl", "*.py{} @bob", "{}*.py @bob"])
def test_a_line_with_another_space_may_match_everything(line: str, space: str):
    rule = CodeOwners(f"* @alice\n{line.format(space)}").find_rule("a.py")
    assert rule is not None
    assert not rule.is_readable


def test_a_comment_may_have_any_space():
    assert CodeOwners("*.py @bob # caf\u00e9\u00a0noir").find_owners("a.py") == ["bob"]
