"""The nodes of the fix flow that ask the model, from the issue to a change with its test. Code checks every answer."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph.runtime import Runtime

from triage.agents.prompts import shorten
from triage.agents.services import Services
from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.code import Passage, SearchQuery
from triage.domain.proposal import MAX_REQUEST_CHARS, FileVersion, PatchDraft, ProposalStatus
from triage.fix.graph.ask_model import (
    MAX_CRITERIA,
    MAX_FILES,
    MAX_TEST_CHARS,
    CodeChanges,
    FileAnswer,
    TestChanges,
    TicketClass,
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
from triage.fix.graph.fix_state import FixContext, FixState
from triage.fix.graph.shown_files import ShownCode, collect_code, collect_tests
from triage.fix.patch.apply_edits import build_versions, read_path
from triage.fix.patch.check_patch import find_path_problem, find_problems
from triage.fix.patch.modules import is_inside
from triage.fix.patch.unified_diff import format_diff
from triage.graph.step_runner import Step
from triage.read.read_issue import read_issue_and_thread
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.say.hidden_state import hash_text

if TYPE_CHECKING:
    from triage.fix.base_files import CommitFiles

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
    chosen = select_modules(choice, modules)
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
        "messages": [f"Modules that may change: {', '.join(chosen)}."],
    }


async def retrieve_context(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Find the passages of the modules that share most with the issue."""
    context = runtime.context
    query = SearchQuery(parsed=state.parsed, keywords=[state.technical_summary])
    found = await in_thread(_find_passages, context, query, state.affected_modules)
    places = [f"{one.span.path}:{one.span.start} (similarity: {similarity:.2f})" for similarity, one in found]
    return {"retrieved_chunks": [passage for _, passage in found], "messages": places}


def _find_passages(context: FixContext, query: SearchQuery, chosen: Collection[str]) -> list[tuple[float, Passage]]:
    """Return passages with the similarity of their file, relative to the best file of the query, which has 1.0."""
    by_name = {module.name: module for module in context.list_modules()}
    hits = context.services.codebase.search(query, SEARCHED_FILES)
    found: list[tuple[float, Passage]] = []
    for name in chosen:
        inside = [hit for hit in hits if is_inside(hit.path, by_name[name].paths)]
        passages = [(hit.score, passage) for hit in inside for passage in hit.passages]
        found += passages[:PASSAGES_PER_MODULE]
    return sorted(found, key=lambda pair: -pair[0])[:MAX_PASSAGES]


MAX_CORRECTIONS = 2
"""Times that an answer goes back with the reason why it cannot be used."""
MAX_LOOKS = 2
"""Times that the model may ask for more code."""
MAX_WANTED = 6
NO_CHANGE = "The model made no change."


A = TypeVar("A", CodeChanges, TestChanges)


async def _ask_for_files(
    step: Step,
    services: Services,
    show: Callable[[Sequence[str]], str],
    ask: Callable[[str, Mapping[str, str]], Awaitable[A]],
    check: Callable[[A], tuple[list[FileVersion], list[str]]],
) -> tuple[A | None, list[FileVersion], list[str]]:
    """Ask until an answer can be used. The model may ask for more code, and is told what is wrong, twice each.

    Args:
        step: Of the graph.
        services: With the time of one request.
        show: Returns the code for the prompt, with what the model wants to see.
        ask: Asks the model, with that code and an answer that could not be used.
        check: Returns the files of an answer and what is wrong with it.

    Returns:
        The answer, its files, and what is wrong with it; of a model that failed or declined, no answer and why.
    """
    wanted: list[str] = []
    last: Mapping[str, str] = {}
    looks = corrections = 0
    while True:
        code = await in_thread(show, wanted)
        attempt = await step.attempt("model", partial(ask, code, last), services.agent_seconds(), _get_error)
        answer = attempt.result
        if answer is None or attempt.error:
            return None, [], [attempt.error or NO_CHANGE]
        if answer.look_at and not answer.files and looks < MAX_LOOKS:
            looks += 1
            wanted += answer.look_at[:MAX_WANTED]
            continue
        versions, problems = await in_thread(check, answer)
        if not problems or corrections == MAX_CORRECTIONS:
            return answer, versions, problems
        corrections += 1
        wanted += [file.file_path for file in answer.files]
        last = describe_answer(answer, problems)


async def generate_code_changes(state: FixState, runtime: Runtime[FixContext]) -> Update:
    context = runtime.context
    services = context.restricted_services
    step = Step("generate_code_changes", services, round=state.iteration_count + 1)
    answer, versions, problems = await _ask_for_files(
        step,
        services,
        lambda wanted: _show_code(state, context, [*wanted, *(file.path for file in state.proposed_changes)]),
        lambda code, last: ask_for_changes(state, services, context.model, code, last),
        lambda answer: _check_changes(state, context, answer),
    )
    failed: Update = {"steps": step.records, "status": ProposalStatus.ABANDONED}
    if answer is None:
        return failed | {"error": f"The change could not be written: {problems[0]}"}
    if problems:  # say what was learned
        learned = f" The model's idea of the cause: {answer.root_cause}" if answer.root_cause else ""
        reasons = " ".join(problems[:3])
        error = f"The change could not be made after {MAX_CORRECTIONS + 1} attempts: {reasons}{learned}"
        return failed | {"error": error, "root_cause": answer.root_cause, "summary": answer.summary}
    return {
        "summary": answer.summary,
        "root_cause": answer.root_cause if state.ticket_type == "Bug" else None,
        "proposed_changes": versions,
        "proposed_tests": [],
        "no_test_reason": "",
        "unverified": answer.unverified[:3],
        "steps": step.records,
        "messages": [f"Changed {len(versions)} file{'s' * (len(versions) != 1)}."],
    }


def _show_code(state: FixState, context: FixContext, wanted: Sequence[str]) -> str:
    shown = ShownCode(context.base_files, find_problem=_limit_places(state, context))
    return collect_code(shown, state, context.services.codebase, wanted).text


def _limit_places(state: FixState, context: FixContext) -> Callable[[str, bool], str]:
    """Return what says why a patch may not write a path, which is of a new file or not."""
    modules = [module for module in context.list_modules() if module.name in state.affected_modules]

    def find_problem(path: str, is_new: bool) -> str:
        protected = context.services.config.protected_paths
        return find_path_problem(path, context.base_files, is_new=is_new, modules=modules, protected=protected)

    return find_problem


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
    return find_problems(draft, context.base_files, context.list_modules(), context.services.config.protected_paths)


def make_draft(
    state: FixState, files: "CommitFiles", changes: Sequence[FileVersion], tests: Sequence[FileVersion]
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
        modules=list(state.affected_modules),
        changes=[file for file in rest if not files.is_test(file.path)],
        tests=[*(file for file in rest if files.is_test(file.path)), *tests],
        no_test_reason=state.no_test_reason,
        unverified=state.unverified,
        revision=state.iteration_count,
        revised_after=_shorten_request(state.human_feedback[-1:]) if state.iteration_count else "",
    )


def _shorten_request(words: Sequence[str]) -> str:
    return shorten(redact_likely_secrets(" ".join(" ".join(words).split())), MAX_REQUEST_CHARS)


async def generate_tests(state: FixState, runtime: Runtime[FixContext]) -> Update:
    context = runtime.context
    services = context.restricted_services
    step = Step("generate_tests", services, round=state.iteration_count + 1)
    changes = make_draft(state, context.base_files, state.proposed_changes, [])
    diff = await in_thread(format_diff, changes, context.base_files)
    answer, tests, problems = await _ask_for_files(
        step,
        services,
        lambda wanted: _show_tests(state, context, wanted),
        lambda existing, last: ask_for_tests(state, services, context.model, diff, existing, last),
        lambda answer: _check_tests(state, context, answer),
    )
    reason, message = "", f"Wrote a test in {len(tests)} file{'s' * (len(tests) != 1)}."
    if answer is None:
        reason = f"No test could be written: {problems[0]}."
    elif problems:
        reason = f"The test could not be used: {' '.join(problems[:3])}"
    elif not answer.tests:
        reason = answer.no_test_reason or "The model wrote no test."
    if reason:
        tests, message = [], "Wrote no test."
    return {"proposed_tests": tests, "no_test_reason": reason, "steps": step.records, "messages": [message]}


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
