"""The whole comment, its parts, when there is one, and what a security report withholds."""

import re
from typing import Any, get_args

import pytest
from cmarkgfm.cmark import Options, markdown_to_html_with_extensions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from testing.each_row import each_row
from tests.say import sample_reports
from tests.say.rendering import render_comment
from tests.say.sample_reports import (
    CHANGES,
    CLI,
    DATES,
    EVIL,
    FEATURE,
    FIRST,
    FULL,
    HOSTILE,
    LONG,
    LOW,
    PAST,
    READER,
    RULES,
    SECOND,
    UNSAID,
    change_report,
    missing,
    span,
)
from tests.say.sample_runs import REFUSED, ROUNDS
from triage.domain.code import (
    FileChange,
    LaterFix,
    LeadRule,
    Place,
    PlaceSign,
    QuotedLine,
    RegressionWindow,
)
from triage.domain.effect import COMMENT_MARKER, CommentMode
from triage.domain.findings import WebResult
from triage.domain.issue import FailingPackage
from triage.domain.report import Citations, NamedPlace, RunReport, Ticket
from triage.domain.run import Status
from triage.domain.task import Subject
from triage.safety.active_content import find_active_content
from triage.safety.safe_markdown import format_code_block
from triage.say.comment import (
    MAX_VISIBLE_UNITS,
    QUIET_NOTICE,
    compose_comment,
    read_parts,
    render_quiet_comment,
    render_withdrawal,
    withhold_details,
)
from triage.say.decide import decide_comment
from triage.say.hidden_state import (
    PART_NAMES,
    CommentState,
    PartName,
    Reproduced,
    parse_state,
    render_state,
)
from triage.say.report_pages import Fold, Page, build_comment_page, fit_page, utf16_length
from triage.say.template import ensure_safe

AFTER_FIRST = CommentState().with_report(FIRST, "")
NAMED_FIX = LaterFix(
    version="v0.8", commit=FileChange(commit="6" * 40, date="2026-10-05", subject="Fix"), is_named_by_report=True
)
DOCUMENTED = QuotedLine(
    span=span("docs/import.md", 12, 12), quote="`--format ofx` reads <b>OFX</b> files, see *Banks* @here."
)
SIGNATURE = QuotedLine(span=span("src/ledger/reader.py", 20, 20), quote="def read(path, encoding=None, *, since=None):")
ANSWERED = change_report(
    FEATURE,
    kind="question",
    why="No: `read` takes one path (`reader.py:20`). Its second parameter is the encoding.",
    fix_idea="Let `read` take several paths, as `Importer` does.",
    suspects=FULL.suspects[:1],
    named_places=[
        NamedPlace(text="reader.py:20", path="src/ledger/reader.py", span=span("src/ledger/reader.py", 20, 20))
    ],
)
ELSEWHERE = FailingPackage(
    name="python-dateutil", language="Python", error="ParserError: Unknown string format: 31/12", is_declared=True
)


def body(report: RunReport, previous: CommentState | None = None, **options: Any) -> str:
    """The comment without its hidden first line."""
    return render_comment(report, previous, **options).partition("\n")[2]


def visible(report: RunReport, previous: CommentState | None = None, **options: Any) -> str:
    return re.split("<details>|<sub>", body(report, previous, **options))[0]


def html(markdown: str) -> str:
    extensions = ["table", "strikethrough", "tasklist", "autolink"]
    return str(markdown_to_html_with_extensions(markdown, options=Options.CMARK_OPT_UNSAFE, extensions=extensions))


@pytest.mark.parametrize(
    ("name", "report", "previous"),
    [
        ("model", FULL, None),
        ("rules", RULES, None),
        ("feature_request", FEATURE, None),
        ("low_confidence", LOW, None),
        ("second_run", SECOND, AFTER_FIRST),
        ("long", LONG, None),
        ("hostile", HOSTILE, None),
        ("past", sample_reports.PAST, None),
        ("skills_by_rules", sample_reports.SKILLS_BY_RULES, None),
        ("skills_by_model", sample_reports.SKILLS_BY_MODEL, None),
        ("asked", change_report(UNSAID, comment_reason="asked"), None),
        ("regression", change_report(UNSAID, regression_window=PAST.regression_window), None),
        ("fixed", change_report(UNSAID, later_fix=PAST.later_fix), None),
        ("fix_named", change_report(UNSAID, later_fix=NAMED_FIX), None),
        ("documented", change_report(FEATURE, documented=DOCUMENTED), None),
        ("answer", change_report(ANSWERED, documented=SIGNATURE), None),
        ("feature_asked", change_report(ANSWERED, kind="feature_request", comment_reason="asked"), None),
        ("elsewhere", change_report(UNSAID, failing_package=ELSEWHERE), None),
    ],
)
def test_the_comment_reads_as_in_its_golden_file(golden, name, report, previous):
    golden(f"tests/golden/comment_{name}.md", render_comment(report, previous, text="0123456789abcdef"))


def test_what_the_comment_or_the_issue_says_is_not_folded_again():
    assert FULL.critique
    report = change_report(FULL, critique=FULL.critique.model_copy(update={"verdict": "CONFIRMED", "gaps": []}))
    for title in ("Evidence", "Steps to reproduce", "Critic"):
        assert f"<summary>{title}" not in render_comment(report)


def test_the_idea_for_a_fix_has_two_sentences_and_names_the_files_that_it_touches():
    report = change_report(fix_idea="Pass the format. Then test it. Then rest.")
    assert "**Fix idea.** Pass the format. Then test it.\n" in visible(report)
    assert f"\nTouches: [`{DATES}`](" in visible(report)
    assert "Touches" not in visible(change_report(suspects=FULL.suspects[:1]))
    assert "**Check.** Import a row" in visible(report)


def in_reader(sign: PlaceSign, rule: LeadRule, text: str, probability: float) -> Place:
    lines = span(READER, 70, 76)
    return Place(sign=sign, rule=rule, span=lines, line=73, symbol="read_rows", text=text, probability=probability)


TRACE = Place(
    sign="trace",
    rule="frame",
    span=span(DATES, 21, 27),
    line=24,
    symbol="parse_date",
    quote="return datetime.strptime(text, DEFAULT_FORMAT).date()",
    text="ValueError: time data '31.12.2025' does not match format '%Y-%m-%d'",
    probability=0.87,
)
INTO_A_LIBRARY = {"text": "OSError: [Errno 28] No space left on device", "calls_before_error": 2, "probability": 0.39}
FOUND = {
    "trace": TRACE,
    "trace_into_a_library": TRACE.model_copy(update={"quote": None, **INTO_A_LIBRARY}),
    "trace_of_another_version": TRACE.model_copy(update={"line": None, "quote": None}),
    "message": in_reader("message", "message", "row %d has no date", 0.66),
    "quote": in_reader("quote", "quoted code", 'rows = list(csv.reader(file, dialect="excel"))', 0.71),
    "used": in_reader("use", "used", "strict_mode", 0.1),
    "place": in_reader("place", "place", READER, 0.8),
    "name": Place(sign="name", rule="name", span=span(CLI, 12, 21), symbol="main", text="main", probability=0.71),
}


@pytest.mark.parametrize("sign", FOUND)
def test_a_place_that_rules_find_reads_as_in_its_golden_file(golden, sign):
    place = FOUND[sign]
    suspects = [sample_reports.suspect(place.span.path, reason="the stack trace ends here"), *RULES.suspects[:1]]
    report = change_report(UNSAID, best_place=place, suspects=suspects)
    golden(f"tests/golden/comment_found_{sign}.md", render_comment(report, text="0123456789abcdef"))


def test_all_places_that_facts_lead_to_read_as_in_the_golden_file(golden):
    others = [FOUND["message"], FOUND["name"]]
    history = {"later_change": PAST.later_change, "owners": PAST.owners}
    report = change_report(UNSAID, best_place=FOUND["trace"], other_places=others, **history)
    golden("tests/golden/comment_found_all.md", render_comment(report, text="0123456789abcdef"))


@pytest.mark.parametrize("verdict", ["CONFIRMED", "UNCERTAIN"])
def test_a_lead_stays_the_first_sentence_unless_a_critic_confirmed_a_model(golden, verdict):
    place = FOUND["trace"]
    suspects = [sample_reports.suspect(place.span.path, reason="the stack trace ends here"), *FULL.suspects[1:]]
    report = change_report(FULL, best_place=place, verdict=verdict, suspects=suspects)
    text = visible(report)
    assert text.startswith("**The innermost line") is (verdict != "CONFIRMED")
    assert ("**Cause.**" in text) is (verdict == "CONFIRMED")
    assert ("**Probable cause.**" in text) is (verdict == "UNCERTAIN")
    golden(f"tests/golden/comment_lead_{verdict.lower()}.md", render_comment(report, text="0123456789abcdef"))


def test_code_is_shown_in_fifteen_lines_at_most():
    place = FOUND["name"].model_copy(update={"span": span(CLI, 12, 90)})
    report = RULES.model_copy(update={"best_place": place})
    assert f"{CLI}#L12-L26\n" in visible(report)


@each_row("name", ["FULL", "RULES", "FEATURE", "LOW", "DEGRADED", "SECOND", "LONG", "HOSTILE"])
def test_rendering_is_deterministic_and_inert(name):
    report = getattr(sample_reports, name)
    text = render_comment(report, AFTER_FIRST)
    assert text == render_comment(report, AFTER_FIRST)
    assert text.startswith(COMMENT_MARKER)
    assert parse_state(text) is not None
    links = build_comment_page(report).links
    assert find_active_content(text.partition("\n")[2], links) == []
    assert utf16_length(text) < 65_536
    assert text.splitlines().count("<details>") == text.splitlines().count("</details>")


def test_a_page_with_active_content_becomes_one_code_block():
    live = "**Bug** @octocat <img src=x> [x](https://evil.example/)"
    sent = ensure_safe(live, [], 1000)
    assert find_active_content(sent, []) == []
    assert sent.startswith("```")
    assert "Bug" in sent
    assert ensure_safe("**Bug** [x](https://good.example/)", ["https://good.example/"], 1000).startswith("**Bug**")


def test_a_path_that_is_too_long_for_a_link_leaves_the_rest_as_it_is():
    path = "ü" * 1_450
    suspects = [FULL.suspects[0].model_copy(update={"path": path, "span": None}), *FULL.suspects[1:]]
    long, plain = (body(FULL.model_copy(update={"suspects": some})) for some in (suspects, FULL.suspects))
    assert f"Touches: `{path}`, [" in long
    own = ("https://", "Touches")
    rows = [[line for line in text.split("\n")[1:] if not line.startswith(own)] for text in (long, plain)]
    assert [line for line in rows[0] if line] == [line for line in rows[1] if line]


def test_an_open_question_cannot_tick_itself():
    asked = missing("other", "Does `a[x]` fail?", "Or [x] ![X](y)?")
    assert "checked" not in html(visible(change_report(missing_information=[asked])))


def test_an_answer_is_thanked_for():
    thanks = "Thanks: what was asked is answered."
    assert thanks in visible(FULL, AFTER_FIRST)
    assert thanks not in visible(FULL)
    assert "Thanks" not in visible(change_report(missing_information=FIRST.missing_information[1:]), AFTER_FIRST)


def test_without_a_server_locations_are_not_linked():
    text = body(change_report(server_url="", repository="ledger", commit=None, run_url=""))
    assert f"Touches: `{DATES}`, `{READER}`" in text
    assert "https://github.com" not in text


def test_the_reasons_of_a_model_have_at_most_five_sentences():
    report = change_report(why="One. Two. Three. Four. Five. Six.")
    assert "**Cause.** One. Two. Three. Four. Five.\n" in body(report)


@pytest.mark.parametrize(
    ("mode", "labels", "line"),
    [
        ("suggest", ["bug", "area: x"], "Suggested labels: `bug`, `area: x`"),
        ("apply", ["bug"], "Labels chosen: `bug`"),
        ("off", ["bug"], None),
        ("suggest", [], None),
    ],
)
def test_labels_are_shown_as_the_policy_says(mode, labels, line):
    text = visible(change_report(ticket=Ticket(title="t", labels=labels)), labels=mode)
    assert (line in text) if line else ("abels" not in text)


def test_a_label_of_the_issue_is_not_suggested():
    report = change_report(FULL, ticket=Ticket(title="t", labels=["Bug", "area: x"]))
    report = report.model_copy(update={"issue": report.issue.model_copy(update={"labels": ["bug"]})})
    assert "Suggested labels: `area: x`" in visible(report, labels="suggest")
    assert "Labels chosen: `Bug`, `area: x`" in visible(report, labels="apply")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {},
            "<sub>Bug Triage v0.1.0 · by a model · 3 hidden fragments of the issue were not read · [run](https://github.com/acme/ledger/actions/runs/9912) · written by",
        ),
        (
            {"hidden_fragments": 0, "citations": Citations(), "run_url": ""},
            "<sub>Bug Triage v0.1.0 · by a model · written by",
        ),
        ({"hidden_fragments": 1}, "1 hidden fragment of the issue was not read"),
        ({"run_url": "javascript:alert(1)", "hidden_fragments": 0}, "by a model · written"),
    ],
)
def test_the_footer_counts(fields, said):
    assert said in body(change_report(**fields)).splitlines()[-1]


def test_hidden_text_is_told_where_a_model_could_have_read_it():
    assert "hidden fragment" not in body(RULES.model_copy(update={"hidden_fragments": 2}))


def test_only_web_addresses_become_links():
    results = [
        WebResult(title="Good", url="https://good.example/a(b)", relevance_reason="It is."),
        WebResult(title="Bad", url="javascript:alert(1)", relevance_reason="It is not."),
    ]
    text = body(change_report(external_references=results))
    assert "- [Good](https://good.example/a%28b%29): It is." in text
    assert "- Bad `javascript:alert(1)`: It is not." in text


def test_a_long_page_loses_whole_folds_from_the_end():
    assert utf16_length(render_comment(LONG)) <= MAX_VISIBLE_UNITS + 4096
    text = fit_page(build_comment_page(LONG), 6_000)
    assert re.search(r"_Cut, because it was too long\. Left out: .*20 external references\._", text)
    assert text.rstrip().endswith("</sub>")
    assert html(text).count("<details>") == text.count("<details>") == text.count("</details>")


@pytest.mark.parametrize("limit", [200, 1_000, 5_000, 20_000])
def test_a_page_of_any_size_fits(limit):
    content = build_comment_page(LONG)
    assert utf16_length(fit_page(content, limit)) <= max(limit, utf16_length(content.footer) + 600)


def test_emoji_count_twice():
    content = Page(blocks=["😀" * 100], folds=[Fold("One", "😀" * 100), Fold("Two", "a")], footer="end")
    assert utf16_length(fit_page(content, 450)) <= 450
    assert "Left out: One, Two._" in fit_page(content, 450)
    assert "Left out" not in fit_page(content, 600)


def test_quiet_is_shown_and_stored():
    before = render_comment(FULL)
    state = parse_state(before)
    assert state is not None
    after = render_quiet_comment(before, state)
    quiet = parse_state(after)
    assert quiet is not None
    assert quiet.model_copy(update={"parts": state.parts}) == state.model_copy(update={"quiet": True})
    assert after.splitlines()[1].startswith("_Triage is quiet on this issue.")
    assert after.partition("wakes it._\n\n")[2] == before.partition("\n")[2]
    assert find_active_content(after.partition("\n")[2], build_comment_page(FULL).links) == []


def withdraw(report: RunReport, *wrong: Subject) -> tuple[str, CommentState]:
    before = render_comment(report)
    after = render_withdrawal(before, parse_state(before) or CommentState(), wrong)
    return read_parts(after)["report"], parse_state(after) or CommentState()


@each_row(
    ("wrong", "gone", "left"),
    [
        (["known"], ["known"], ["fixed", "changed", "cause"]),
        (["fixed", "cause"], ["fixed", "cause"], ["known", "changed"]),
        (["kind"], [], ["known", "fixed", "changed", "cause"]),
        (["known", "fixed", "changed", "cause"], ["known", "fixed", "changed", "cause"], []),
        (list(get_args(Subject)), ["known", "fixed", "changed", "cause"], []),
    ],
)
def test_what_is_wrong_is_cut_out_of_the_comment(wrong: list[Subject], gone: list[str], left: list[str]):
    starts = {
        "known": "Probably the same as",
        "fixed": "Probably fixed by",
        "changed": "The report says that it worked before",
        "cause": "Cause.",
    }
    text, state = withdraw(PAST, *wrong)
    assert [name for name, start in starts.items() if start in text] == left
    assert list(dict.fromkeys(one.subject for one in state.said)) == left
    assert ("_Withdrawn, as somebody" in text) == (not left)
    assert state.wrong_subjects == wrong
    for one in state.said:
        assert starts[one.subject] in text[one.start : one.start + one.chars] or one.subject == "known"
    assert find_active_content(text, build_comment_page(PAST).links) == []


def test_twice_wrong_is_cut_twice():
    before = render_comment(PAST)
    once = render_withdrawal(before, parse_state(before) or CommentState(), ["known"])
    twice = render_withdrawal(once, parse_state(once) or CommentState(), ["changed"])
    assert read_parts(twice)["report"] == withdraw(PAST, "known", "changed")[0]


def test_of_a_comment_that_somebody_edited_nothing_is_left():
    state = parse_state(render_comment(PAST)) or CommentState()
    after = render_withdrawal(f"{render_state(state)}\nEdited.", state, ["known"])
    assert read_parts(after)["report"] == "_Withdrawn, as somebody called it wrong: known._"


def test_a_comment_with_other_line_ends_can_be_quiet():
    before = render_comment(FULL).replace("\n", "\r\n")
    after = render_quiet_comment(before, CommentState())
    assert (parse_state(after) or CommentState()).quiet
    assert len(read_parts(after)) == 2


hostile_text = st.text(max_size=120) | st.sampled_from(
    [EVIL, "@a", "](", "|", "`", "<!--", "-->", "</details>", "`[x]`", "\ud800", "/x", "~~~\n", "    x", "$x$", "\x00"]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(hostile_text, min_size=8, max_size=8))
def test_any_text_stays_text(texts):
    one, two, three, four, five, six, seven, eight = texts
    report = change_report(
        summary=one,
        why=two,
        severity_reason=eight,
        suspects=[sample_reports.suspect(three or "x", 1, 2, four, five)],
        missing_information=[missing("version", six, seven)],
        evidence=[],
        fix_idea=four,
        check=five,
        ticket=Ticket(title=five, labels=[six or "x"], assignee=seven),
        external_references=[WebResult(title=one, url=eight, relevance_reason=two)],
        notes=[three],
        status=Status.DEGRADED,
    )
    text = render_comment(report)
    content = text.partition("\n")[2]
    assert find_active_content(content, build_comment_page(report).links) == []
    assert not content.startswith("```"), "the layout was given up"


LINE = "<!-- bug-triage: v2 {} -->"
OUR_MARKS = ["<!-- bug-triage-proposal -->", "<!-- bug-triage-answer -->", LINE, "</details>", "```", "<details>"]
LIVE = "\n\n[pay here](https://evil.example) ![x](https://evil.example/x.png) @octo/security fixes #5\n\n"
block_texts = st.lists(st.sampled_from([*OUR_MARKS, LIVE, "a", "\n", "    b"]), max_size=12).map("".join)


@given(st.dictionaries(st.sampled_from(PART_NAMES), block_texts.map(format_code_block), min_size=1))
def test_each_part_is_found_again_whatever_it_quotes(texts: dict[PartName, str]) -> None:
    state = CommentState(text="0" * 16)
    composed = compose_comment("", state, texts, [])
    assert read_parts(composed) == read_parts(composed.replace("\n", "\r\n")) == texts
    assert list(read_parts(composed)) == [name for name in PART_NAMES if name in texts]
    again = compose_comment(composed, state, {"reply": "done"}, [])
    assert read_parts(again) == {**texts, "reply": "done"}
    assert find_active_content(again, []) == []
    assert compose_comment(again, state, {}, []) == again


def test_a_comment_with_active_content_becomes_one_block_of_code():
    before = compose_comment("", CommentState(), {"proposal": "[diff](https://a.example/b)"}, ["https://a.example/b"])
    again = compose_comment(before, CommentState(), {"reply": "done"}, [])
    assert read_parts(again) == {"proposal": "[diff](https://a.example/b)", "reply": "done"}, "its own link stays"
    for live in ("see [this](https://evil.example)", "@octocat", "<b>", "![x](https://evil.example/x.png)"):
        closed = compose_comment(before, CommentState(proposal="1" * 40), {"reproduction": live}, [])
        assert find_active_content(closed, ["https://a.example/b"]) == []
        assert read_parts(closed)["reproduction"].startswith("```")
        assert read_parts(closed)["proposal"] == read_parts(before)["proposal"], "one part does not hide another"
        bad = compose_comment(before, CommentState(proposal="1" * 40), {"proposal": live}, [])
        assert find_active_content(bad, []) == []
        assert (parse_state(bad) or CommentState(proposal="x" * 40)).proposal_commit == "", (
            "not shown, so it does not wait"
        )


@each_row(
    "edit",
    [
        ("failed", "passed"),
        ("**Why**", "Why"),
        ("\n\nreply", "\n\n\nreply"),
        ("reply", "reply."),
        ("\n\nreply", "\n<!-- bug-triage-proposal -->\nreply"),
    ],
)
def test_a_comment_that_somebody_has_edited_has_no_parts(edit: tuple[str, str]):
    parts: dict[PartName, str] = {"reproduction": "failed", "report": "**Why**", "reply": "reply"}
    body = compose_comment("", CommentState(proposal="1" * 40), parts, [])
    assert read_parts(body) == parts
    edited = body.replace(*edit)
    assert read_parts(edited) == {}
    after = compose_comment(edited, CommentState(proposal="1" * 40), {"reply": "done"}, [])
    assert read_parts(after)["report"].endswith(f"```\n{edited.partition(chr(10))[2].strip(chr(10))}\n```")
    assert (parse_state(after) or CommentState()).proposal_commit == "", "nothing waits that is not shown"
    assert "Why" not in compose_comment(edited, CommentState(), {"report": "New."}, [])
    quiet = read_parts(render_quiet_comment(edited, CommentState()))
    assert quiet["report"] == f"{QUIET_NOTICE}\n\n{read_parts(after)['report']}"


def test_the_report_is_folded_once_its_bug_is_gone_and_opened_when_it_is_back():
    parts: dict[PartName, str] = {"reproduction": "No longer.", "report": "**Why**", "footer": "<sub>end</sub>"}
    gone = CommentState(reproduced=Reproduced(example="0" * 16, fails=False, gone=True))
    folded = compose_comment("", gone, parts, [])
    shown = html(folded.partition("\n")[2])
    at = [shown.index(words) for words in ("No longer", "<details>", "<strong>Why", "</details>", "<sub>end")]
    assert at == sorted(at)
    assert read_parts(folded) == parts
    back = compose_comment(folded, CommentState(), {}, [])
    assert "<details>" not in back
    assert read_parts(back) == parts


def test_a_comment_that_is_too_long_loses_its_report_first():
    parts: dict[PartName, str] = {"reproduction": "a" * 30_000, "report": "b" * 30_000, "proposal": "c" * 20_000}
    body = compose_comment("", CommentState(), parts, [])
    assert utf16_length(body) < 65_000
    assert read_parts(body)["report"].startswith("_The report was cut")
    assert read_parts(body)["reproduction"] == parts["reproduction"]
    longer = compose_comment(body, CommentState(), {"proposal": "c" * 40_000}, [])
    assert [len(text) < 200 for text in read_parts(longer).values()] == [True, True, False]


def test_a_commit_that_the_report_names_is_no_window():
    window = RegressionWindow(worked_in="9999999999^", broken_in="9999999999", commits=CHANGES[:1], total=1)
    text = render_comment(UNSAID.model_copy(update={"regression_window": window}))
    assert "**The report blames `9999999999`:**\n\n- [`99999999`]" in text
    assert "between" not in text


@pytest.mark.parametrize("mode", ["auto", "always"])
@pytest.mark.parametrize(
    ("report", "reason"), [(change_report(UNSAID, best_place=FOUND["trace"]), "found"), (UNSAID, None)]
)
def test_whoever_asks_is_answered_and_no_comment_becomes_stale(
    report: RunReport, reason: str | None, mode: CommentMode
):
    assert decide_comment(report, mode, is_asked=True) == (reason or "asked")
    kept = "update" if mode == "auto" else "always"
    assert decide_comment(report, mode, has_comment=True) == (reason or kept)
    assert decide_comment(report, mode, is_asked=True, has_comment=True) == (reason or "asked")
    assert decide_comment(report, "never", is_asked=True, has_comment=True) is None


def test_no_word_of_the_issue_of_a_model_or_of_the_web_is_left():
    for report in (FULL, REFUSED, ROUNDS):
        published = withhold_details(report.model_copy(update={"security": True}), ["security", "bug"])
        text = published.model_dump_json()
        secrets = [
            report.summary,
            report.why,
            report.fix_idea,
            report.check,
            report.issue.title,
            report.ticket.title,
        ]
        secrets += [suspect.path for suspect in report.suspects] + [page.url for page in report.external_references]
        secrets += [execution.arguments for step in report.steps for execution in step.tools]
        assert [words for words in secrets if words and words in text] == []
        assert (published.steps == []) == (report.steps == [])
        assert (published.usage, published.commit, published.run_url) == (report.usage, report.commit, report.run_url)
        assert published.ticket.labels == ["security"]


def test_a_new_field_is_withheld_until_somebody_decides():
    empty = withhold_details(FULL)
    published = {name for name in RunReport.model_fields if getattr(empty, name) == getattr(FULL, name) != ""}
    filled = {name for name in published if getattr(FULL, name) not in ([], None, {}, False)}
    assert filled <= {
        "schema_version", "triage_version", "request_id", "started_at", "seconds", "status", "engine", "repository",
        "server_url", "commit", "run_url", "kind", "language", "usage", "limits", "index", "steps",
        "decisions",
    }  # fmt: skip
