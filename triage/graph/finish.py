"""The end of every run: the report, from whatever is there by then. Pure but for look-ups in the index."""

from collections.abc import Sequence

from triage.agents.report_templates import fill_report_template, fill_ticket_template
from triage.citations.verify import merge_citations, verify_evidence, verify_suspects
from triage.domain.findings import TriageReport, WebResult
from triage.domain.report import Citations, IssueRef, RunReport, Suspect, Ticket
from triage.domain.run import Outcome, Status, StepRecord, ToolExecution, Usage
from triage.graph.collect_faults import collect_faults
from triage.graph.triage_state import BugTriageState, build_agent_input, compute_confidence
from triage.ports import Services
from triage.text.inert_markdown import sanitize_markdown

MAX_RAISE = 0.2
"""What the writer may add to the confidence of search and critic: it has seen no more than they have."""
MAX_UNVERIFIED_CONFIDENCE = 0.3
FAST_MODEL_AGENTS = ("investigator", "web_search")
"""Agents that ask the fast model whatever is left."""


def build_report(state: BugTriageState, services: Services, interrupted: str = "") -> RunReport:
    """The report of a run.

    Args:
        state: The last state, complete or not.
        services: For look-ups in the indexed commit.
        interrupted: Why the run was cut, in our words; empty when it was not.
    """
    case = build_agent_input(state)
    draft = state.output.report if state.output else fill_report_template(case)
    suspects, of_suspects = _verify_suspects(draft, state, services)
    lines, paths = services.codebase.read_lines, services.codebase.list_paths()
    claims = [item for item in draft.evidence if item.claim.strip()]
    evidence, of_evidence = verify_evidence(claims, lines, paths, state.reading.text)
    kind = state.investigation.kind if state.investigation else "bug"
    is_bug = kind == "bug"
    return RunReport(
        triage_version=services.facts.triage_version,
        request_id=services.facts.request_id,
        started_at=services.facts.started_at,
        seconds=round(services.clock() - services.started, 1),
        status=determine_status(state, interrupted),
        engine=services.engine,
        repository=state.repository.slug,
        server_url=state.repository.server_url,
        commit=state.repository.commit,
        issue=IssueRef(
            number=state.issue_number,
            title=state.reading.title or state.issue_title,
            url=state.issue_url,
            labels=state.labels,
        ),
        run_url=services.facts.run_url,
        cut=interrupted,
        kind=kind,
        verdict=state.critique.verdict if state.critique and is_bug else None,
        severity=draft.severity if is_bug else None,
        severity_reason=draft.severity_reason if is_bug else "",
        confidence=_cap_confidence(draft, state, bool(suspects) or not is_bug),
        summary=draft.summary,
        root_cause=draft.root_cause,
        suspects=suspects if is_bug else [],
        evidence=evidence if is_bug else [],
        reproduction=[step for step in draft.reproduction if step.strip()],
        missing_information=[asked for asked in draft.missing_information if asked.question.strip()][:4],
        next_steps=[step for step in draft.next_steps if step.strip()][:4],
        suggested_fix=draft.suggested_fix,
        external_references=_select_returned_pages(draft.external_references, state),
        ticket=_build_ticket(state),
        analysis=sanitize_markdown(state.output.github_comment_markdown) if state.output else "",
        critique=state.critique if is_bug else None,
        citations=merge_citations([of_suspects, of_evidence, _select_unverified(state.citations)])
        if is_bug
        else Citations(),
        hidden_fragments=state.reading.hidden_fragments,
        notes=list_notes(state, services, interrupted),
        findings=state.findings,
        rounds=state.rounds,
        decisions=state.planner_decisions,
        steps=state.steps,
        faults=collect_faults(state.steps),
        usage=services.model.usage if services.model else state.usage,
        reused=services.model.reused if services.model else Usage(),
        limits=services.limits,
        index=state.index,
    )


def _verify_suspects(draft: TriageReport, state: BugTriageState, services: Services) -> tuple[list[Suspect], Citations]:
    """The writer's suspects as far as they hold; the codebase search's when none does."""
    lines, paths = services.codebase.read_lines, services.codebase.list_paths()
    suspects, citations = verify_suspects(draft.affected_files, lines, paths)
    if suspects or state.codebase is None:
        return suspects, citations
    found, more = verify_suspects(state.codebase.relevant_files, lines, paths)
    return found, merge_citations([citations, more])


def _cap_confidence(draft: TriageReport, state: BugTriageState, grounded: bool) -> float:
    """The writer's, within reach of what was found; low when no suspect holds."""
    found = compute_confidence(state)
    told = min(draft.confidence, found + MAX_RAISE) if state.output else found
    return round(told if grounded else min(told, MAX_UNVERIFIED_CONFIDENCE), 2)


def _select_unverified(searched: Citations) -> Citations:
    """What the codebase search named and could not be verified; what could is cited again by the writer."""
    return Citations(verified=0, total=searched.total - searched.verified, refused=searched.refused)


def _select_returned_pages(references: Sequence[WebResult], state: BugTriageState) -> list[WebResult]:
    """Only pages that the search returned, under the title that it returned."""
    known = {result.url: result for result in (state.web.relevant_results if state.web else [])}
    return [known[reference.url] for reference in references if reference.url in known]


def _build_ticket(state: BugTriageState) -> Ticket:
    if state.output is None:
        return Ticket(**fill_ticket_template(build_agent_input(state), []) | {"assignee": ""})
    return Ticket(
        title=state.output.ticket_title,
        labels=state.output.ticket_labels,
        assignee=state.output.ticket_assignee_suggestion,
        effort=state.output.ticket_effort_estimate,
    )


def determine_status(state: BugTriageState, interrupted: str) -> Status:
    """Degraded when a step failed or its twin answered, a limit or a signal struck, or the index is not whole."""
    failed = any(step.outcome is not Outcome.SUCCESS or step.shortfalls for step in state.steps)
    failed_tool = any(_has_failed(tool) for step in state.steps for tool in step.tools)
    limited = any(one.forced for one in state.planner_decisions) or bool(_list_degradation_notes(state))
    whole = state.index is not None and state.index.files > 0 and not state.index.partial and not state.index.notes
    broken = failed or failed_tool or limited or bool(interrupted) or not whole or state.output is None
    return Status.DEGRADED if broken else Status.COMPLETE


def _has_failed(tool: ToolExecution) -> bool:
    """A call that was not run, for its arguments were none, is the model's slip; it was told and could go on."""
    return tool.outcome in (Outcome.FAILED, Outcome.TIMED_OUT)


def list_notes(state: BugTriageState, services: Services, interrupted: str) -> list[str]:
    """What is missing from the report and why, one sentence each, worst first."""
    said = [interrupted] if interrupted else []
    said += _list_index_notes(state)
    said += [note for step in state.steps if step.step != "supervisor" for note in _list_step_notes(step, state.steps)]
    said += _list_proposal_notes(state)
    said += [
        f"The {step.step.replace('_', ' ')}'s tool {tool.tool} failed: {tool.error}."
        for step in state.steps
        for tool in step.tools
        if _has_failed(tool)
    ]
    said += [f"A limit decided: {d.reason}." for d in state.planner_decisions if d.forced]
    said += _list_degradation_notes(state)
    if services.engine == "rules":
        said.append("No language model was used: every answer is by rules.")
    if services.web_tools is None:
        said.append("Web search is off: there is no `tavily-api-key`.")
    return list(dict.fromkeys(said))


def _list_index_notes(state: BugTriageState) -> list[str]:
    index = state.index
    if index is None:
        return ["The repository was not indexed: only the issue's text was used."]
    if index.files == 0:
        return ["No source files were found: is there an `actions/checkout` step before this one?"]
    partial = ["Part of the repository was not indexed."] if index.partial else []
    return [*partial, *index.notes]


def _list_proposal_notes(state: BugTriageState) -> list[str]:
    """How often the fixed sequence decided for a model, and why it did at first."""
    refused = [decision.refused for decision in state.planner_decisions if decision.refused]
    if not refused:
        return []
    whole = len(state.planner_decisions)
    return [f"The fixed sequence made {len(refused)} of {whole} decisions in the model's place: {refused[0]}."]


def _list_degradation_notes(state: BugTriageState) -> list[str]:
    """Who was asked otherwise because the budget ran low."""
    said: list[str] = []
    for spent, words in (("rules", "answered by rules"), ("fast model", "went to the fast model")):
        names = [name for one in state.planner_decisions if one.rung == spent for name in one.selected]
        names = [name for name in names if spent == "rules" or name not in FAST_MODEL_AGENTS]
        if names:
            who = ", ".join(name.replace("_", " ") for name in dict.fromkeys(names))
            said.append(f"The budget ran low: {who} {words}.")
    return said


def _list_step_notes(step: StepRecord, steps: Sequence[StepRecord]) -> list[str]:
    who = step.step.replace("_", " ").capitalize()
    said = [f"{who}: {shortfall}." for shortfall in step.shortfalls]
    if step.outcome is not Outcome.SUCCESS:
        said.append(f"{who}: {step.error or step.outcome.lower()}{_describe_replacement(step, steps)}.")
    return said


def _describe_replacement(failed: StepRecord, steps: Sequence[StepRecord]) -> str:
    """What stood in for a failed step."""
    later = steps[steps.index(failed) + 1 :]
    for step in later:
        if (step.step, step.round, step.outcome) == (failed.step, failed.round, Outcome.SUCCESS):
            return "; answered by rules instead" if step.engine == "rules" else "; the fast model answered instead"
    return ""
