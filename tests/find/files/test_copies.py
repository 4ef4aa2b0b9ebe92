"""Generated and copied files are no product code: their originals are."""

from pathlib import Path

from testing.checkouts.git_repositories import commit
from testing.each_row import each_row
from triage.domain.code import SearchQuery
from triage.domain.issue import Issue
from triage.find.codebase import Codebase
from triage.find.files.file_filter import find_copies, parse_attributes
from triage.find.files.file_roles import classify_file
from triage.git.tree import Entry
from triage.read.read_issue import read_issue


def test_marks_of_gitattributes():
    text = """
# *.md linguist-generated
gen/** linguist-generated=true
*.min.js   text linguist-vendored
docs/api/** -diff linguist-documentation
src/** -linguist-generated
lib/** linguist-generated=false
"a b" linguist-generated
*.py text
"""
    assert parse_attributes(text) == ["gen/**", "*.min.js", "docs/api/**"]


def test_what_the_project_marks_and_declarations_beside_their_source():
    paths = ["index.js", "index.d.ts", "index.d.cts", "types/only.d.ts", "gen/a/b.go", "gen.go", "src/gen/c.go"]
    entries = [Entry(path, 9) for path in paths]
    assert find_copies(entries, ["gen/**"]) == {"index.d.ts", "index.d.cts", "gen/a/b.go"}
    assert find_copies(entries, []) == {"index.d.ts", "index.d.cts"}
    assert find_copies([Entry("a.py", 9)], ["[z-a]"]) == frozenset()


def test_a_built_copy_of_a_file_is_known_by_its_blob():
    named = {"lib/a.js": "1", "dist/a.js": "1", "build/b.js": "2", "generated/x/a.js": "1", "src/a2.js": "1"}
    entries = [Entry(path, 9, blob) for path, blob in named.items()]
    assert find_copies(entries, []) == {"dist/a.js", "generated/x/a.js"}
    assert find_copies([Entry("dist/a.js", 9), Entry("lib/a.js", 9)], []) == frozenset(), "a folder without git"


@each_row("path", ["single_include/catch2/catch.hpp", "amalgamated/sqlite3.c", "extra/single-include/a.h"])
def test_bundles_are_no_product_code(path):
    assert not classify_file(path).is_product_code


def test_a_marked_copy_does_not_lead(tmp_path: Path):
    source = 'int check(int value) {\n  return fail("the vessel is not sealed yet");\n}\n'
    files = {"bundle/all.cpp": source + "int other() { return 1; }\n", "src/vessel.cpp": source}
    files |= {f"src/part_{number}.cpp": f"int part_{number}() {{ return {number}; }}\n" for number in range(9)}
    parsed = read_issue(Issue(title="check fails", body="It says `the vessel is not sealed yet` when I call check."))
    for marks, sign in (("", None), ("bundle/** linguist-generated\n", "message")):
        root = tmp_path / (sign or "unmarked")
        root.mkdir()
        commit(root, files | {".gitattributes": marks})
        codebase = Codebase(root, "acme/vessel", in_chroma=False)
        codebase.index()
        place = next(iter(codebase.find_places(parsed)), None)
        assert (place.sign if place else None) == sign
    assert codebase.search(SearchQuery(parsed=parsed), 1)[0].path == "src/vessel.cpp"
