"""The code and the tests that the fix flow shows: exact, without numbers, no line twice, within its room."""

import pytest

from testing import factories
from testing.fake_files import FakeFiles
from testing.fakes import FakeCodebase
from tests.say.sample_reports import FULL
from triage.domain.code import Passage, Span, Suspect
from triage.domain.proposal import TextFile
from triage.fix.graph.fix_state import FixState
from triage.fix.graph.shown_files import (
    MAX_WHOLE_CHARS,
    CopyableCode,
    collect_code,
    collect_tests,
)
from triage.read.read_issue import read_issue_and_thread

SMALL = "def parse(text):\r\n    return int(text)\r\n"
LARGE = "".join(f"line_{number} = {number}\n" for number in range(1, 3_001))


def make_files(**texts: str) -> FakeFiles:
    return FakeFiles({path: TextFile(text=text) for path, text in {"a.py": SMALL, "big.py": LARGE, **texts}.items()})


def make_input(**changes: object) -> FixState:
    return FixState(issue=factories.issue(), repository=factories.repository()).model_copy(update=changes)


def make_passage(path: str, start: int, end: int) -> Passage:
    return Passage(span=Span(path=path, start=start, end=end), text="x")


def test_a_small_file_is_shown_whole_and_once() -> None:
    shown = CopyableCode(make_files())
    assert shown.add_file("a.py")
    assert shown.add_file("a.py")
    shown.add_lines("a.py", 1, 1)
    assert shown.text == "## a.py (whole file)\ndef parse(text):\n    return int(text)\n"


def test_lines_of_a_long_file_are_shown_once() -> None:
    assert len(LARGE) > MAX_WHOLE_CHARS
    shown = CopyableCode(make_files())
    shown.add_lines("big.py", 10, 12)
    shown.add_lines("big.py", 11, 14, "Store.save")
    assert shown.text == (
        "## big.py:10-12\nline_10 = 10\nline_11 = 11\nline_12 = 12\n\n"
        "## big.py:13-14 (Store.save)\nline_13 = 13\nline_14 = 14"
    )
    assert not shown.add_file("big.py")
    assert "## big.py:1-9\nline_1 = 1\n" in shown.text, "its head"


def test_what_has_no_room_is_named() -> None:
    shown = CopyableCode(make_files(), max_chars=60)
    shown.add_lines("big.py", 1, 2)
    shown.add_lines("big.py", 100, 120)
    assert "(No room for: big.py:100-120)" in shown.text


def test_a_file_that_cannot_be_changed_is_not_shown() -> None:
    files = FakeFiles({"image.png": "a binary file"})
    shown = CopyableCode(files)
    assert not shown.add_file("image.png")
    shown.add_lines("nowhere.py", 1, 5)
    assert shown.text == "(image.png cannot be shown: it is a binary file.)"


def test_likely_files_come_before_passages() -> None:
    given = make_input(
        affected_files=["a.py"], retrieved_chunks=[make_passage("big.py", 5, 6), make_passage("a.py", 1, 1)]
    )
    text = collect_code(CopyableCode(make_files()), given, FakeCodebase({"a.py": SMALL, "big.py": LARGE}), []).text
    assert text.index("## a.py (whole file)") < text.index("## big.py:5-6")
    assert text.count("def parse") == 1


def test_what_the_model_asks_for_comes_first() -> None:
    codebase = FakeCodebase({"a.py": SMALL, "big.py": LARGE})
    given = make_input(affected_files=["a.py"])
    text = collect_code(CopyableCode(make_files()), given, codebase, ["big.py:2000-2001", "nothing.here"]).text
    assert text.index("line_2000 = 2000") < text.index("def parse")


def test_what_may_not_be_changed_is_shown_and_said() -> None:
    files: dict[str, TextFile | str] = {
        "a.py": TextFile(text=SMALL),
        "ci.yml": TextFile(text="run: make\n"),
        "image.png": "a binary file",
    }
    shown = CopyableCode(FakeFiles(files), check_path=lambda path, _: f"{path} is outside." if path == "ci.yml" else "")
    wanted = ["ci.yml", "image.png", "no.where", "a.py"]
    text = collect_code(shown, make_input(), FakeCodebase({"a.py": SMALL}), wanted).text
    assert "## ci.yml (whole file)\nrun: make\n" in text
    assert text.endswith(
        "(Only to read: ci.yml is outside.)\n\n(image.png cannot be shown: it is a binary file.)\n\n"
        "(no.where is no file and no definition of the repository.)"
    )


def test_lines_far_beyond_the_file_are_cut() -> None:
    shown = CopyableCode(make_files())
    shown.add_lines("a.py", -5, 10**9)
    assert shown.text.splitlines()[0].startswith("## a.py:1-")


@pytest.mark.parametrize(("last", "shown"), [(1002, "## big.py:985-1017"), (1060, "## big.py:1000-1060")])
def test_a_short_definition_is_shown_with_what_stands_around_it(last: int, shown: str) -> None:
    class OneDefinition(FakeCodebase):
        def find_definitions(self, name: str) -> list[Passage]:
            return [Passage(span=Span(path="big.py", start=1000, end=last), text="", symbol=name)]

    suspect = Suspect(path="big.py", span=Span(path="big.py", start=1001, end=1001), symbol="Log.reset", reason="")
    given = make_input(report=FULL.model_copy(update={"suspects": [suspect]}))
    text = collect_code(CopyableCode(make_files()), given, OneDefinition({"big.py": LARGE}), []).text
    assert f"{shown} (Log.reset)" in text


LONG_TEST = (
    "import shop\n"
    + "x = 1  # padding\n" * (MAX_WHOLE_CHARS // 16)
    + "def test_url():\n    InvalidURL\n"
    + "y = 2\n" * 100
)
TEXTS = {
    "shop/models.py": "def prepare(url): ...\n",
    "tests/__init__.py": "",
    "tests/conftest.py": "fixture = 1\n",
    "tests/test_help.py": "def test_help(): ...\n",
    "tests/test_hooks.py": "def test_hooks(): ...\n",
    "tests/test_zeal.py": "def test_zeal(): ...\n",
    "tests/test_zoo.py": "def test_zoo(): ...\n",
    "tests/test_everything.py": LONG_TEST,
    "web/test_everything.js": "test('invalidurl')\n",
    "tests/Cart.test.ts": "test('cart')\n",
    "tests/test_cart.cpp": "int main() {}\n",
}


def show(changed: str = "shop/models.py", **changes: object) -> str:
    issue = factories.issue(title="InvalidURL is not raised", body="")
    parsed, _ = read_issue_and_thread(issue)
    known = FixState(
        issue=issue,
        repository=factories.repository(),
        parsed=parsed,
        technical_summary="prepare must raise InvalidURL",
    )
    files = FakeFiles({path: TextFile(text=text) for path, text in TEXTS.items()})
    return collect_tests(CopyableCode(files), known.model_copy(update=changes), FakeCodebase(TEXTS), [changed], [])


def test_the_tests_that_share_words_with_the_issue_are_shown_in_the_language_of_the_change() -> None:
    text = show()
    assert text.index("tests/test_everything.py:1-") < text.index("tests/test_everything.py:15")
    assert "test_zoo" not in text
    assert "test_everything.js" not in text


def test_without_such_a_test_one_shows_how_tests_are_written() -> None:
    parsed, _ = read_issue_and_thread(factories.issue(title="nothing", body=""))
    text = show(parsed=parsed, technical_summary="")
    assert text.startswith("## tests/test_everything.py:1-80")
    assert "test_help" not in text


@pytest.mark.parametrize(
    ("changed", "shown"), [("web/Cart.tsx", "tests/Cart.test.ts"), ("include/cart.h", "tests/test_cart.cpp")]
)
def test_the_language_of_a_test_may_be_a_related_one(changed: str, shown: str) -> None:
    parsed, _ = read_issue_and_thread(factories.issue(title="nothing", body=""))
    assert show(changed, parsed=parsed, technical_summary="").startswith(f"## {shown}")
