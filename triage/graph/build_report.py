"""Builds the report from whatever a run has found. Pure, but for lookups in the index."""

import re

from triage.agents.report_templates import fill_report_template, fill_ticket_template
from triage.agents.writer import CommentDraft, add_label, parse_comment_draft
from triage.citations.citation_lookup import CitationLookup, drop_wrong_lines, find_named_places
from triage.citations.verify import merge_citations, verify_evidence, verify_suspects
from triage.domain.code import BestPlace, QuotedLine, Span, Suspect
from triage.domain.findings import MissingInformation, TriageReport
from triage.domain.issue import Issue, Repository
from triage.domain.past_issues import SimilarIssue
from triage.domain.report import CheckedEvidence, Citations, IssueRef, RunReport, Ticket
from triage.domain.run import Usage
from triage.graph.active_skills import list_used_skills
from triage.graph.report_notes import collect_faults, determine_status, list_notes
from triage.graph.routing import is_searched
from triage.graph.triage_state import BugTriageState
from triage.issue.kind.issue_kind import read_kind
from triage.issue.questions.missing_information import MAX_QUESTIONS
from triage.issue.read_issue import read_issue
from triage.issue.report_facts import quote_code_steps
from triage.ports import Services
from triage.safety.safe_markdown import sanitize_markdown
from triage.say.decide import with_statements

MIN_STEP_CHARS = 12
"""Of an idea for a fix, a check or a next step: `Fix it` and `Add tests.` say nothing."""
MAX_SHOWN_SECTIONS = 3
"""Of 51 questions the right section is among three by words in 38 (`bench.documented`)."""
_ROFF = re.compile(r"\\f.|\\&|\\(?=-)")
MAX_UNVERIFIED_CONFIDENCE = 0.3
"""When no suspect was verified."""
CANCELLED = "The run was cancelled before it looked anything up: this is what the issue's text says."


def build_report(state: BugTriageState, services: Services, ended_early: str = "") -> RunReport:
    """Return the report of a run from its last state, complete or not. `ended_early` says why it was cut."""
    draft = state.output.report if state.output else fill_report_template(state)
    kind_reading = state.kind_reading or read_kind(state.parsed, state.issue.labels)
    pages = {page.url: page for page in (state.web.relevant_results if state.web else [])}
    is_certain = state.kind is not None and kind_reading.kind == state.kind
    is_bug, is_asking = state.may_be_bug, state.kind in ("question", "feature_request")
    has_places = is_searched(state.kind)
    suspects, evidence, citations = _check_citations(draft, state, services) if has_places else ([], [], Citations())
    facts = _keep_facts(state, suspects)
    lookup = CitationLookup(services.codebase)
    explanation = _write_explanation(draft, state, lookup) if is_bug else CommentDraft()
    # What the investigator asked before anybody had read the code.
    is_explained = is_bug and state.searched_by_model and state.is_confirmed
    faults = collect_faults(state.steps)
    return with_statements(
        RunReport(
            triage_version=services.identity.triage_version,
            request_id=services.identity.request_id,
            started_at=services.identity.started_at,
            seconds=round(services.clock() - services.started, 1),
            status=determine_status(state, faults, ended_early),
            engine=services.engine,
            repository=state.repository.slug,
            server_url=state.repository.server_url,
            commit=state.repository.commit,
            issue=IssueRef(
                number=state.issue.number,
                title=state.parsed.title or state.issue.title,
                url=state.issue.url,
                labels=state.issue.labels,
            ),
            run_url=services.identity.run_url,
            feature_flags=services.identity.feature_flags,
            ended_early=ended_early,
            kind=state.kind,
            kind_probability=round(kind_reading.probability, 2) if is_certain else None,
            security=kind_reading.security,
            security_policy=services.codebase.find_security_policy(),
            verdict=state.critique.verdict if state.critique and is_bug else None,
            severity=draft.severity if is_bug else None,
            severity_reason=draft.severity_reason if is_bug else "",
            confidence=state.confidence if suspects or not is_bug else min(state.confidence, MAX_UNVERIFIED_CONFIDENCE),
            summary=draft.summary,
            root_cause=draft.root_cause,
            why=explanation.why,
            fix_idea=explanation.fix_idea,
            check=explanation.check,
            named_places=find_named_places(explanation.model_dump().values(), lookup),
            best_place=facts[0] if facts else None,
            other_places=facts[1:],
            failing_package=state.failing_package if is_bug else None,
            regression_window=state.regression_window if is_bug and not kind_reading.security else None,
            suspects=suspects,
            documentation=state.documentation[:MAX_SHOWN_SECTIONS] if is_asking else [],
            documented=_quote_documentation(state) if is_asking else None,
            similar_issues=state.similar_issues,
            possible_duplicate=None
            if "known" in state.withdrawn
            else next(filter(_is_same, state.similar_issues), None),
            withdrawn=state.withdrawn,
            area_labels=state.area_labels,
            past_issues=state.past_issue_count,
            evidence=evidence if is_bug else [],
            reproduction=quote_code_steps(draft.reproduction, state.parsed),
            missing_information=[] if is_explained else _list_questions(state),
            next_steps=list(filter(_says_something, map(_strip_label, draft.next_steps)))[:4],
            suggested_fix=draft.suggested_fix,
            external_references=[pages[page.url] for page in draft.external_references if page.url in pages],
            ticket=_build_ticket(state),
            analysis=sanitize_markdown(state.output.github_comment_markdown) if state.output else "",
            critique=state.critique if is_bug else None,
            citations=citations,
            hidden_fragments=state.parsed.hidden_fragments,
            language=state.parsed.language,
            declined=state.declined,
            notes=list_notes(state, faults, services, ended_early),
            findings=state.findings,
            rounds=state.rounds,
            decisions=state.planner_decisions,
            steps=state.steps,
            faults=faults,
            usage=services.model.usage if services.model else sum((step.usage for step in state.steps), Usage()),
            limits=services.limits,
            index=state.index,
            skills=list_used_skills(state, services),
            active_skills=state.active_skills,
            shown_skill_ids=state.shown_skill_ids,
        )
    )


def _write_explanation(draft: TriageReport, state: BugTriageState, code: CitationLookup) -> CommentDraft:
    """Return the writer's paragraphs. What its draft lacks comes from the codebase search and the report's fields.

    Empty unless a model has searched or judged: by rules nobody knows why.
    """
    written = _read_paragraphs(draft, state.output.github_comment_markdown if state.output else "")
    reasoning = state.codebase.reasoning if state.codebase and state.searched_by_model else ""
    why = next((text for text in (written.why, reasoning) if _names_suspect(text, state)), "")
    if not why or not (state.searched_by_model or state.judged_by_model):
        return CommentDraft()
    steps = filter(_says_something, [written.check, *map(_strip_label, draft.next_steps)])
    fix_ideas = filter(_says_something, [written.fix_idea, draft.suggested_fix or ""])
    spans = [
        Span(path=file.path, start=file.start_line, end=file.end_line)
        for file in state.suspects
        if file.start_line and file.end_line
    ]
    texts = {"why": why, "fix_idea": next(fix_ideas, ""), "check": next(steps, "")}
    return CommentDraft(**{name: drop_wrong_lines(text, spans, code) for name, text in texts.items()})


def _read_paragraphs(draft: TriageReport, comment: str) -> CommentDraft:
    """Return the writer's paragraphs: of its fields, and what one of them has under labels where another is empty."""
    inside = parse_comment_draft(add_label("Why", draft.why.strip()))
    fix_idea, check = _strip_label(draft.fix_idea), _strip_label(draft.check)
    if not (comment and (fix_idea or check)):
        return parse_comment_draft(comment)
    kept = [inside.why, *([inside.fix_idea] if fix_idea else []), *([inside.check] if check else [])]
    why = " ".join(filter(None, kept))
    return CommentDraft(why=why, fix_idea=fix_idea or inside.fix_idea, check=check or inside.check)


def _names_suspect(text: str, state: BugTriageState) -> bool:
    """Return whether a text has a word of a suspect: of its path, its symbol or its quoted line."""
    named = " ".join(part for file in state.suspects for part in (file.path, file.symbol or "", file.quote or ""))
    return not _list_words(named).isdisjoint(_list_words(text))


def _list_words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]{4,}", text.casefold()))


def _strip_label(step: str) -> str:
    # Beside a paragraph with this label, `Check. Add tests.` would be read twice.
    return " ".join(filter(None, parse_comment_draft(step).model_dump().values()))


def _quote_documentation(state: BugTriageState) -> QuotedLine | None:
    """Return the line that a model chose, if it stands in a page of which it was shown a section."""
    pages = {section.span.path for section in state.documentation}
    for line in state.codebase.documented if state.codebase and state.searched_by_model else ():
        if line.path in pages and line.quote and line.start_line and line.end_line:
            quote = _ROFF.sub("", line.quote) if re.search(r"\.[1-8](?:\.\w+)?$", line.path) else line.quote
            span = Span(path=line.path, start=line.start_line, end=line.end_line)
            return QuotedLine(span=span, quote=" ".join(quote.split()))
    return None


def _says_something(step: str) -> bool:
    return len(step.strip()) >= MIN_STEP_CHARS


def _is_same(past: SimilarIssue) -> bool:
    return past.named and not past.is_pull_request


def _list_questions(state: BugTriageState) -> list[MissingInformation]:
    # Who asks for help or for something new owes no version.
    if not state.may_be_bug and state.kind != "not_actionable":
        return []
    asked = {one.question: one for one in state.missing_information if one.question.strip()}
    return list(asked.values())[:MAX_QUESTIONS]


def _keep_facts(state: BugTriageState, suspects: list[Suspect]) -> list[BestPlace]:
    """Return where facts of the issue lead; none if a model has another file first, and the critic confirms that."""
    place = state.best_place
    if not state.may_be_bug or place is None:
        return []
    is_contradicted = bool(suspects) and suspects[0].path != place.span.path
    return [] if is_contradicted and state.searched_by_model and state.is_confirmed else state.facts


def build_offline_report(issue: Issue, repository: Repository, services: Services) -> RunReport:
    """Return the report of a run that is cancelled before its graph starts: what the issue's text says."""
    state = BugTriageState(issue=issue, repository=repository, parsed=read_issue(issue))
    return build_report(state, services, CANCELLED).model_copy(update={"notes": [CANCELLED]})


def _check_citations(
    draft: TriageReport, state: BugTriageState, services: Services
) -> tuple[list[Suspect], list[CheckedEvidence], Citations]:
    """Return the verified suspects, the evidence, and the count of references."""
    lookup = CitationLookup(services.codebase)
    suspects, cited = verify_suspects(draft.affected_files, lookup)
    claims = [item for item in draft.evidence if item.claim.strip()]
    evidence, found = verify_evidence(claims, lookup, state.parsed.text)
    # The report cites the verified ones again; they are counted there.
    searched = state.citations
    unverified = searched.model_copy(update={"verified": 0, "total": searched.total - searched.verified})
    return suspects, evidence, merge_citations([cited, found, unverified])


def _build_ticket(state: BugTriageState) -> Ticket:
    if state.output is None:
        return Ticket(**fill_ticket_template(state, []) | {"assignee": ""})
    return Ticket(
        title=state.output.ticket_title,
        labels=state.output.ticket_labels,
        assignee=state.output.ticket_assignee_suggestion,
        effort=state.output.ticket_effort_estimate,
    )
