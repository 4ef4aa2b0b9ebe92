"""What the tools say, and that they say nothing of what is not in the indexed commit."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.utils.function_calling import convert_to_openai_tool

from testing import factories
from testing.fakes import FakeCodebase
from tests.find.indexes import make_codebase
from triage.agents import code_tools
from triage.agents.code_tools import MAX_FILE_MATCHES, build_code_tools
from triage.agents.shown_code import ShownCode
from triage.domain.code import FileChange, History, LineMatch, LineMatches, Passage, Span

CODE = FakeCodebase(
    factories.FILES,
    changes=[FileChange(commit="abcdef0123456789", date="2024-01-02T03:04:05Z", subject="Fix")],
    commits={"abcdef0123": "abcdef0123 2024-01-02\nFix"},
)


class Holding(FakeCodebase):
    """Answers what it was given."""

    places: Sequence[Passage] = ()
    commits_of_file: History = History()

    def find_definitions(self, name: str) -> list[Passage]:
        return list(self.places)

    def read_history(self, path: str, limit: int, text: str = "") -> History:
        return self.commits_of_file


def render_lines(code: Any, path: str, start: int, end: int) -> str:
    return ShownCode().show(code_tools.render_lines(code, path, start, end))


def render_definitions(code: Any, name: str) -> str:
    return ShownCode().show(code_tools.render_definitions(code, name))


def render_text_matches(code: Any, text: str) -> str:
    return ShownCode().show(code_tools.render_text_matches(code, text))


def render_log(code: Any, path: str) -> str:
    return ShownCode().show(code_tools.render_log(code, path))


def passage(path: str = "a.py", start: int = 1, lines: int = 1, text: str = "x", symbol: str | None = None) -> Passage:
    return Passage(
        span=Span(path=path, start=start, end=start + lines - 1), text="\n".join([text] * lines), symbol=symbol
    )


def tools() -> dict[str, Any]:
    return {tool.name: tool for tool in build_code_tools(CODE)}


def test_a_model_is_told_what_each_argument_means():
    for tool in tools().values():
        text = convert_to_openai_tool(tool)["function"]
        assert text["description"]
        assert "Args:" not in text["description"]
        for argument in text["parameters"]["properties"].values():
            # Endpoints differ in what else of JSON schema they take; the model's client leaves defaults out.
            assert argument.keys() - {"default"} == {"type", "description"}


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        (
            "read_lines",
            {"path": "src/parse.py", "start": 2, "end": 2},
            "[1] src/parse.py 2\n2| parts = text.split('-')\n(of 3 lines)",
        ),
        ("find_symbol", {"name": "parse"}, "[1] src/parse.py 1-4 parse\n1| def parse(text):"),
        ("git_log", {"path": "src/parse.py"}, "src/parse.py:\nabcdef0123 2024-01-02 Fix"),
        ("git_log", {"path": "src/store.py", "text": "gone"}, "No known commit added or removed this text."),
        ("show_commit", {"commit": " ABCDEF0123 "}, "abcdef0123 2024-01-02\nFix"),
        ("show_commit", {"commit": "0000000"}, "No commit with this id is in the history of the indexed one."),
        (
            "grep",
            {"text": "text.split"},
            "1 line in 1 file has this text.\n[1] src/parse.py 1-3\n1| def parse(text):\n2|     parts",
        ),
    ],
)
async def test_each_tool_answers_with_places_and_numbered_lines(name: str, arguments: dict[str, Any], text: str):
    assert (await tools()[name].ainvoke(arguments)).startswith(text)


# --- read_lines

WIDE = "x" * 1_000 + "end" + "y" * 2_000
LONG = FakeCodebase({"long.py": "\n".join(f"line {n}" for n in range(1, 501)), "wide.js": f"{WIDE}\ntwo\nthree\nfour"})


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [(1, 3, 1, 3), (-5, 1, 1, 1), (499, 900, 499, 500), (500, 500, 500, 500), (1, 200, 1, 200)],
)
def test_the_lines_asked_for(start: int, end: int, first: int, last: int):
    heading, *lines, count = render_lines(LONG, "long.py", start, end).split("\n")
    assert heading == f"[1] long.py {first}-{last}".removesuffix(f"-{first}")
    assert lines[0].split("|")[0].strip() == str(first)
    assert lines[-1].endswith(f"{last}| line {last}")
    assert len(lines) == last - first + 1
    assert count == "(of 500 lines)"


def test_more_than_two_hundred_lines_are_not_given_and_that_is_said():
    text = render_lines(LONG, "long.py", 101, 500).split("\n")
    assert text[0] == "[1] long.py 101-300"
    assert text[-1] == "(of 500 lines; at most 200 at a time)"


@pytest.mark.parametrize(("start", "end"), [(501, 600), (7, 3), (0, 0), (10**30, 10**31)])
def test_lines_that_are_not_there(start: int, end: int):
    assert render_lines(LONG, "long.py", start, end) == f"long.py has 500 lines; there are none from {start} to {end}."


def test_an_endless_line_is_cut_and_says_so():
    beside_others = render_lines(LONG, "wide.js", 1, 4)
    assert f"1| {'x' * 300} (... 2,703 characters left out)\n2| two" in beside_others
    alone = render_lines(LONG, "wide.js", 1, 1)
    assert f"1| {WIDE[:2_000]} (... 1,003 characters left out)\n" in alone


async def test_what_a_cut_line_did_not_show_is_shown_when_asked_for():
    codebase, shown = FakeCodebase({"wide.js": f"{'x' * 400}end\ntwo\nthree\nfour"}), ShownCode()
    tools = {one.name: one for one in build_code_tools(codebase)}

    async def ask(name: str, **arguments: object) -> str:
        call = {"name": name, "args": arguments, "id": "1", "type": "tool_call"}
        return shown.show((await tools[name].ainvoke(call)).artifact)

    assert "end" not in await ask("read_lines", path="wide.js", start=1, end=4)
    assert "xend" in await ask("read_lines", path="wide.js", start=1, end=1)
    shown.go_on(shown.excerpts[:1])  # a further round knows the numbers, and not what was cut
    assert "xend" in await ask("read_lines", path="wide.js", start=1, end=1)
    assert "see [1]" in await ask("read_lines", path="wide.js", start=1, end=4)


def test_a_file_known_by_its_path_alone():
    class ByPath(FakeCodebase):
        def read_lines(self, path: str) -> list[str] | None:
            return None

    assert render_lines(ByPath({"big.py": ""}), "big.py", 1, 2).startswith("The text of this file was not indexed")


def test_a_path_that_several_files_end_like_is_answered_with_them():
    code = FakeCodebase({f"pkg{n}/__init__.py": "" for n in range(20)})
    text = render_lines(code, "__init__.py", 1, 1)
    assert text.startswith("No single indexed file has this path. Files of this name, 8 of 20:\npkg0/__init__.py")
    assert text.count("\n") == 8


# --- find_symbol


def test_three_definitions_with_their_code_then_places_then_a_count():
    code = Holding()
    code.places = [passage(f"f{n}.py", 1, 100, "code", f"run{n}") for n in range(50)]
    text = render_definitions(code, "run")
    assert text.count("code\n") == code_tools.MAX_FIRST_DEFINITION_LINES + 2 * code_tools.MAX_DEFINITION_LINES
    assert text.count("(20 further lines of this definition not shown)") == 1
    assert text.count("(75 further lines of this definition not shown)") == 2
    assert "Also defined, code not shown:\nf3.py 1-100 run3\n" in text
    assert text.endswith("f22.py 1-100 run22\n(and at least 27 further places)")


def test_of_a_long_definition_the_rest_is_counted():
    code = Holding()
    lines = ["class Store:", *["    x = 1"] * 104]
    span = Span(path="a.py", start=11, end=115)
    code.places = [Passage(span=span, text="\n".join(lines), symbol="Store")]
    assert render_definitions(code, "Store").endswith("90|     x = 1\n(25 further lines of this definition not shown)")


def test_a_name_that_nothing_defines_is_answered_with_lines_that_have_it():
    nothing = "No function, class or type of this name is defined in the indexed commit, as far as it was parsed."
    assert render_definitions(CODE, "nope") == nothing
    code = FakeCodebase({"a.py": "import nope\n"})
    assert render_definitions(code, "x.nope") == f"{nothing}\nLines with `nope`:\n[1] a.py 1\n1| import nope"


# --- grep


class Matching(FakeCodebase):
    """Finds what it was given."""

    matches: LineMatches = LineMatches()
    last_text = ""

    def find_text(self, text: str, limit: int) -> LineMatches:
        self.last_text = text
        return self.matches


def match(path: str, line: int, text: str = "x", symbol: str | None = None) -> LineMatch:
    return LineMatch(path=path, line=line, text=text, symbol=symbol)


def test_lines_stand_with_two_around_them_by_file_and_the_rest_is_counted():
    lines = [match("b.py", 9, "two", "f"), match("a.py", 1), match("b.py", 7, "one", "f"), match("b.py", 30, "six")]
    found = LineMatches(lines=lines, total=1_044, files=5, not_listed={"lib/": 1_000, "c.py": 40})
    files = {"b.py": "\n".join(f"line {number}" for number in range(1, 41)), "a.py": "x"}
    assert render_text_matches(Matching(files, matches=found), "x") == (
        "1,044 lines in 5 files have this text.\n"
        "[1] b.py 5-11 f\n 5| line 5\n 6| line 6\n 7| one\n 8| line 8\n 9| two\n10| line 10\n11| line 11\n"
        "[2] same file 28-32\n28| line 28\n29| line 29\n30| six\n31| line 31\n32| line 32\n"
        "[3] a.py 1\n1| x\n(Further lines, not shown: lib/ 1,000, c.py 40)"
    )


def test_of_many_matches_in_one_file_some_are_shown_and_all_are_named():
    lines = [match("a.py", number) for number in range(1, 100, 10)]
    found = LineMatches(lines=lines, total=10, files=1)
    shown = render_text_matches(Matching({"a.py": "\n" * 99}, matches=found), "x")
    assert shown.endswith("\n(Also in a.py: 61, 71, 81, 91)")
    assert shown.count("| x") == MAX_FILE_MATCHES


def test_other_capitals_and_a_lack_of_time_are_said():
    found = LineMatches(lines=[match("a.py", 1)], total=1, files=1, same_case=False, complete=False)
    assert render_text_matches(Matching({"a.py": "x"}, matches=found), "X") == (
        "No line has this text with these capitals. In any case: 1 line in 1 file.\n[1] a.py 1\n1| x\n"
        "(There was no time for all files: ask for something rarer.)"
    )


@pytest.mark.parametrize("text", ["a|b", "def .*save", "\\bsave", "save\\("])
def test_what_looks_like_a_pattern_is_said_to_be_none(text: str):
    nothing = "Nothing in the indexed commit has this text."
    assert render_text_matches(Matching(), text) == f"{nothing} It was taken literally, not as a pattern."
    assert render_text_matches(Matching(), "a || b") == nothing
    assert render_text_matches(Matching(), " a ") == f"{nothing} Ask for at least two characters."


def test_what_is_looked_for_is_cut():
    code = Matching()
    render_text_matches(code, "x" * 10_000)
    assert code.last_text == "x" * code_tools.MAX_QUERY_CHARS


# --- git_log


def test_a_shallow_clone_is_said():
    code = Holding({"a.py": ""})
    code.commits_of_file = History(partial=True)
    text = render_log(code, "a.py")
    assert text == "a.py:\n(Older commits are not known here: the clone is shallow, or git took too long.)"


def test_without_git_there_is_no_history():
    assert render_log(FakeCodebase({"a.py": ""}), "a.py") == "There is no git history here."


# --- hostile arguments


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An indexed repository beside files that are not its own."""
    folder = tmp_path_factory.mktemp("around")
    (folder / "secret.py").write_text("CANARY = 1\n")
    root = folder / "repo"
    root.mkdir()
    codebase = make_codebase(
        root, {"src/a.py": "def inside():\n    return 1\n", "src/b/a.py": "x = 1\n", "w.py": "y\n"}
    )
    (root / "untracked.py").write_text("CANARY = 2\n")
    (root / "link.py").symlink_to(folder / "secret.py")
    codebase.index()
    return codebase


FILE_TOOLS: list[Callable[[Any, str], str]] = [lambda code, path: render_lines(code, path, 1, 9), render_log]
ESCAPES = [
    "../secret.py",
    "src/../../secret.py",
    "/etc/passwd",
    "untracked.py",
    "link.py",
    ".git/config",
    "*.py",
    ":(glob)**/*.py",
    "src/a.py\0.txt",
    "src/a.py\n",
    "%2e%2e/secret.py",
    "a" * 100_000,
    "/" * 10_000,
    "",
    ".",
    "\ud800",
    "--output=pwned",
]


@pytest.mark.parametrize("tool", FILE_TOOLS)
@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_leads_out_of_the_indexed_commit(real: Any, tool: Callable[[Any, str], str], path: str):
    text = tool(real, path)
    assert "CANARY" not in text
    assert text.startswith("No single indexed file has this path.") or (
        path.strip() == "src/a.py" and "src/a.py" in text
    )
    assert len(text) < 500


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(exclude_categories=()), max_size=200)
    | st.text(alphabet="./\\*?[]:a~$`\0\n", max_size=60)
    | st.sampled_from(ESCAPES),
    start=st.integers(),
    end=st.integers(),
)
def test_whatever_is_asked_is_answered_in_bounds_and_can_be_sent(real: Any, text: str, start: int, end: int):
    for rendered in (
        render_lines(real, text, start, end),
        render_lines(real, "src/a.py", start, end),
        render_definitions(real, text),
        render_text_matches(real, text),
        render_log(real, text),
    ):
        assert rendered
        assert len(rendered) < 5_000
        assert "CANARY" not in rendered
        json.dumps(rendered, ensure_ascii=False).encode("utf-8")


def test_keys_in_code_stay_masked(tmp_path: Path):
    token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    codebase = make_codebase(tmp_path, {"src/a.py": f'def key():\n    return "{token}"\n'})
    codebase.index()
    for rendered in (
        render_lines(codebase, "src/a.py", 1, 9),
        render_definitions(codebase, "key"),
        render_text_matches(codebase, "return"),
    ):
        assert "[masked secret]" in rendered
        assert token not in rendered
