"""Paths that the project leaves out, as git itself would."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.checkouts.git_repositories import commit, git
from tests.index.indexes import make_codebase
from triage.domain.gitignore import expression
from triage.index.build.build_corpus import IndexLimits, build_corpus
from triage.index.codebase import GitCodebase
from triage.index.files.ignore import IGNORED, IgnoreRules, remove_ignored
from triage.index.source.commit import open_commit
from triage.index.vectors.chroma_store import digest_layout

FILES = {
    "src/app.py": "def app():\n    return 1\n",
    "src/gen/api.py": "def api():\n    return 2\n",
    "docs/api.md": "The api.\n",
    ".github/CODEOWNERS": "* @anna\n",
    ".github/ISSUE_TEMPLATE/bug.md": "What happened?\n",
}


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ([], [".github/CODEOWNERS", ".github/ISSUE_TEMPLATE/bug.md", "docs/api.md", "src/app.py", "src/gen/api.py"]),
        (["docs/**", ".github"], ["src/app.py", "src/gen/api.py"]),
        (["api.*", ".github/"], ["src/app.py"]),
        (["*", "!src", "!*.py", "gen"], ["src/app.py"]),
        (["src", "!src/app.py", ".github", "docs"], []),
        (["*.md", "*.py", "!app.py", "CODEOWNERS"], ["src/app.py"]),
    ],
)
def test_what_is_ignored_is_not_indexed_and_counted(tmp_path: Path, patterns: Sequence[str], left: list[str]):
    make_codebase(tmp_path, FILES)
    codebase = GitCodebase(tmp_path, "acme/shop", ignore=patterns)
    facts = codebase.index()
    assert sorted(codebase.list_paths()) == left
    assert facts.left_out.get(IGNORED, 0) == len(FILES) - len(left)
    assert not facts.partial


def test_owners_and_forms_are_read_from_an_ignored_folder(tmp_path: Path):
    make_codebase(tmp_path, FILES)
    codebase = GitCodebase(tmp_path, "acme/shop", ignore=[".github"])
    codebase.index()
    assert codebase.find_owners("src/app.py") == ["anna"]
    assert codebase.read_issue_forms() == ["What happened?\n"]


def test_vectors_of_other_files_are_not_taken_over(tmp_path: Path):
    """On a Chroma server that jobs share, a commit's vectors are known by how it was cut."""
    commit(tmp_path, {"one.py": "def one():\n    return 1\n", "two.py": "def two():\n    return 2\n"})
    tree = open_commit(tmp_path)
    kept = [remove_ignored(tree.list_files(), [name]) for name in ("one.py", "two.py")]
    first, second = (build_corpus(tree, listing, IndexLimits()).corpus for listing in kept)
    assert digest_layout(first, [0]) != digest_layout(second, [0])


@pytest.fixture(scope="module")
def repository() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        git(Path(folder), "init", "-q")
        yield Path(folder)


NAMES = st.text("ab.-*", min_size=1, max_size=3).filter(lambda name: name not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
GLOBS = st.lists(st.sampled_from(["a", "b", "ab", "*", "?", "[ab]", "[!a]", "[^b]", "[a-c]", "[+-9]", r"\*", ".", "-"]))
PARTS = st.one_of(GLOBS.map("".join).filter(lambda glob: glob and "**" not in glob), st.just("**"))
PATTERNS = st.builds(
    lambda kept, start, parts, end: kept + start + "/".join(parts) + end,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "/"]),
    st.lists(PARTS, min_size=1, max_size=4),
    st.sampled_from(["", "/"]),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(PATTERNS, min_size=1, max_size=4), st.lists(PATHS, min_size=1, max_size=30, unique=True))
def test_git_agrees(repository: Path, patterns: list[str], paths: list[str]):
    for pattern in patterns:
        expression(pattern.removeprefix("!"))
    (repository / "patterns").write_text("\n".join(patterns) + "\n")
    (repository / "paths").write_text("\0".join(paths))
    ours = IgnoreRules(patterns)
    assert {path for path in paths if ours.matches(path)} == by_git(repository)


def by_git(repository: Path) -> set[str]:
    command = (
        'git -c core.excludesFile="$PWD/patterns" check-ignore --no-index -z --stdin <paths >ignored; test $? -le 1'
    )
    git(repository, "-c", f"alias.ask=!{command}", "ask")
    return set((repository / "ignored").read_text().split("\0")) - {""}
