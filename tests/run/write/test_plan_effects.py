"""Which effects follow from a report and a policy."""

import json
import re
from collections.abc import Sequence
from typing import Any, TypeVar

import pytest

from testing.each_row import each_row
from tests.say.rendering import render_comment
from tests.say.sample_reports import (
    DEGRADED,
    EVIL,
    FEATURE,
    FULL,
    HOSTILE,
    ISSUE,
    SECOND,
    SIMILAR,
    change_report,
    missing,
)
from triage.domain.effect import (
    AddLabels,
    Annotate,
    EditComment,
    Effect,
    Policy,
    PostComment,
    SetOutputs,
    SuggestChanges,
    SuggestionOptions,
    WriteJobPage,
    WriteReport,
)
from triage.domain.issue import Issue, IssueComment
from triage.domain.report import RunReport, Ticket
from triage.domain.task import QuietTask
from triage.run.write import plan_effects
from triage.run.write.plan_effects import PlanInput, build_outputs, plan_quiet
from triage.say.decide import decide_comment
from triage.say.hidden_state import CommentState, hash_label, parse_state, render_state
from triage.say.notices import plan_failure, plan_skip
from triage.say.our_comment import find_our_comments

E = TypeVar("E")


def exchange(body: str, **fields: Any) -> IssueComment:
    return IssueComment(
        author="github-actions[bot]", body=body, by_bot=True, **({"ours": True, "comment_id": 77} | fields)
    )


def names(effects: Sequence[Effect]) -> list[str]:
    return [type(effect).__name__ for effect in effects]


def of(kind: type[E], effects: Sequence[Effect]) -> E:
    return next(effect for effect in effects if isinstance(effect, kind))


def plan_report(
    report: RunReport,
    policy: Policy,
    issue: Issue,
    our_comment: IssueComment | None = None,
    **rest: Any,
) -> list[Effect]:
    """Decides and plans, as a run does that an event started."""
    state = parse_state(our_comment.body) if our_comment else None
    plan_input = PlanInput(policy, issue, our_comment, state, **rest)
    reason = decide_comment(report, policy.comment, has_comment=bool(our_comment))
    return plan_effects.plan_report(report.model_copy(update={"comment_reason": reason}), plan_input)


ALWAYS: list[str] = ["WriteReport", "WriteJobPage", "SetOutputs"]
SILENT: list[str] = ["WriteReport", "WriteJobPage", "SetOutputs"]
ASKED = Policy(comment="always")
OURS = exchange(render_comment(FULL))


@each_row(
    ("policy", "report", "our_comment", "expected"),
    [
        (Policy(), FULL, None, ["PostComment", *ALWAYS]),
        (Policy(), FULL, OURS, ALWAYS),
        (Policy(), change_report(seconds=1.0, severity_reason="new words", why="New words."), OURS, ALWAYS),
        (Policy(), SECOND, OURS, ["EditComment", *ALWAYS]),
        (Policy(), FULL, exchange("<!-- bug-triage: v0 {} -->\nold"), ["EditComment", *ALWAYS]),
        (Policy(), FULL, exchange(render_state(CommentState(quiet=True))), ["EditComment", *ALWAYS]),
        (Policy(comment="never"), FULL, None, SILENT),
        (Policy(dry_run=True), FULL, None, ALWAYS),
        (Policy(labels="apply"), FULL, None, ["AddLabels", "PostComment", *ALWAYS]),
        (Policy(labels="apply", comment="never"), FULL, None, ["AddLabels", *SILENT]),
        (ASKED, DEGRADED, None, ["PostComment", "WriteReport", "WriteJobPage", "Annotate", "SetOutputs"]),
        (ASKED.model_copy(update={"labels": "apply"}), FEATURE, None, ["AddLabels", "PostComment", *ALWAYS]),
        (Policy(labels="apply"), FEATURE, None, ["AddLabels", *SILENT]),
        (Policy(), FEATURE, None, SILENT),
        (Policy(), FEATURE, OURS, ["EditComment", *ALWAYS]),
    ],
)
def test_planned_effects(policy, report, our_comment, expected):
    assert names(plan_report(report, policy, ISSUE, our_comment)) == expected


def test_only_missing_labels_are_added():
    issue = ISSUE.model_copy(update={"labels": ["Bug"]})
    report = change_report(ticket=Ticket(title="t", labels=["bug", "importer", "importer"]))
    assert of(AddLabels, plan_report(report, Policy(labels="apply"), issue)).labels == ["importer"]
    full = ISSUE.model_copy(update={"labels": ["bug", "importer"]})
    assert "AddLabels" not in names(plan_report(report, Policy(labels="apply"), full))


QUESTION = change_report(
    why="",
    missing_information=[missing("version", "Which version?", "")],
    ticket=Ticket(title="t", labels=["bug", "importer"]),
)
ANSWERED = change_report(missing_information=QUESTION.missing_information)
"""By another statement: what is missing is not asked any more."""


def test_the_comment_remembers_what_it_asked_before():
    body, remembered = "", []
    for report in (FULL, QUESTION, change_report(QUESTION, possible_duplicate=SIMILAR[0]), ANSWERED):
        our_comment = exchange(body) if body else None
        effects = plan_report(report, ASKED, ISSUE, our_comment)
        body = of(EditComment, effects).body if body else of(PostComment, effects).body
        state = parse_state(body) or CommentState()
        remembered.append([one.text for one in state.earlier_questions])
    assert remembered == [[], [""], [""], ["", "Which version?"]]
    end = QUESTION.started_at.timestamp() + QUESTION.seconds
    assert state.earlier_questions[-1].until == int(end)


OPTIONS = SuggestionOptions(labels=["bug", "importer"], types=["Bug"])


def test_suggestions_come_after_the_comment_which_does_not_repeat_the_labels():
    plain = plan_report(FULL, Policy(), ISSUE)
    effects = plan_report(FULL, Policy(), ISSUE, options=OPTIONS)
    assert names(effects) == ["PostComment", "SuggestChanges", *ALWAYS]
    suggest = of(SuggestChanges, effects)
    assert {one.name for one in suggest.suggestions} >= {"bug", "importer", "Bug"}
    assert suggest.issue_number == 412
    assert "Suggested labels: `bug`, `importer`" in of(PostComment, plain).body
    assert "Suggested" not in of(PostComment, effects).body
    assert (
        "Suggested on the issue, for people to accept or decline: label `bug` (" in of(WriteJobPage, effects).markdown
    )
    again = exchange(of(PostComment, effects).body)
    assert names(plan_report(FULL, Policy(), ISSUE, again, options=OPTIONS)) == ALWAYS
    declined = names(plan_report(SECOND, Policy(), ISSUE, again, options=OPTIONS))
    assert declined == ["EditComment", *ALWAYS]


@pytest.mark.parametrize(
    ("policy", "carried", "options", "remembered"),
    [
        (Policy(), [], None, ["bug", "importer"]),
        (Policy(labels="apply"), ["Bug"], None, ["importer"]),
        (Policy(), [], OPTIONS, ["bug", "importer"]),
        (Policy(labels="off"), [], OPTIONS, []),
    ],
)
def test_the_comment_remembers_the_labels_that_it_suggested_or_added(policy, carried, options, remembered):
    issue = ISSUE.model_copy(update={"labels": carried})
    state = parse_state(of(PostComment, plan_report(FULL, policy, issue, options=options)).body)
    assert state is not None
    assert sorted(state.label_hashes) == sorted(map(hash_label, remembered))


def test_a_terminal_has_no_issue_to_write_to():
    issue = ISSUE.model_copy(update={"number": None})
    assert names(plan_report(FULL, Policy(labels="apply"), issue)) == ALWAYS


def test_a_dry_run_lists_its_plan():
    effects = plan_report(FULL, Policy(dry_run=True, labels="apply"), ISSUE)
    page = of(WriteJobPage, effects).markdown
    assert "### Dry run: what would have been written" in page
    assert "- A new comment on issue 412 of " in page
    assert "- Labels added to issue 412: `bug`, `importer`" in page
    unchanged = of(WriteJobPage, plan_report(FULL, Policy(dry_run=True), ISSUE, OURS)).markdown
    assert "would have been written\n\nNothing." in unchanged
    assert "Dry run" not in of(WriteJobPage, plan_report(FULL, Policy(), ISSUE)).markdown


def test_the_report_is_written_as_json():
    effects = plan_report(FULL, Policy(), ISSUE)
    written = RunReport.model_validate_json(of(WriteReport, effects).json_text)
    assert written.comment_reason == "analysis"
    assert written.comment is not None
    assert of(PostComment, effects).body.partition("\n")[2].strip("\n") == written.comment, "without the hidden line"
    assert written == FULL.model_copy(update={"comment_reason": written.comment_reason, "comment": written.comment})


def test_labels_that_nothing_remembers_are_added_once():
    apply = Policy(labels="apply")
    assert names(plan_report(FEATURE, apply, ISSUE, may_choose_labels=False)) == SILENT
    later = plan_report(FULL, apply, ISSUE, may_choose_labels=False)
    assert names(later) == ["PostComment", *ALWAYS]
    assert "Labels chosen" not in of(PostComment, later).body


def test_suggestions_need_no_comment():
    effects = plan_report(FEATURE, Policy(), ISSUE, options=SuggestionOptions(labels=["enhancement"]))
    assert names(effects) == ["SuggestChanges", *SILENT]


def test_a_degraded_run_warns_once():
    warning = of(Annotate, plan_report(DEGRADED, Policy(), ISSUE))
    assert warning.level == "warning"
    assert warning.message.startswith("The triage is incomplete. The critic's model was rate limited;")
    assert len(of(Annotate, plan_report(change_report(DEGRADED, notes=["x" * 9000]), Policy(), ISSUE)).message) <= 500


def test_outputs_of_a_full_report():
    assert build_outputs(FULL) == {
        "status": "complete",
        "engine": "model",
        "severity": "HIGH",
        "confidence": "0.86",
        "verdict": "CONFIRMED",
        "suspect-files": '["src/ledger/dates.py", "src/ledger/importers/csv_reader.py", "src/ledger/cli.py"]',
        "ticket-title": build_outputs(FULL)["ticket-title"],
        "ticket-labels": '["bug", "importer"]',
        "ticket-assignee": "maria",
        "ticket-effort": "S",
        "tokens": "31130",
        "cost-usd": "0.083700",
        "seconds": "27.0",
    }
    assert "date format" in build_outputs(FULL)["ticket-title"]


def test_outputs_are_empty_where_they_do_not_apply():
    values = build_outputs(FEATURE)
    assert (values["severity"], values["verdict"], values["ticket-effort"]) == ("", "", "")
    assert values["suspect-files"] == "[]"
    assert build_outputs(DEGRADED)["cost-usd"] == "unknown"


def test_each_output_is_one_line():
    values = build_outputs(change_report(HOSTILE, ticket=Ticket(title=EVIL * 20, labels=[EVIL], assignee="@a")))
    assert all("\n" not in value and "\r" not in value for value in values.values())
    assert len(values["ticket-title"]) <= 200
    assert not re.search(r"(?<![`\w])@octocat(?!`)", values["ticket-title"])
    assert json.loads(values["suspect-files"]) == [suspect.path for suspect in HOSTILE.suspects]
    assert values["ticket-assignee"] == "a"


def test_outputs_are_no_runner_commands_if_a_later_step_prints_them():
    """The runner executes `::name::` at the start of a line, and `##[name]` anywhere."""
    odd = change_report(FULL, ticket=Ticket(title=" ::error::x ##[add-mask]y $(z) `w` @mona", labels=["##[error]l"]))
    suspects = [FULL.suspects[0].model_copy(update={"path": "a/##[error]b.py"})]
    values = build_outputs(odd.model_copy(update={"suspects": suspects}))
    assert values["ticket-title"] == "error::x ## [add-mask]y ＄(z) w ＠mona"
    assert not any("##[" in value or value.lstrip().startswith("::") for value in values.values())
    assert json.loads(values["suspect-files"]) == ["a/##[error]b.py"]
    assert json.loads(values["ticket-labels"]) == ["##[error]l"]


def test_an_unchanged_comment_has_a_url():
    values = of(SetOutputs, plan_report(FULL, Policy(), ISSUE, OURS)).values
    assert values["comment-url"] == "https://github.com/acme/ledger/issues/412#issuecomment-77"
    assert of(SetOutputs, plan_report(FULL, Policy(), ISSUE)).values["comment-url"] == ""


def test_skipping_and_failing_set_the_status():
    assert names(plan_skip("It is a pull request.")) == ["WriteJobPage", "SetOutputs"]
    assert names(plan_failure("No such issue.")) == ["WriteJobPage", "Annotate", "SetOutputs"]
    assert of(SetOutputs, plan_skip("x")).values == {"status": "skipped"}
    assert of(SetOutputs, plan_failure("x")).values == {"status": "failed"}
    assert of(Annotate, plan_failure("No such issue.")) == Annotate(level="error", message="No such issue.")


QUIET = QuietTask(number=412, actor="mona")


def test_quiet_without_a_comment_writes_a_short_one():
    post = of(PostComment, plan_quiet(QUIET, None, Policy()))
    assert len(post.body.splitlines()) == 2
    assert (parse_state(post.body) or CommentState()).quiet


@pytest.mark.parametrize(
    ("our_comment", "policy"),
    [
        (exchange(render_state(CommentState(quiet=True)) + "\nx"), Policy()),
        (OURS, Policy(dry_run=True)),
        (None, Policy(dry_run=True)),
    ],
)
def test_quiet_writes_nothing_when_it_is_known_or_not_allowed(our_comment, policy):
    assert names(plan_quiet(QUIET, our_comment, policy)) == ["WriteJobPage", "SetOutputs"]


def test_wrong_edits_our_comment_even_when_it_is_quiet():
    wrong = QUIET.model_copy(update={"wrong": ["place"]})
    quiet = exchange(render_state(CommentState(quiet=True)) + "\nx")
    edit = of(EditComment, plan_quiet(wrong, quiet, Policy()))
    state = parse_state(edit.body)
    assert state is not None
    assert (state.quiet, state.wrong_subjects) == (True, ["place"])
    assert "Withdrawn, as somebody called it wrong: place" in edit.body
    assert names(plan_quiet(wrong, OURS, Policy(dry_run=True))) == ["WriteJobPage", "SetOutputs"]


def test_our_comments_have_our_marker_and_our_login():
    strangers = exchange(OURS.body, ours=False)
    other = exchange("hello")
    nameless = exchange(OURS.body, comment_id=None)
    second = exchange(OURS.body, comment_id=78)
    thread = [strangers, second, other, nameless, OURS]
    assert find_our_comments(ISSUE.model_copy(update={"thread": thread})) == [OURS, second], "oldest first"
    assert find_our_comments(ISSUE) == []
