"""What the comment remembers: hashes, enums and paths, read strictly."""

import json
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.say.sample_reports import (
    CLI,
    DATES,
    FEATURE,
    FIRST,
    FULL,
    PAST,
    QUESTIONS,
    READER,
    RULES,
    SECOND,
    SIMILAR,
    change_report,
    missing,
    span,
    suspect,
)
from triage.domain.code import ExecutedCode, Place
from triage.domain.effect import COMMENT_MARKER
from triage.domain.findings import MissingKind
from triage.domain.issue import Frame
from triage.domain.run import Status
from triage.domain.task import RunKey
from triage.read.questions import MAX_QUESTIONS
from triage.say.hidden_state import (
    MAX_EXECUTED,
    MAX_EXECUTED_CHARS,
    MAX_LABELS,
    MAX_RUNS,
    MAX_SUGGESTED,
    MAX_SUSPECTS,
    CommentState,
    FailingLine,
    FirstNamed,
    NamedFiles,
    Reproduced,
    find_named_files,
    hash_content,
    hash_label,
    hash_text,
    parse_state,
    render_state,
)

FOUND = Place(sign="trace", rule="frame", span=span(READER, 10, 20), probability=0.91)
KINDS: list[MissingKind] = list(get_args(MissingKind))
hashes = st.text("0123456789abcdef", min_size=16, max_size=16) | st.just("")
letters = st.characters(exclude_categories=("C", "Z"), exclude_characters="<>/") | st.just(" ")
names = st.text(letters, min_size=1, max_size=20).filter(str.isprintable)
paths = st.lists(names.filter(lambda name: name != ".."), min_size=1, max_size=5).map("/".join)
states = st.builds(
    CommentState,
    text=hashes,
    content=hashes,
    asked=st.lists(st.sampled_from(KINDS), max_size=8, unique=True),
    suspects=st.lists(paths, max_size=MAX_SUSPECTS),
    quiet=st.booleans(),
    suggested=st.lists(hashes, max_size=MAX_SUGGESTED),
    labels=st.lists(hashes, max_size=MAX_LABELS),
    named=st.none()
    | st.builds(
        FirstNamed,
        at=st.integers(1, 10**11 - 1),
        by=st.sampled_from(["trace", "message", "name", "model"]),
        paths=st.lists(paths, min_size=1, max_size=3),
    ),
)


def test_the_line_is_compact_and_starts_with_the_marker():
    state = CommentState(text="0" * 16, asked=["version"], suspects=["src/a--b.py"])
    assert render_state(state) == (
        '<!-- bug-triage: v2 {"text":"0000000000000000","asked":["version"],"suspects":["src/a-\\u002db.py"]} -->'
    )


@given(states, st.text(max_size=50))
def test_a_rendered_state_is_parsed_back(state, rest):
    line = render_state(state)
    assert line.startswith(COMMENT_MARKER)
    assert line.count("-->") == 1
    assert line.endswith("-->")
    assert "--" not in line.removeprefix("<!--").removesuffix("-->")
    assert "\n" not in line
    assert parse_state(f"{line}\n{rest}") == state
    assert parse_state(f"{line}\r\n{rest}") == state


GOOD = '<!-- bug-triage: v2 {"text":"0000000000000000","content":"","asked":[],"suspects":[],"quiet":false} -->'


FORGED_RUNS = ["0.0", "1.-1", "1.01", "١.0", "1.0\\n", "-->.0"]
FORGED_NAMES = [
    '"by":"guess","paths":["a"]',
    '"by":"name","paths":[]',
    '"by":"name","paths":["a","b","c","d"]',
    '"by":"name","paths":["../a"]',
]


def test_a_state_of_another_version_is_read_without_what_is_not_known():
    other = GOOD.replace('"quiet":false', '"quiet":true,"applied":["0123456789ab"],"later":{"a":[1]}')
    assert parse_state(other) == CommentState(text="0" * 16, quiet=True)
    nested = GOOD.replace(
        '"quiet":false', f'"quiet":true,"reproduced":{{"example":"{"1" * 16}","fails":true,"place":"x"}}'
    )
    assert parse_state(nested) == CommentState(
        text="0" * 16, quiet=True, reproduced=Reproduced(example="1" * 16, fails=True)
    )
    assert parse_state(GOOD.replace('"content":"",', "")) == parse_state(GOOD) == CommentState(text="0" * 16)


@each_row(
    "body",
    [
        "",
        "\n" + GOOD,
        "\ufeff" + GOOD,
        GOOD + " trailing",
        GOOD.removesuffix(" -->"),
        GOOD.replace("v2", "v1"),
        GOOD.replace('"quiet":false', '"quiet":0'),
        GOOD.replace('"asked":[]', '"asked":["everything"]'),
        GOOD.replace('"asked":[]', '"asked":[' + ",".join(['"version"'] * 9) + "]"),
        GOOD.replace('"suspects":[]', '"suspects":["../../etc/passwd"]'),
        GOOD.replace('"suspects":[]', '"suspects":["' + "a" * 201 + '"]'),
        GOOD.replace('"suspects":[]', '"suspects":["' + "a" * 16 + '\\n"]'),
        GOOD.replace('"quiet":false', '"parts":[{"name":"report","start":0,"chars":0,"digest":""}]'),
        GOOD.replace('"quiet":false', '"questions":"<!--"'),
        *(GOOD.replace('"quiet":false', f'"quiet":false,"runs":["{run}"]') for run in FORGED_RUNS),
        *(GOOD.replace('"quiet":false', f'"quiet":false,"named":{{"at":1,{named}}}') for named in FORGED_NAMES),
        GOOD.replace('"suspects":[]', '"suspects":["-->"]'),
        f"{COMMENT_MARKER} v2 " + "[" * 100_000 + " -->",
        f"{COMMENT_MARKER} v2 null -->",
        f"{COMMENT_MARKER} v2 \ud800 -->",
        f"{COMMENT_MARKER} -->",
    ],
)
def test_a_forged_or_invalid_state_is_ignored(body):
    assert parse_state(body) is None


@given(st.text(max_size=200) | st.text(max_size=200).map(lambda text: f"{COMMENT_MARKER} v2 {text} -->"))
def test_any_text_can_be_parsed(text):
    state = parse_state(text)
    assert state is None or parse_state(render_state(state)) == state


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("t", "a\r\nb"), ("t", "a\nb"), True),
        (("t", "a\n"), (" t ", "a"), True),
        (("t", "a"), ("t", "b"), False),
        (("ab", "c"), ("a", "bc"), False),
        (("t", "\ud800"), ("t", "\ud801"), False),
    ],
)
def test_an_edit_changes_the_hash(one, other, same):
    assert (hash_text(*one) == hash_text(*other)) is same


@each_row(
    ("fields", "same"),
    [
        ({"seconds": 99.0, "steps": [], "severity_reason": "other words", "summary": "other", "notes": ["x"]}, True),
        ({"run_url": "https://github.com/acme/ledger/actions/runs/9913", "evidence": []}, True),
        ({"verdict": "UNCERTAIN"}, False),
        ({"status": Status.DEGRADED, "confidence": 0.5}, True),
        ({"severity": "LOW"}, False),
        ({"kind": "question"}, False),
        ({"suspects": FULL.suspects[::-1]}, False),
        ({"suspects": [suspect(DATES, 18, 32), *FULL.suspects[1:]]}, False),
        ({"missing_information": QUESTIONS}, True),
        ({"missing_information": QUESTIONS, "why": ""}, False),
        ({"possible_duplicate": SIMILAR[0]}, False),
        ({"regression_window": PAST.regression_window}, False),
        ({"later_fix": PAST.later_fix}, False),
        ({"later_change": PAST.later_change}, True),
        ({"best_place": FOUND, "verdict": "UNCERTAIN"}, False),
        ({"similar_issues": SIMILAR}, True),
    ],
)
def test_only_content_that_matters_changes_the_hash(fields, same):
    assert (hash_content(change_report(**fields)) == hash_content(FULL)) is same


def test_earlier_questions_and_suspects_stay_in_the_state():
    first = CommentState().with_report(FIRST, "a" * 16)
    second = first.with_report(SECOND, "b" * 16)
    assert first.asked_kinds == ["version", "error_output"]
    assert first.suspects == [READER, DATES]
    assert second.asked_kinds == ["version", "error_output"]
    assert second.suspects == [DATES, READER]
    assert (second.text_hash, second.quiet) == ("b" * 16, False)


def test_a_new_report_wakes_a_quiet_comment():
    assert CommentState(quiet=True).with_report(FULL, "").quiet is False


def test_the_state_is_bounded():
    many = change_report(
        RULES,
        suspects=[suspect(f"{number}.py") for number in range(100)],
        missing_information=[missing(kind, "?", "") for kind in KINDS * 5],
    )
    state = CommentState().with_report(FULL, "").with_report(many, "")
    assert len(state.suspects) == MAX_SUSPECTS
    assert CLI not in state.suspects
    assert state.asked_kinds == KINDS[:MAX_QUESTIONS]
    assert parse_state(render_state(state)) == state
    assert json.loads(render_state(state).removeprefix(f"{COMMENT_MARKER} v2 ").removesuffix(" -->"))


AT = datetime(2026, 11, 21, 9, tzinfo=UTC)
RUNS = [RunKey(at=AT + timedelta(minutes=place), comment_id=place % 3) for place in range(100)]


def test_runs_are_stored_once_for_a_day_up_to_a_maximum():
    state = CommentState(text="0" * 16)
    for run in [*RUNS[:5], *RUNS[:5]]:
        state = state.with_run(run)
    assert state.past_runs == RUNS[:5]
    assert state.with_run(RUNS[4]) == state
    assert state.with_run(RUNS[5]) != state
    assert state.with_run(None) == state
    assert parse_state(render_state(state)) == state
    late = RunKey(at=AT + timedelta(hours=24, minutes=2), comment_id=9)
    assert state.with_run(late).past_runs == [*RUNS[3:5], late]
    for run in RUNS:
        state = state.with_run(run)
    assert state.past_runs == RUNS[-MAX_RUNS:]


class TestExecutedCode:
    """What the next triage learns of a run of the report's example."""

    BEFORE = Reproduced(example="0" * 16, fails=True)

    def remember(self, *paths: str, place: Frame | None = None) -> Reproduced:
        executed = ExecutedCode(functions=[Frame(path=path, line=3) for path in paths], place=place)
        known = self.BEFORE.with_code(executed)
        state = parse_state(render_state(CommentState(reproduced=known)))
        assert state is not None
        assert state.reproduced == known
        return known

    def test_files_with_most_functions_come_first(self):
        place = Frame(path="b.py", line=7, function="Cart.total")
        known = self.remember("a.py", "b.py", "b.py", "../c.py", "d<.py", place=place)
        assert known.executed_code == ExecutedCode(functions=[Frame(path="b.py"), Frame(path="a.py")], place=place)

    def test_they_are_at_most_twenty_and_short_enough_for_the_line(self):
        assert len(self.remember(*(f"{number}.py" for number in range(99))).executed) == MAX_EXECUTED
        assert sum(map(len, self.remember(*(f"{number:0140}" for number in range(20))).executed)) <= MAX_EXECUTED_CHARS

    @pytest.mark.parametrize(
        ("place", "frame"),
        [
            (Frame(path="a.py", line=7, function="<module>"), FailingLine(path="a.py", line=7)),
            (Frame(path="a.py", line=7, function="--> x"), FailingLine(path="a.py", line=7)),
            (Frame(path="a.py", function="total"), None),
            (Frame(path="/etc/passwd", line=1), None),
        ],
    )
    def test_a_frame_is_a_line_and_perhaps_a_function(self, place: Frame, frame: FailingLine | None) -> None:
        assert self.remember(place=place).frame == frame

    def test_a_run_without_them_leads_nowhere(self):
        assert self.BEFORE.executed_code is None


def test_the_longest_state_with_runs_is_parsed_back():
    runs = [f"{10**11 - place - 1}.{2**63 - 1}" for place in range(MAX_RUNS)]
    state = CommentState(content="1" * 16, asked=KINDS, suspects=["😀" * 150] * MAX_SUSPECTS, runs=runs)
    frame = FailingLine(path="😀" * 150, line=9_999_999, function="x" * 100)
    executed = ["😀" * 50] * MAX_EXECUTED
    known = Reproduced(example="1" * 16, fails=True, on="x" * 40, frame=frame, executed=executed)
    state = state.model_copy(update={"reproduced": known})
    assert parse_state(render_state(state)) == state
    assert len(state.past_runs) == MAX_RUNS


def test_a_state_of_a_megabyte_is_ignored():
    assert parse_state(GOOD.replace('"asked":[]', '"asked":[' + '"version",' * 100_000 + '"version"]')) is None
    assert parse_state(GOOD + " " * 1_000_000) is None


def test_a_second_marker_is_only_text():
    state = CommentState(text="1" * 16)
    assert parse_state(f"{GOOD}\n{render_state(state)}\n") == parse_state(GOOD)
    assert parse_state(f"{GOOD} {render_state(state)}") is None


def test_the_files_that_were_named_first_stay():
    first = CommentState().with_report(FULL, "a" * 16)
    assert first.first_named == FirstNamed(at=int(FULL.started_at.timestamp()), by="model", paths=[DATES, READER, CLI])
    later = change_report(suspects=[suspect(CLI)], started_at=FULL.started_at + timedelta(days=9))
    assert first.with_report(later, "b" * 16).first_named == first.first_named
    assert parse_state(render_state(first)) == first


@pytest.mark.parametrize("path", ["a/../b.py", "x" * 151, "a<b.py"])
def test_a_first_file_that_cannot_be_remembered_is_not_replaced_by_the_second(path):
    assert CommentState().with_report(change_report(suspects=[suspect(path), suspect(CLI)]), "").first_named is None


def test_labels_are_remembered_in_any_case_up_to_a_maximum():
    state = CommentState().with_labels(["Bug", "bug", "importer"])
    assert state.label_hashes == [hash_label("bug"), hash_label("IMPORTER")]
    assert parse_state(render_state(state)) == state
    assert len(state.with_labels([str(number) for number in range(50)]).label_hashes) == MAX_LABELS


def test_rules_name_what_they_found_first():
    report = change_report(
        RULES, best_place=FOUND, likely_files=[suspect(DATES), suspect(READER), suspect(CLI), suspect("a.py")]
    )
    assert find_named_files(report) == NamedFiles([READER, DATES, CLI], "trace")


@pytest.mark.parametrize(
    "report",
    [
        change_report(RULES, best_place=None),
        FEATURE,
        change_report(security=True),
        change_report(suspects=[]),
    ],
)
def test_shared_words_questions_and_security_reports_name_nothing(report):
    assert find_named_files(report) is None
