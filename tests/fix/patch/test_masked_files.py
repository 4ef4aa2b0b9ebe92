"""An edit of a masked line changes the line and keeps its value; a mask can neither be invented nor moved."""

from collections.abc import Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from testing.each_row import each_row
from testing.fake_files import FakeFiles
from testing.text.secret_forms import PASSWORD, TOKEN
from tests.fix.patch.drafts import make_draft
from triage.domain.proposal import BaseFile, FileVersion, ModuleSummary
from triage.fix.fix_answers import EditAnswer, FileAnswer
from triage.fix.patch.apply_edits import build_versions
from triage.fix.patch.check_patch import find_problems
from triage.fix.patch.masked_files import build_commit_file, mask_output, mask_version
from triage.fix.patch.unified_diff import format_diff

PATH = "shop/settings.py"
BASE = f'HOST = "db"\nDB_PASSWORD = "{PASSWORD}"\nAPI_KEY = "{TOKEN}"\nURL = "postgres://shop:{TOKEN}@db.acme.com/x"\n'
MODULES = [ModuleSummary(name="shop/", paths=["shop/"])]


def make_files(text: str = BASE) -> FakeFiles:
    return FakeFiles({PATH: BaseFile(text=text)})


def build_answer(*edits: tuple[str, str]) -> FileAnswer:
    written = [EditAnswer(search=search, replace=replace) for search, replace in edits]
    return FileAnswer(file_path=PATH, description="", is_new_file=False, edits=written, new_content=None)


def edit(files: FakeFiles, *edits: tuple[str, str]) -> tuple[list[FileVersion], list[str]]:
    versions, problems = build_versions([build_answer(*edits)], files)
    return versions, problems or find_problems(make_draft(versions), files, MODULES, [])


def commit(files: FakeFiles, versions: Sequence[FileVersion]) -> str:
    (version,) = versions
    return build_commit_file(version, files).text


def restore(text: str) -> str:
    return text.replace("[masked secret 1]", PASSWORD).replace("[masked secret 2]", TOKEN)


@pytest.mark.parametrize(
    ("search", "replace"),
    [
        ('DB_PASSWORD = "[masked secret 1]"', 'DB_PASS = "[masked secret 1]"  # x'),
        ('"[masked secret 1]"', 'environ.get("PASSWORD", "[masked secret 1]")'),
        ('"[masked secret 1]"', 'getenv("DB") or "[masked secret 1]"'),
        ('API_KEY = "[masked secret 2]"\n', ""),
        ('"db"\n', '"db2"\n'),
    ],
)
def test_the_value_of_a_masked_line_stays(search: str, replace: str):
    files = make_files()
    versions, problems = edit(files, (search, replace))
    assert problems == []
    assert commit(files, versions) == BASE.replace(restore(search), restore(replace), 1)
    assert PASSWORD not in versions[0].text + format_diff(make_draft(versions), files)
    assert mask_version(PATH, commit(files, versions), files) == versions[0].text


@each_row(
    ("edits", "reason"),
    [
        ([('"db"', '"[masked secret 1]"')], "does not have, or not in this order"),
        ([('"db"', '"[masked secret]"')], "does not have, or not in this order"),
        ([('"[masked secret 1]"', '"[masked secret 2]"')], "does not have, or not in this order"),
        ([('"[masked secret 1]"', '"[masked secret 1]" + "[masked secret 1]"')], "does not have"),
        (
            [('1]"\nAPI_KEY = "[masked secret 2]', '2]"\nAPI_KEY = "[masked secret 1]')],
            "begins or ends inside of [masked secret 1]",
        ),
        ([('DB_PASSWORD = "[masked secret 1]"', 'print("[masked secret 1]")')], "no longer be taken for a secret"),
        ([('DB_PASSWORD = "[', 'DB_PASS = "[')], "begins or ends inside of [masked secret 1]"),
        ([('"db"', f'"db"\nNEW_PASSWORD = "{TOKEN[::-1]}"')], "looks like a secret in line 2"),
    ],
)
def test_a_mask_that_is_new_moved_or_lost_is_refused(edits: list[tuple[str, str]], reason: str):
    files = make_files()
    _, problems = edit(files, *edits)
    assert reason in " ".join(problems)


def test_a_draft_of_somebody_else_cannot_use_masks():
    files = make_files()
    shown = files.read(PATH)
    assert isinstance(shown, BaseFile)
    for text in (
        shown.text.replace('"db"', '"[masked secret 1]"'),
        shown.text + 'B = "[masked secret 9]"\n',
        shown.text.replace("[masked secret 1]", "[Masked secret 1]"),
        shown.text.replace("[masked secret 1]", PASSWORD),
        "".join(reversed(shown.text.splitlines(keepends=True))),
    ):
        assert find_problems(make_draft([FileVersion(path=PATH, text=text)]), files, MODULES, []) != []
    new = FileVersion(path="shop/new.py", text='A = "[masked secret 1]"\n', is_new_file=True)
    assert "a mask where the file has none" in find_problems(make_draft([new]), files, MODULES, [])[0]


def test_a_message_about_an_address_does_not_show_its_password():
    files = make_files()
    _, problems = edit(files, ("@db.acme.com/x", "@db.acme.com/y"))
    assert "an address that was not there" in problems[0]
    assert TOKEN[:12] not in problems[0]


def test_an_edit_that_makes_a_file_too_long_is_refused_with_its_reason():
    _, problems = edit(make_files("x = 1\n" * 166_000 + "y = 1\n"), ("y = 1", f"y = '{'z' * 5_000}'"))
    assert problems == [f"{PATH} would have more than 1,000,000 characters: make it no longer than it is."]


def test_what_a_check_printed_has_no_value_of_the_file():
    assert PASSWORD not in mask_output(f"AssertionError: {PASSWORD} != 1", [PATH], make_files())


lines = st.one_of(
    st.sampled_from(["x = 1", "", "# a", "    return", "[masked secret 1]", 'A = "é"']),
    st.integers(0, 99).map(lambda number: f'password_{number} = "{PASSWORD}{number % 7}"'),
    st.integers(0, 99).map(lambda number: f'URL = "postgres://u:{TOKEN}{number}@h/"  # {number}'),
)
added = st.lists(st.sampled_from(["y = 2", "# é"]), max_size=2)


@given(
    base=st.lists(lines, min_size=1, max_size=8),
    crlf=st.booleans(),
    places=st.lists(st.tuples(st.integers(0, 7), st.integers(1, 3), added, st.booleans()), min_size=1, max_size=2),
)
def test_edits_through_masks_are_edits_of_the_original(
    base: list[str], crlf: bool, places: list[tuple[int, int, list[str], bool]]
):
    end = "\r\n" if crlf else "\n"
    files = make_files("".join(line + end for line in base))
    shown = files.read(PATH)
    assert isinstance(shown, BaseFile)
    masked = shown.text.replace("\r\n", "\n").split("\n")
    expected: list[str | None] = list(base)
    edits: list[tuple[str, str]] = []
    for start, size, new, keeps in places:
        taken = range(start, min(start + size, len(base)))
        assume(taken and all(expected[at] == base[at] for at in taken))
        search = "".join(f"{masked[at]}\n" for at in taken)
        kept = search if keeps else ""
        edits.append((search, "".join(f"{line}\n" for line in new) + kept))
        added_lines = "".join(line + end for line in new)
        kept_lines = "".join(base[at] + end for at in taken) if keeps else ""
        expected[taken[0]] = f"\0{added_lines}{kept_lines}"
        expected[taken[0] + 1 : taken[-1] + 1] = [None] * (len(taken) - 1)
    versions, problems = build_versions([build_answer(*edits)], files)
    assume(not problems)
    wanted = "".join("" if line is None else line[1:] if line.startswith("\0") else line + end for line in expected)
    assert commit(files, versions) == wanted
