"""Real git applies the diffs, and gets the files of the patch."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.checkouts.git_repositories import ENVIRONMENT, git, write
from testing.fake_files import FakeFiles
from tests.fix.patch.patches import make_patch
from triage.domain.proposal import PatchedFile, TextFile
from triage.fix.patch.unified_diff import cut_diff, diff_file, diff_files, format_diff

LONG = "".join(f"line {number}\n" for number in range(40))


def apply_diff(folder: Path, before: dict[str, str], after: dict[str, str]) -> dict[str, str]:
    """Returns what real git makes of the files."""
    files = FakeFiles({path: TextFile(text=text) for path, text in before.items()})
    changes = [PatchedFile(path=path, text=text, is_new_file=path not in before) for path, text in after.items()]
    diff = format_diff(make_patch(changes), files)
    folder.mkdir(parents=True, exist_ok=True)
    write(folder, before)
    git(folder, "init", "-q")
    command = ["git", "-C", str(folder), "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, input=diff.encode(), env=ENVIRONMENT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode() + diff
    return {path: (folder / path).read_bytes().decode() for path in {**before, **after}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a\nb", "a\nc"),
        ("a\nb", "a\nb\n"),
        ("a\n", ""),
        ("", "a\n"),
        (LONG, LONG.replace("line 3\n", "").replace("line 30\n", "changed\nadded\n")),
        (LONG, f"first\n{LONG}last\n"),
        (LONG, LONG.replace("line 10\n", "x\n").replace("line 17\n", "y\n").replace("line 25\n", "z\n")),
        ("é\u2028ü\x0cx\n", "é\u2028ö\x0cx\n"),
    ],
)
def test_git_applies_the_diff_of_a_file(before: str, after: str, tmp_path: Path):
    assert apply_diff(tmp_path, {"src/a.py": before}, {"src/a.py": after}) == {"src/a.py": after}


@pytest.mark.parametrize("path", ["a b.py", "é/ü.py", "日本 語.py", "a/b/c.py", "-x.py"])
def test_git_reads_the_paths(path: str, tmp_path: Path):
    assert apply_diff(tmp_path / "changed", {path: "a\n"}, {path: "b\n"}) == {path: "b\n"}
    assert apply_diff(tmp_path / "added", {}, {path: "b\n"}) == {path: "b\n"}


def test_new_files_may_be_empty(tmp_path: Path):
    after = {"pkg/__init__.py": "", "pkg/b.py": "x\ny\n", "c": "no end"}
    assert apply_diff(tmp_path, {"a": "1\n"}, {**after, "a": "2\n"}) == {**after, "a": "2\n"}


lines = st.lists(st.sampled_from(["a\n", "b\n", "\n", "c\r\n", "  d\n"]), max_size=30).map("".join)
texts = st.tuples(lines, st.sampled_from(["", "end"])).map("".join)


@settings(max_examples=20)
@given(before=texts, after=texts)
def test_git_applies_any_diff(before: str, after: str, tmp_path_factory: pytest.TempPathFactory):
    if before == after:
        return
    assert apply_diff(tmp_path_factory.mktemp("w"), {"a": before}, {"a": after}) == {"a": after}


@given(before=texts, after=texts)
def test_the_counts_are_those_of_the_diff(before: str, after: str):
    patch = make_patch([PatchedFile(path="a", text=after)])
    files = FakeFiles({"a": TextFile(text=before)})
    body = format_diff(patch, files).split("\n")[3:]
    (diff,) = diff_files(patch, files)
    assert diff.added == sum(line.startswith("+") for line in body)
    assert diff.removed == sum(line.startswith("-") for line in body)


def test_a_small_edit_of_a_long_file_is_a_small_diff():
    old = [f"{'return' if number % 3 else number}\n" for number in range(20_000)]
    new = ["first\n", *old[:9_000], *old[9_001:], "last\n"]
    assert diff_file(PatchedFile(path="a", text="".join(new)), "".join(old)).changed == 3


@pytest.mark.parametrize("distinct", [2, 30, 200, 100_000])
def test_hostile_texts_are_compared_in_seconds(distinct: int):
    old = [f"{(number * 7919) % distinct}\n" for number in range(100_000)]
    assert diff_file(PatchedFile(path="a", text="".join(old[::-1])), "".join(old)).changed > 0


def test_settings_around_the_temporary_folder_do_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    git(tmp_path, "init", "-q")
    for name in ("diff.external", "diff.a.command", "diff.a.textconv"):
        git(tmp_path, "config", name, f"touch {tmp_path}/hit;false")
    git(tmp_path, "config", "core.autocrlf", "true")
    git(tmp_path, "config", "diff.noprefix", "true")
    write(tmp_path, {".gitattributes": "* diff=a text=auto\n"})
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert diff_file(PatchedFile(path="a", text="x\n"), "x\r\n").text.endswith("@@ -1 +1 @@\n-x\r\n+x\n")
    assert not (tmp_path / "hit").exists()


def test_a_text_with_bytes_of_programs_is_compared_as_text():
    assert diff_file(PatchedFile(path="a", text="x\0\n"), "y\n").text.endswith("@@ -1 +1 @@\n-y\n+x\0\n")


def test_long_diffs_are_cut_at_a_line():
    assert cut_diff("a\nb\nc\n", 3) == "a\nb\nc\n"
    assert cut_diff("a\nb\nc\n", 2) == "a\nb\n[1 more line]\n"
    assert cut_diff("a\nb\nc\nd", 2) == "a\nb\n[2 more lines]\n"


def test_an_unchanged_file_has_no_diff():
    patch = make_patch([PatchedFile(path="a", text="x\n")])
    assert format_diff(patch, FakeFiles({"a": TextFile(text="x\n")})) == ""
