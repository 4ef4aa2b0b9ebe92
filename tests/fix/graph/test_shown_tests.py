"""Which existing tests the model sees, and which lines of a long one."""

from testing import factories
from testing.fake_files import FakeFiles
from testing.fakes import FakeCodebase
from triage.domain.proposal import BaseFile
from triage.fix.graph.fix_state import FixState
from triage.fix.graph.shown_files import MAX_WHOLE_CHARS, ShownCode, collect_tests, find_named
from triage.read.read_issue import read_issue_and_thread

LONG = (
    "import shop\n"
    + "x = 1  # padding\n" * (MAX_WHOLE_CHARS // 16)
    + "def test_url():\n    InvalidURL\n"
    + "y = 2\n" * 100
)
FILES = {
    "shop/models.py": "def prepare(url): ...\n",
    "tests/test_help.py": "def test_help(): ...\n",
    "tests/test_hooks.py": "def test_hooks(): ...\n",
    "tests/test_zeal.py": "def test_zeal(): ...\n",
    "tests/test_zoo.py": "def test_zoo(): ...\n",
    "tests/test_everything.py": LONG,
    "web/test_everything.js": "test('invalidurl')\n",
}


def show(**changes: object) -> str:
    issue = factories.issue(title="InvalidURL is not raised", body="")
    parsed, _ = read_issue_and_thread(issue)
    known = FixState(
        issue=issue,
        repository=factories.repository(),
        parsed=parsed,
        technical_summary="prepare must raise InvalidURL",
    )
    files = FakeFiles({path: BaseFile(text=text) for path, text in FILES.items()})
    return collect_tests(
        ShownCode(files), known.model_copy(update=changes), FakeCodebase(FILES), ["shop/models.py"], []
    )


def test_a_test_that_shares_words_with_the_issue_is_shown_whatever_its_name() -> None:
    text = show()
    assert text.index("tests/test_zoo.py") < text.index("tests/test_everything.py") < text.index("tests/test_help.py")
    assert "InvalidURL" in text
    assert "test_everything.js" not in text


def test_without_such_a_test_names_decide() -> None:
    parsed, _ = read_issue_and_thread(factories.issue(title="nothing", body=""))
    assert "tests/test_everything.py" not in show(parsed=parsed, technical_summary="")


def test_names_are_words_and_the_rarest_come_first() -> None:
    lines = ["class A(object):", *[""] * 40, "obj.reset()", *[""] * 40, "reset()", *[""] * 40, "reset()"]
    assert find_named(lines, ["reset", "obj"]) == [(27, 57), (68, 98)]
    assert find_named(lines, ["gone"]) == []
