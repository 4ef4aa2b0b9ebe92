"""The nodes of the graph, and what the state keeps of an agent's answer."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from langgraph.runtime import Runtime

from triage.agents.agent import to_agent_finding
from triage.agents.cited_places import resolve_citations
from triage.agents.critic import can_change_something
from triage.agents.services import Services
from triage.agents.writer import has_labels_to_choose
from triage.base.errors import GitError
from triage.base.threads import in_thread
from triage.domain.code import CodeHistory, ExecutedCode
from triage.domain.findings import AgentName
from triage.domain.issue import Attachment, EarlierReport, Issue
from triage.domain.past_issues import LearnedFromLabels, PastIssue
from triage.domain.report import Citations
from triage.domain.run import (
    ATTACHMENT_SHARE,
    INDEX_SHARE,
    PAST_ISSUES_SHARE,
    Outcome,
    PlannerDecision,
)
from triage.graph.active_skills import activate_skills, record_shown_skills
from triage.graph.build_report import build_report, list_likely_files
from triage.graph.capabilities import AGENTS, PAST_ISSUES_CAPABILITIES, restrict_services
from triage.graph.routing import (
    choose_next,
    close_round,
    downgrade_unverified,
    is_budget_low,
)
from triage.graph.step_runner import RULES_SECONDS, StepRecorder, run_agent
from triage.graph.triage_state import BugTriageState, Update
from triage.read.area_labels import choose_area_labels
from triage.read.issue_facts import find_facts
from triage.read.issue_forms import find_used_forms, parse_forms
from triage.read.kind.issue_kind import read_kind
from triage.read.kind.severity_signs import reports_vulnerability
from triage.read.other_issues import choose_search_words
from triage.read.read_issue import count_template_comments, detect_project_language, read_issue, read_issue_and_thread
from triage.read.reporter_language import pair_questions_with_answers
from triage.read.traces.failing_package import find_failing_package
from triage.say.decide import select_sure_places
from triage.say.hidden_state import parse_state
from triage.say.our_comment import find_our_comment, read_comment_state

if TYPE_CHECKING:
    from triage.find.codebase import Codebase


class Node(Protocol):
    def __call__(self, state: BugTriageState, runtime: Runtime[Services]) -> Update | Awaitable[Update]: ...


MAX_SIMILAR = 5
MAX_SECTIONS = 10
"""Of the documentation, for a model: of 51 questions the right one is among ten by words in 43 (`bench.documented`)."""
HISTORY_SECONDS = 15.0
"""At most, for git, which goes through the whole history for some questions."""
ANSWER_FIELDS: dict[AgentName, str] = {
    "investigator": "investigation",
    "codebase_search": "code_finding",
    "web_search": "web",
    "critic": "critique",
    "writer": "writer_output",
}


async def read_and_index(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Read the issue as a person sees it, index the repository, and find what it says: places, kind, labels."""
    services = runtime.context
    recorder = StepRecorder("read_and_index", services)
    issue = state.issue.model_copy(update={"attachments": await _read_attachments(state.issue, services)})
    seconds = services.share_of_seconds_left(INDEX_SHARE)
    update = await in_thread(_read_issue_into_state, issue)
    state = state.model_copy(update=update)
    reproduced = read_comment_state(issue).reproduced
    executed = services.executed or (reproduced.executed_code if reproduced else None)
    indexing = await recorder.attempt(
        "rules", lambda: in_thread(_look_up_in_commit, state, services, executed), seconds
    )
    named_paths = [*state.parsed.paths, *(frame.path for trace in state.parsed.traces for frame in trace.frames)]
    if indexing.outcome is Outcome.TIMED_OUT and named_paths:
        seconds = services.share_of_seconds_left(INDEX_SHARE)
        indexing = await recorder.attempt(
            "rules", lambda: in_thread(_look_up_in_commit, state, services, executed, named_paths), seconds
        )
    return update | (indexing.result or {}) | {"steps": recorder.records}


async def _read_attachments(issue: Issue, services: Services) -> list[Attachment]:
    """Return what the issue links to on GitHub; none if that is off."""
    if services.read_attachments is None:
        return []
    seconds = services.share_of_seconds_left(ATTACHMENT_SHARE)
    try:
        return await in_thread(services.read_attachments, issue, seconds=seconds)
    except TimeoutError:
        return [Attachment(problem="GitHub took too long")]


def _read_issue_into_state(issue: Issue) -> Update:
    """Return what the issue says, of which kind it is, and what our comment on it remembers."""
    # Text in another language than English loads a model for half a second, and the kind reads weights from a file.
    parsed, thread = read_issue_and_thread(issue)
    opening_post = read_issue(issue.model_copy(update={"thread": [], "attachments": []}))
    remembered = read_comment_state(issue)
    return {
        "parsed": parsed,
        "opening_post": opening_post,
        "issue": issue.model_copy(update={"thread": thread}),
        "wrong_subjects": remembered.wrong_subjects,
        "answered_questions": pair_questions_with_answers(issue, remembered.earlier_questions, remembered.questions),
        "kind_reading": read_kind(opening_post, issue.labels),
        "earlier_report": recall_own_report(issue),
    }


def _look_up_in_commit(
    state: BugTriageState, services: Services, executed: ExecutedCode | None, only_paths: Sequence[str] = ()
) -> Update:
    """Index the commit, and return what it says of the issue: the place, the kind, pages, a package that failed."""
    codebase, parsed = services.codebase, state.parsed
    facts = codebase.index(executed, only_paths)
    window = None if only_paths else codebase.find_regression_window(parsed, find_facts(parsed, state.repository.slug))
    update = find_places_kind_and_labels(state, codebase)
    dependencies = codebase.project.dependencies
    template_comments = count_template_comments(state.issue, codebase.project.forms)
    language = detect_project_language(codebase.list_paths(), codebase.read_lines) if services.model else "en"
    wants_documentation = update["kind_reading"].kind != "bug" and services.config.documentation
    folders = (part for path in codebase.list_paths() for part in path.split("/")[:-1][:3])
    # One of the upper folders has the name of the installed package.
    own_names = {state.repository.slug.rpartition("/")[2], *folders}
    return update | {
        "index_facts": facts,
        "regression_window": window,
        "documentation": codebase.find_documentation(parsed, MAX_SECTIONS) if wants_documentation else [],
        "dependencies": dependencies,
        "failing_package": find_failing_package(parsed, dependencies, own_names),
        "parsed": parsed.model_copy(update={"hidden_fragments": parsed.hidden_fragments - template_comments}),
        "repository": state.repository.model_copy(update={"commit": facts.commit, "language": language}),
    }


def supervisor(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Decide which agents run next. The only node that writes `iterations` and `round`.

    LangGraph runs it in a thread. The other nodes have times of their own, and threads that no exit waits for.
    """
    services = runtime.context
    choice = choose_next(state, services)
    needs_rules = is_budget_low(services) and choice.selected != ("writer",)
    decision = PlannerDecision(
        number=state.iterations + 1,
        selected=list(choice.selected),
        reason=f"{choice.reason}; the budget is low, so rules answer" if needs_rules else choice.reason,
        timestamp=services.now(),
        forced=choice.forced or needs_rules,
    )
    services.progress.detail(decision.log_line)
    return {
        "round": state.round + choice.opens_round,
        "iterations": state.iterations + 1,
        "planner_decisions": [decision],
    }


def _needs_model(name: AgentName, state: BugTriageState, services: Services) -> bool:
    """Return whether a model could add to what rules answer: nobody pays for what is not shown, or for agreement."""
    if state.is_security_report and services.identity.run_url:  # a job says nothing of it, see `withhold_details`
        return False
    wants_places = state.may_be_bug or (state.kind == "feature_request" and services.searches_for_features)
    match name:
        case "investigator" | "codebase_search":  # who asks has other words than the code
            return wants_places or state.may_be_answered
        case "critic":
            return can_change_something(state)
        case "writer":
            return has_labels_to_choose(state)
        case _:
            return True


def make_agent_node(name: AgentName) -> Node:
    """Return the node that asks an agent and records its answer, and what the next decisions need of it."""

    async def run(state: BugTriageState, runtime: Runtime[Services]) -> Update:
        agent, services = AGENTS[name], runtime.context
        is_too_dear = name != "writer" and is_budget_low(services)
        by_rules = not _needs_model(name, state, services) or is_too_dear
        recorder = StepRecorder(name, services, state.round, state.iterations)
        update: Update = {}
        if "code access" in agent.capabilities:
            update = await in_thread(activate_skills, state, services.codebase)
            state = state.model_copy(update=update)
        result, engine = await run_agent(agent, state, recorder, by_rules=by_rules)
        update |= {"steps": recorder.records, "ran_in_round": {name: state.round}}
        update |= record_shown_skills(state, name, result.skills if result else {})
        finding = result.finding if result else None
        if name == "codebase_search" and result and finding is not None:
            named = len(finding.relevant_files)  # rules name what the index has
            update["citations"] = Citations(verified=named, total=named)
            if engine == "model":
                update["citations"] = resolve_citations([*finding.places, *finding.documented], result.excerpts)[1]
            update["excerpts"] = result.excerpts
            update["looked_up"] = [*state.looked_up, *result.looked_up]
            update["searched_by_model"] = engine == "model"
        if name == "critic":
            finding = downgrade_unverified(finding, state.citations.verified) if finding else None
            update |= close_round(finding, engine, state)
        if finding is not None:
            update[ANSWER_FIELDS[name]] = finding
            update["findings"] = [to_agent_finding(finding, agent.get_details(finding), agent.list_references(finding))]
        return update

    return run


async def finish(state: BugTriageState, runtime: Runtime[Services]) -> Update:
    """Look up who knows the code that the report names and what changed there, and build the report."""
    services = runtime.context
    # Files of the rules: what a model suspects must not decide what the history says.
    likely = list_likely_files(state)
    seconds = min(HISTORY_SECONDS, services.seconds_left())
    if not likely or not state.may_be_bug_by_rules or state.is_security_report or seconds < 1.0:
        return {"report": build_report(state, services)}
    first_place = next(iter(select_sure_places(state.places)), None)
    span = first_place.span if first_place else next((file.span for file in likely if file.span), None)
    span = None if first_place and not first_place.is_here else span  # nobody knows which lines it was
    line = first_place.line if first_place else None

    def look_up() -> CodeHistory:
        facts = find_facts(state.parsed, state.repository.slug)
        return services.codebase.look_up_history(state.parsed, facts, [file.path for file in likely], span, line)

    try:
        history = await in_thread(look_up, seconds=seconds)
    except (GitError, TimeoutError):
        return {"report": build_report(state, services, history=None)}  # which says that it could not be looked up
    return {"report": build_report(state, services, history=history)}


async def fetch_past_issues(state: BugTriageState, runtime: Runtime[Services]) -> dict[str, Any]:
    """Read the past issues. What was read before an error or the end of the time counts."""
    services = restrict_services(runtime.context, PAST_ISSUES_CAPABILITIES)
    iterate = services.iterate_past_issues
    if iterate is None:
        return {}
    recorder = StepRecorder("fetch_past_issues", services)
    read: dict[int, PastIssue] = {}

    def read_pages() -> None:
        parsed = read_issue(state.issue)
        # A vulnerability is not for any log of searches.
        is_public = not reports_vulnerability(parsed, state.issue.labels, asks_for_feature=False)
        for page in iterate(choose_search_words(parsed) if is_public else ""):
            read.update((issue.number, issue) for issue in page if issue.number != state.issue.number)

    seconds = services.share_of_seconds_left(PAST_ISSUES_SHARE)
    await recorder.attempt("rules", lambda: in_thread(read_pages), seconds)
    past = sorted(dict(read).values(), key=lambda issue: -issue.number)
    return {"past_issues": past, "past_issue_count": len(past), "steps": recorder.records}


async def compare_past_issues(state: BugTriageState, runtime: Runtime[Services]) -> dict[str, Any]:
    """Compare the issue with the past ones, and find its place anew: past fixes count in it."""
    services = runtime.context
    if not state.past_issues or state.index_facts is None:
        return {"past_issues": []}
    recorder = StepRecorder("compare_past_issues", services)
    codebase, past = services.codebase, state.past_issues

    def compare() -> Update:
        """Return similar issues, and the places, the kind and the labels again, by what past ones say too."""
        issues = [one for one in past if not one.is_pull_request]
        codebase.add_past_issues(issues)
        learned = codebase.learn_from_labels(state.opening_post, issues)
        update = find_places_kind_and_labels(state, codebase, learned, issues)
        if state.kind_reading:  # what labels others put on other issues must not decide about security
            security = state.kind_reading.security
            update["kind_reading"] = update["kind_reading"].model_copy(update={"security": security})
        return update | {"similar_issues": codebase.find_similar_issues(state.issue, state.parsed, past, MAX_SIMILAR)}

    attempt = await recorder.attempt("rules", lambda: in_thread(compare), RULES_SECONDS)
    return {**(attempt.result or {}), "past_issues": [], "steps": recorder.records}


def recall_own_report(issue: Issue) -> EarlierReport | None:
    """Return what our comment on the issue remembered at the event; None without one.

    A run that starts again finds what it wrote itself.
    """
    comment = find_our_comment(issue)
    written = (comment.edited_at or comment.created_at) if comment else None
    if comment is None or written is None or issue.snapshot_time is None or written >= issue.snapshot_time:
        return None
    state = parse_state(comment.body)
    return EarlierReport(suspects=state.suspects, asked_kinds=state.asked_kinds) if state else None


NOTHING_LEARNED = LearnedFromLabels()


def find_places_kind_and_labels(
    state: BugTriageState,
    codebase: Codebase,
    learned: LearnedFromLabels = NOTHING_LEARNED,
    past: Sequence[PastIssue] = (),
) -> Update:
    """Return the places, the kind and the labels, by the indexed commit and by what past issues say.

    Labels are those that nobody, and no form, has put on the issue. Takes seconds: call it in a thread.
    """
    places = codebase.find_places(state.parsed)
    # A thread dump has frames, but nothing failed.
    fails_in_repository = any(
        place.rule == "frame" and place.is_here and place.text and not place.calls_before_error for place in places
    )
    forms, labels = codebase.project.forms, state.issue.labels
    used_forms = find_used_forms(parse_forms(forms), state.opening_post)
    of_forms = [name for form in used_forms for name in form.labels]
    given = {name.casefold() for name in (*labels, *of_forms)}
    free = [name for name in state.repository.labels if name.casefold() not in given]
    rules = codebase.project.label_rules
    return {
        "places": places,
        "kind_reading": read_kind(
            state.opening_post, labels, forms, fails_in_repository=fails_in_repository, learned=learned.kinds
        ),
        "area_labels": choose_area_labels(state.opening_post, free, rules, places, learned.labels, past),
        "form_labels": of_forms,
    }
