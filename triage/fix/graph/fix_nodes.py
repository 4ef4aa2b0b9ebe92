"""The nodes of the fix flow that ask the model, from the issue to a change with its test. Code checks every answer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from triage.agents.prompts import shorten
from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.code import SearchQuery
from triage.domain.proposal import (
    MAX_REQUEST_CHARS,
    AffectedModule,
    FileVersion,
    ModuleSummary,
    PatchDraft,
    ProposalStatus,
)
from triage.fix.fix_answers import CodeChanges, FileAnswer, TestChanges, TicketClass
from triage.fix.fix_ports import BaseFiles
from triage.fix.graph.ask_model import (
    MAX_CRITERIA,
    MAX_FILES,
    MAX_TEST_CHARS,
    LastAnswer,
    ask_for_changes,
    ask_for_tests,
    check_choice,
    choose_by_rules,
    choose_with_model,
    classify_by_rules,
    classify_with_model,
    describe_answer,
    select_modules,
)
from triage.fix.graph.fix_state import FixContext, FixState, RetrievedPassage
from triage.fix.graph.shown_files import ShownCode, collect_code, collect_tests
from triage.fix.patch.apply_edits import build_versions, read_path
from triage.fix.patch.check_patch import find_problems, limit_places
from triage.fix.patch.path_rules import is_inside
from triage.fix.patch.unified_diff import format_diff
from triage.graph.step_runner import Step
from triage.read.read_issue import read_issue_and_thread
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.say.hidden_state import hash_text

Update = dict[str, Any]

PASSAGES_PER_MODULE = 4
MAX_PASSAGES = 10
SEARCHED_FILES = 60
NO_MODEL = "A fix needs a model: set model-api-key, or model-base-url for an endpoint of your own."
SECURITY = "The issue may report a vulnerability. A fix is not proposed in public; use a private advisory."
NO_COMMIT = "There is no commit to start from: check out the repository with git."


async def fetch_ticket(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Read the issue, and triage it if nobody has."""
    context = runtime.context
    if context.services.model is None:
        return {"error": NO_MODEL}
    try:
        report = state.report
        if report is None and context.triage is not None:
            report = await context.triage(state.issue, state.repository)
        parsed, thread = await in_thread(read_issue_and_thread, state.issue)
    except TriageError as error:
        return {"error": f"Failed to fetch ticket: {error}"}
    if report is not None and report.security:
        return {"error": SECURITY, "report": report}
    if not context.base_files.commit:
        return {"error": NO_COMMIT, "report": report}
    key = f"#{state.issue.number}" if state.issue.number else "from a file"
    return {
        "report": report,
        "parsed": parsed,
        "issue": state.issue.model_copy(update={"thread": thread}),
        "repository": state.repository.model_copy(update={"commit": context.base_files.commit}),
        "ticket_key": key,
        "ticket_summary": parsed.title,
        "messages": [f"Read issue {key}."],
    }


async def classify_ticket(state: FixState, runtime: Runtime[FixContext]) -> Update:
    services = runtime.context.restricted_services
    step = Step("classify_ticket", services)
    ask = partial(classify_with_model, state, services, runtime.context.model)
    attempt = await step.attempt("model", ask, services.agent_seconds(), _get_error)
    found = attempt.result if attempt.result and not attempt.error else classify_by_rules(state)
    return {
        "ticket_type": found.confirmed_type,
        "technical_summary": found.technical_summary or state.ticket_summary,
        "acceptance_criteria": found.acceptance_criteria[:MAX_CRITERIA],
        "steps": step.records,
        "messages": [f"Classified as {found.confirmed_type}."],
    }


async def identify_modules(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Decide which modules may change. The patch checks enforce it."""
    context = runtime.context
    services = context.restricted_services
    step = Step("identify_modules", services)
    modules = await in_thread(context.list_modules)
    choice = choose_by_rules(state, modules)
    if len(modules) > 1:
        ask = partial(choose_with_model, state, services, context.model, modules)
        attempt = await step.attempt("model", ask, services.agent_seconds(), partial(check_choice, modules=modules))
        choice = attempt.result if attempt.result and not attempt.error else choice
    chosen = select_modules(choice, modules) or _only_module(modules)
    if not chosen:
        return {
            "steps": step.records,
            "error": "No module that the change belongs to could be named.",
        }
    known = [path for file in choice.files_likely_to_change if (path := services.codebase.resolve_path(file))]
    return {
        "affected_modules": chosen,
        "affected_files": list(dict.fromkeys(known))[:MAX_FILES],
        "steps": step.records,
        "messages": [f"Modules that may change: {', '.join(module.name for module in chosen)}."],
    }


def _only_module(modules: Sequence[ModuleSummary]) -> list[AffectedModule]:
    return [AffectedModule(name=modules[0].name, reason="It is the only module.")] if len(modules) == 1 else []


async def retrieve_context(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Find the passages of the modules that share most with the issue."""
    context = runtime.context
    query = SearchQuery(parsed=state.parsed, keywords=[state.technical_summary])
    found = await in_thread(_find_passages, context, query, state.affected_modules)
    return {
        "retrieved_chunks": found,
        "messages": [
            f"{one.passage.span.path}:{one.passage.span.start} (similarity: {one.similarity:.2f})" for one in found
        ],
    }


def _find_passages(context: FixContext, query: SearchQuery, chosen: Sequence[AffectedModule]) -> list[RetrievedPassage]:
    by_name = {module.name: module for module in context.list_modules()}
    hits = context.services.codebase.search(query, SEARCHED_FILES)
    found: list[RetrievedPassage] = []
    for one in chosen:
        inside = [hit for hit in hits if is_inside(hit.path, by_name[one.name].paths)]
        passages = [
            RetrievedPassage(passage=passage, similarity=hit.score) for hit in inside for passage in hit.passages
        ]
        found += passages[:PASSAGES_PER_MODULE]
    return sorted(found, key=lambda one: -one.similarity)[:MAX_PASSAGES]


MAX_CORRECTIONS = 2
"""Times that an answer goes back with the reason why it cannot be used."""
MAX_LOOKS = 2
"""Times that the model may ask for more code."""
MAX_WANTED = 6
NO_CHANGE = "The model made no change."


async def generate_code_changes(state: FixState, runtime: Runtime[FixContext]) -> Update:
    context = runtime.context
    services, model = context.restricted_services, context.model
    step = Step("generate_code_changes", services, round=state.iteration_count + 1)
    wanted: list[str] = []
    last: LastAnswer | None = None
    looks = corrections = 0
    while True:
        code = await in_thread(_show_code, state, context, [*wanted, *(file.path for file in state.proposed_changes)])
        ask = partial(ask_for_changes, state, services, model, code, state.diff, last)
        attempt = await step.attempt("model", ask, services.agent_seconds(), _get_error)
        answer = attempt.result
        if answer is None or attempt.error:
            return _fail(step, f"The change could not be written: {attempt.error or NO_CHANGE}")
        if answer.look_at and not answer.changes and looks < MAX_LOOKS:
            looks += 1
            wanted += answer.look_at[:MAX_WANTED]
            continue
        versions, problems = await in_thread(_check_changes, state, context, answer)
        if not problems:
            return _accept_changes(state, step, answer, versions)
        if corrections == MAX_CORRECTIONS:
            return _abandon(step, answer, problems)
        corrections += 1
        wanted += [file.file_path for file in answer.changes]
        last = describe_answer(answer, problems)


def _show_code(state: FixState, context: FixContext, wanted: Sequence[str]) -> str:
    shown = ShownCode(context.base_files, find_problem=_limit_places(state, context))
    return collect_code(shown, state, context.services.codebase, wanted).text


def _limit_places(state: FixState, context: FixContext) -> Callable[[str, bool], str]:
    files, protected = context.base_files, context.protected_paths
    return limit_places(state.affected_modules, files, context.list_modules(), protected)


def _get_error(answer: TicketClass | CodeChanges | TestChanges) -> str | None:
    return answer.error


def _check_changes(state: FixState, context: FixContext, answer: CodeChanges) -> tuple[list[FileVersion], list[str]]:
    versions, problems = _build_versions(answer.changes, state, context)
    if not versions and not problems:
        return [], [NO_CHANGE]
    draft = make_draft(state, context.base_files, changes=versions, tests=[])
    return versions, [*problems, *(_find_problems(draft, context) if versions else [])]


def _build_versions(
    answers: Sequence[FileAnswer], state: FixState, context: FixContext, earlier: Mapping[str, str] | None = None
) -> tuple[list[FileVersion], list[str]]:
    """Return the files that may be written and could be built, and what is wrong with all others."""
    find_place_problem, files = _limit_places(state, context), context.base_files
    problems = {path: find_place_problem(path, files.read(path) is None) for path in map(read_path, answers)}
    allowed = [answer for answer in answers if not problems[read_path(answer)]]
    versions, unbuilt = build_versions(allowed, files, earlier)
    return versions, [*filter(None, problems.values()), *unbuilt]


def _find_problems(draft: PatchDraft, context: FixContext) -> list[str]:
    return find_problems(draft, context.base_files, context.list_modules(), context.protected_paths)


def make_draft(
    state: FixState, files: BaseFiles, changes: Sequence[FileVersion], tests: Sequence[FileVersion]
) -> PatchDraft:
    """Return the patch with what the flow knows about it. `tests` has the last version of a file that is in both."""
    added = {file.path for file in tests}
    rest = [file for file in changes if file.path not in added]
    return PatchDraft(
        repository=state.repository.slug,
        issue=state.issue.number,
        issue_title=state.issue.title,
        issue_text=hash_text(state.issue.title, state.issue.body),
        base=files.commit,
        kind=state.ticket_type,
        summary=state.summary or state.technical_summary,
        root_cause=state.root_cause,
        acceptance_criteria=state.acceptance_criteria,
        modules=state.affected_modules,
        changes=[file for file in rest if not files.is_test(file.path)],
        tests=[*(file for file in rest if files.is_test(file.path)), *tests],
        no_test_reason=state.no_test_reason,
        unverified=state.unverified,
        revision=state.iteration_count,
        revised_after=_shorten_request(state.human_feedback[-1:]) if state.iteration_count else "",
    )


def _shorten_request(words: Sequence[str]) -> str:
    return shorten(redact_likely_secrets(" ".join(" ".join(words).split())), MAX_REQUEST_CHARS)


def _accept_changes(state: FixState, step: Step, answer: CodeChanges, versions: Sequence[FileVersion]) -> Update:
    return {
        "summary": answer.summary,
        "root_cause": answer.root_cause if state.ticket_type == "Bug" else None,
        "proposed_changes": list(versions),
        "proposed_tests": [],
        "no_test_reason": "",
        "unverified": answer.unverified[:3],
        "steps": step.records,
        "messages": [f"Changed {len(versions)} file{'s' * (len(versions) != 1)}."],
    }


def _fail(step: Step, error: str) -> Update:
    return {"steps": step.records, "error": error, "status": ProposalStatus.ABANDONED}


def _abandon(step: Step, answer: CodeChanges, problems: Sequence[str]) -> Update:
    """Give up, and say what was learned."""
    learned = f" The model's idea of the cause: {answer.root_cause}" if answer.root_cause else ""
    reasons = " ".join(problems[:3])
    return _fail(step, f"The change could not be made after {MAX_CORRECTIONS + 1} attempts: {reasons}{learned}") | {
        "root_cause": answer.root_cause,
        "summary": answer.summary,
    }


async def generate_tests(state: FixState, runtime: Runtime[FixContext]) -> Update:
    context = runtime.context
    services, model = context.restricted_services, context.model
    step = Step("generate_tests", services, round=state.iteration_count + 1)
    changes = make_draft(state, context.base_files, state.proposed_changes, [])
    diff = await in_thread(format_diff, changes, context.base_files)
    last: LastAnswer | None = None
    reason, wanted = "", list[str]()
    looks = corrections = 0
    while corrections <= MAX_CORRECTIONS:
        existing = await in_thread(_show_tests, state, context, wanted)
        ask = partial(ask_for_tests, state, services, model, diff, existing, last, state.diff)
        attempt = await step.attempt("model", ask, services.agent_seconds(), _get_error)
        answer = attempt.result
        if answer is None or attempt.error:
            reason = f"No test could be written: {attempt.error}."
            break
        if answer.look_at and not answer.tests and looks < MAX_LOOKS:
            looks += 1
            wanted += answer.look_at[:MAX_WANTED]
            continue
        if not answer.tests:
            reason = answer.no_test_reason or "The model wrote no test."
            break
        tests, problems = await in_thread(_check_tests, state, context, answer)
        if not problems:
            count = f"{len(tests)} file{'s' * (len(tests) != 1)}"
            return {
                "proposed_tests": tests,
                "no_test_reason": "",
                "steps": step.records,
                "messages": [f"Wrote a test in {count}."],
            }
        corrections += 1
        last = describe_answer(answer, problems)
        wanted += [file.file_path for file in answer.tests]
        reason = f"The test could not be used: {' '.join(problems[:3])}"
    return {"proposed_tests": [], "no_test_reason": reason, "steps": step.records, "messages": ["Wrote no test."]}


def _check_tests(state: FixState, context: FixContext, answer: TestChanges) -> tuple[list[FileVersion], list[str]]:
    """Return the tests, in files that were changed already on top of that, and what is wrong."""
    changed = {version.path: version.text for version in state.proposed_changes}
    tests, problems = _build_versions(answer.tests, state, context, changed)
    draft = make_draft(state, context.base_files, state.proposed_changes, tests)
    return tests, [*problems, *(_find_problems(draft, context) if tests else [])]


def _show_tests(state: FixState, context: FixContext, wanted: Sequence[str]) -> str:
    changed = [version.path for version in state.proposed_changes]
    shown = ShownCode(context.base_files, MAX_TEST_CHARS, _limit_places(state, context))
    return collect_tests(shown, state, context.services.codebase, changed, wanted)
