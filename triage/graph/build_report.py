"""Builds the report from whatever a run has found. Pure, but for lookups in the index."""

import re
from collections.abc import Iterator

from triage.agents.cited_places import build_model_explanation, has_model_evidence
from triage.agents.investigator import list_questions
from triage.agents.report_templates import fill_report_template, fill_ticket_template, to_suspect
from triage.agents.services import Services
from triage.domain.code import CodeHistory, QuotedLine, Span, Suspect
from triage.domain.findings import MissingInformation
from triage.domain.report import IssueRef, RunReport, Ticket
from triage.domain.run import Outcome, Status, StepRecord, ToolExecution, Usage
from triage.graph.active_skills import list_skill_notes, list_used_skills
from triage.graph.routing import searches_code
from triage.graph.triage_state import BugTriageState
from triage.read.kind.issue_kind import read_kind
from triage.read.questions import MAX_QUESTIONS
from triage.say.decide import decide

MAX_SHOWN_SECTIONS = 3
"""Of 51 questions the right section is among three by words in 38 (`bench.documented`)."""
_ROFF = re.compile(r"\\f.|\\&|\\(?=-)")
MAX_CONFIDENCE_WITHOUT_SUSPECT = 0.3
"""When there is no suspect."""
_SHALLOW = (
    "The checkout has only a part of the history: what changed between two versions and who knows the code may be "
    "missing. `fetch-depth: 0` brings all of it."
)
HISTORY_FAILED = "Who wrote the code, and what changed in it, could not be looked up in time."
NO_HISTORY_WANTED = CodeHistory()


def build_report(
    state: BugTriageState, services: Services, ended_early: str = "", history: CodeHistory | None = NO_HISTORY_WANTED
) -> RunReport:
    """Return the report of a run from its last state, complete or not, with what `say.decide` says.

    `ended_early` says why the run did; `history` is None if it could not be looked up.
    """
    draft = state.writer_output.report if state.writer_output else fill_report_template(state)
    kind_reading = state.kind_reading or read_kind(state.parsed, state.issue.labels)
    state = state.model_copy(update={"kind_reading": kind_reading})
    kind_by_rules, may_be_bug_by_rules = state.kind_by_rules, state.may_be_bug_by_rules
    kind = kind_by_rules or (state.kind if has_model_evidence(state) else None)
    suspects = draft.affected_files if searches_code(kind_by_rules) else []
    places = state.places if may_be_bug_by_rules else []
    wants_answer = state.kind in ("question", "feature_request")
    explanation = build_model_explanation(state) if state.may_be_bug or wants_answer else None
    has_no_suspect = may_be_bug_by_rules and not suspects
    confidence = min(state.confidence, MAX_CONFIDENCE_WITHOUT_SUSPECT) if has_no_suspect else state.confidence
    duplicate = next((one for one in state.similar_issues if one.is_probably_same and not one.is_pull_request), None)
    report = RunReport(
        seconds=round(services.clock() - services.started, 1),
        status=_determine_status(state, ended_early),
        engine=services.engine,
        repository=state.repository.slug,
        server_url=state.repository.server_url,
        commit=state.repository.commit,
        issue=IssueRef(
            number=state.issue.number,
            title=state.parsed.title or state.issue.title,
            url=state.issue.url,
            labels=state.issue.labels,
            by_member=state.issue.by_member,
        ),
        ended_early=ended_early,
        kind=kind,
        kind_by_model=kind != kind_by_rules,
        kind_probability=round(kind_reading.probability, 2) if kind_by_rules else None,
        security=kind_reading.security,
        security_policy=services.codebase.project.security_policy,
        verdict=state.critique.verdict if state.critique and may_be_bug_by_rules else None,
        severity=draft.severity if may_be_bug_by_rules else None,
        severity_reason=draft.severity_reason if may_be_bug_by_rules else "",
        confidence=confidence,
        summary=draft.summary,
        why=explanation.why if explanation else "",
        fix_idea=explanation.fix_idea if explanation else "",
        check=explanation.check if explanation else "",
        named_places=explanation.named_places if explanation else [],
        best_place=places[0] if places else None,
        other_places=places[1:],
        failing_package=state.failing_package if may_be_bug_by_rules else None,
        regression_window=state.regression_window if may_be_bug_by_rules and not kind_reading.security else None,
        suspects=suspects,
        likely_files=list_likely_files(state),
        documentation=state.documentation[:MAX_SHOWN_SECTIONS] if wants_answer else [],
        documented=_quote_line(state, is_explained=explanation is not None) if wants_answer else None,
        similar_issues=state.similar_issues,
        possible_duplicate=duplicate if "known" not in state.wrong_subjects else None,
        wrong_subjects=state.wrong_subjects,
        area_labels=state.area_labels,
        past_issue_count=state.past_issue_count,
        evidence=draft.evidence if may_be_bug_by_rules else [],
        missing_information=_list_questions(state, services),
        external_references=state.web.relevant_results if state.web else [],
        ticket=_build_ticket(state),
        critique=state.critique if may_be_bug_by_rules else None,
        citations=state.citations,
        hidden_fragments=state.parsed.hidden_fragments,
        language=state.parsed.language,
        notes=[*_list_notes(state, services, ended_early), *([HISTORY_FAILED] if history is None else [])],
        findings=state.findings,
        decisions=state.planner_decisions,
        steps=state.steps,
        usage=services.model.usage if services.model else sum((step.usage for step in state.steps), Usage()),
        limits=services.limits,
        index=state.index_facts,
        skills=list_used_skills(state, services),
        active_skills=state.active_skills,
        shown_skill_ids=state.shown_skill_ids,
        **dict(services.identity) | dict(history or NO_HISTORY_WANTED),
    )
    return report.model_copy(update={"statements": decide(report)})


def _determine_status(state: BugTriageState, ended_early: str) -> Status:
    """Return `degraded` when anything failed, a limit decided, the run ended early, or the index is incomplete."""
    # Without past issues the report is what it would be without memory: nothing is missing, and a note says so.
    steps = [step for step in state.steps if step.step != "fetch_past_issues"]
    failed = any(step.error or step.shortfalls or any(map(_is_failed, step.tools)) for step in steps)
    limited = any(decision.forced for decision in state.planner_decisions)
    facts = state.index_facts
    indexed = facts is not None and facts.files > 0 and not facts.partial and not facts.notes
    broken = failed or limited or bool(ended_early) or not indexed or state.writer_output is None
    return Status.DEGRADED if broken else Status.COMPLETE


def _is_failed(tool: ToolExecution) -> bool:
    # A skipped call had bad arguments: the model was told, and could go on.
    return tool.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)


def _list_notes(state: BugTriageState, services: Services, ended_early: str) -> list[str]:
    """Return what is missing and why, one sentence each, worst first."""
    notes = [ended_early] if ended_early else []
    notes += _list_index_notes(state, in_job=bool(services.identity.run_url))
    notes += [note for step in state.steps for note in _describe_failures(step)]
    if left_out := state.parsed.comments_left_out:
        notes.append(f"The thread is long: {left_out:,} older comments of other people were not read.")
    notes += [f"An attachment was not read: {one.problem}." for one in state.issue.attachments if one.problem]
    notes += [f"A limit decided: {decision.reason}." for decision in state.planner_decisions if decision.forced]
    notes += list_skill_notes(state, services)
    if services.engine == "rules":
        notes.append("No language model was used: every answer is by rules.")
    if services.web_tools is None:
        notes.append("Web search is off: see the inputs `web-search` and `tavily-api-key`.")
    return list(dict.fromkeys(notes))


def _list_index_notes(state: BugTriageState, *, in_job: bool) -> list[str]:
    index = state.index_facts
    if index is None:
        return ["The repository was not indexed: only the issue's text was used."]
    if index.files == 0:
        hint = ["Is there an `actions/checkout` step before this one?"] if in_job else []
        return [*(index.notes or ["No source files were found in this folder."]), *hint]
    partial = ["Part of the repository was not indexed."] if index.partial else []
    shallow = [_SHALLOW] if index.shallow else []
    return [*partial, *index.notes, *shallow]


def _describe_failures(step: StepRecord) -> Iterator[str]:
    name = step.step.replace("_", " ").capitalize()
    if step.step == "fetch_past_issues" and step.error:
        yield f"Not all past issues could be read: {step.error.rstrip('.')}."
    elif step.error:
        is_answered = step.outcome is Outcome.SUCCESS and step.engine == "rules" and not step.is_lookup
        yield f"{name}: {step.error}{'; answered by rules instead' if is_answered else ''}."
    for shortfall in step.shortfalls:
        yield f"{name}: {shortfall}."
    for tool in filter(_is_failed, step.tools):
        yield f"The {name.lower()}'s tool {tool.tool} failed: {tool.error}."


def _quote_line(state: BugTriageState, *, is_explained: bool) -> QuotedLine | None:
    """Return the line that a model chose: a line of code says nothing without its words."""
    pages = {section.span.path for section in state.documentation}
    for line in state.code_finding.quoted_lines if state.code_finding and state.searched_by_model else ():
        if (is_explained or line.path in pages) and line.quote and line.start_line and line.end_line:
            quote = _ROFF.sub("", line.quote) if re.search(r"\.[1-8](?:\.\w+)?$", line.path) else line.quote
            span = Span(path=line.path, start=line.start_line, end=line.end_line)
            return QuotedLine(span=span, quote=" ".join(quote.split()))
    return None


def _list_questions(state: BugTriageState, services: Services) -> list[MissingInformation]:
    """Return what rules ask; what a model asks besides, if something shows that it has read the code."""
    if state.investigation is None or state.issue.by_member:
        return []
    by_rules = list_questions(state, services.codebase)
    kinds = {one.kind for one in by_rules} - {"other"}
    is_heard = state.may_be_bug and has_model_evidence(state)
    asked = state.missing_information if is_heard else state.gap_questions
    others = [one for one in asked if one.question.strip() and one.kind not in kinds]
    return list({one.question: one for one in [*by_rules, *others]}.values())[:MAX_QUESTIONS]


def list_likely_files(state: BugTriageState) -> list[Suspect]:
    """Return the files that rules find likely, the likeliest first."""
    if state.code_finding is None or not searches_code(state.kind_by_rules):
        return []
    return list(map(to_suspect, state.code_finding.likely_files))


def _build_ticket(state: BugTriageState) -> Ticket:
    if state.writer_output is None:
        return Ticket(**fill_ticket_template(state, []) | {"assignee": ""})
    return Ticket(
        title=state.writer_output.ticket_title,
        labels=state.writer_output.ticket_labels,
        assignee=state.writer_output.ticket_assignee_suggestion,
        effort=state.writer_output.ticket_effort_estimate,
    )
