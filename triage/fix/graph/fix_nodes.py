"""The nodes of the fix flow that ask the model, from the issue to a change with its test. Code checks every answer."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from langgraph.runtime import Runtime

from triage.agents.prompts import format_bullets, shorten
from triage.base.errors import TriageError
from triage.base.threads import in_thread
from triage.domain.code import Passage, SearchQuery
from triage.domain.proposal import MAX_REQUEST_CHARS, Patch, PatchedFile
from triage.fix.graph.ask_model import (
    MAX_CRITERIA,
    MAX_LIKELY_FILES,
    MAX_TEST_CHARS,
    CodeChanges,
    FilesT,
    ModuleChoice,
    TestChanges,
    TicketClass,
    ask_for_choice,
    ask_for_files,
    choose_by_rules,
    classify_by_rules,
    describe_answer,
    describe_module,
    format_triage,
    select_modules,
)
from triage.fix.graph.fix_state import FixContext, FixState
from triage.fix.graph.shown_files import SEARCHED_FILES, CopyableCode, collect_code, collect_tests
from triage.fix.patch.apply_edits import FileAnswer, build_files, normalize_path
from triage.fix.patch.check_patch import check_patch, check_path
from triage.fix.patch.modules import find_modules
from triage.fix.patch.unified_diff import format_diff
from triage.graph.step_runner import StepRecorder
from triage.read.read_issue import read_issue_and_thread
from triage.safety.secrets.likely_secrets import redact_likely_secrets
from triage.say.hidden_state import hash_text

if TYPE_CHECKING:
    from triage.fix.base_files import BaseFiles

Update = dict[str, Any]

PASSAGES_PER_MODULE = 4
MAX_PASSAGES = 10
NO_MODEL = "A fix needs a model: set model-api-key, or model-base-url for an endpoint of your own."
SECURITY = "The issue may report a vulnerability. A fix is not proposed in public; use a private advisory."


async def fetch_ticket(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Read the issue, and triage it if nobody has."""
    context = runtime.context
    if context.services.model is None:
        return {"error": NO_MODEL}
    try:
        report = state.report or await context.triage(state.issue, state.repository)
        parsed, thread = await in_thread(read_issue_and_thread, state.issue)
    except TriageError as error:
        return {"error": f"Failed to fetch ticket: {error}"}
    if report.security:
        return {"error": SECURITY, "report": report}
    key = f"#{state.issue.number}" if state.issue.number else "from a file"
    return {
        "report": report,
        "parsed": parsed,
        "issue": state.issue.model_copy(update={"thread": thread}),
        "repository": state.repository.model_copy(update={"commit": context.base_files.commit}),
        "ticket_key": key,
        "messages": [f"Read issue {key}."],
    }


async def classify_ticket(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Say what kind of change is asked for, and by what it is accepted; by rules where no model answers."""
    services = runtime.context.restricted_services
    recorder = StepRecorder("classify_ticket", services)
    ask = partial(ask_for_choice, TicketClass, state, services, runtime.context.model, {})
    attempt = await recorder.attempt("model", ask, services.agent_seconds(), _get_error)
    found = attempt.result if attempt.result and not attempt.error else classify_by_rules(state)
    return {
        "ticket_type": found.confirmed_type,
        "technical_summary": found.technical_summary or state.parsed.title,
        "acceptance_criteria": found.acceptance_criteria[:MAX_CRITERIA],
        "steps": recorder.records,
        "messages": [f"Classified as {found.confirmed_type}."],
    }


async def identify_modules(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Decide which modules may change. The patch checks enforce it."""
    context = runtime.context
    services = context.restricted_services
    recorder = StepRecorder("identify_modules", services)
    modules = await in_thread(context.list_modules)
    choice = choose_by_rules(state, modules)
    if len(modules) > 1:
        sections = {
            "kind of change": f"{state.ticket_type}: {state.technical_summary}",
            "modules": format_bullets(list(map(describe_module, modules))),
        }
        ask = partial(ask_for_choice, ModuleChoice, state, services, context.model, sections)

        def check(choice: ModuleChoice) -> str | None:
            return choice.error or (None if select_modules(choice, modules) else "none of the modules exists")

        attempt = await recorder.attempt("model", ask, services.agent_seconds(), check)
        choice = attempt.result if attempt.result and not attempt.error else choice
    chosen = select_modules(choice, modules)
    if not chosen:
        return {"steps": recorder.records, "error": "No module that the change belongs to could be named."}
    known = [path for file in choice.files_likely_to_change if (path := services.codebase.resolve_path(file))]
    return {
        "affected_modules": chosen,
        "affected_files": list(dict.fromkeys(known))[:MAX_LIKELY_FILES],
        "steps": recorder.records,
        "messages": [f"Modules that may change: {', '.join(chosen)}."],
    }


async def retrieve_context(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Find the passages of the modules that share most with the issue."""
    context = runtime.context
    query = SearchQuery(parsed=state.parsed, keywords=[state.technical_summary])
    found = await in_thread(_find_passages, context, query, state.affected_modules)
    lines = [f"{one.span.path}:{one.span.start} (similarity: {similarity:.2f})" for similarity, one in found]
    return {"retrieved_chunks": [passage for _, passage in found], "messages": lines}


def _find_passages(context: FixContext, query: SearchQuery, chosen: Collection[str]) -> list[tuple[float, Passage]]:
    """Return passages with the similarity of their file, relative to the best file of the query, which has 1.0."""
    modules, hits = context.list_modules(), context.services.codebase.search(query, SEARCHED_FILES)
    found: list[tuple[float, Passage]] = []
    for name in chosen:
        inside = [hit for hit in hits if name in {module.name for module in find_modules(hit.path, modules)}]
        passages = [(hit.score, passage) for hit in inside for passage in hit.passages]
        found += passages[:PASSAGES_PER_MODULE]
    return sorted(found, key=lambda pair: -pair[0])[:MAX_PASSAGES]


MAX_CORRECTIONS = 2
"""Times that an answer goes back with the reason why it cannot be used."""
MAX_CODE_REQUESTS = 2
"""Times that the model may ask for more code."""
MAX_NEEDED = 6
NO_CHANGE = "The model made no change."


async def _ask_until_usable(
    recorder: StepRecorder,
    answer_type: type[FilesT],
    state: FixState,
    context: FixContext,
    collect_sections: Callable[[Sequence[str]], Mapping[str, str]],
    build_and_check: Callable[[FilesT], tuple[list[PatchedFile], list[str]]],
) -> tuple[FilesT | None, list[PatchedFile], list[str]]:
    """Ask until an answer can be used. The model may ask for more code, and reads what is wrong, twice each.

    `collect_sections` returns the prompt's other sections, with what the model needs to see. `build_and_check` returns
    the files of an answer and what is wrong with it.

    Returns:
        The answer, its files, and what is wrong with it; of a model that failed or declined, no answer and why.
    """
    services, needed = recorder.services, list[str]()
    refused: Mapping[str, str] = {}
    code_requests = corrections = 0
    while True:
        sections = await in_thread(collect_sections, needed)
        ask = partial(ask_for_files, answer_type, state, services, context.model, sections, refused)
        attempt = await recorder.attempt("model", ask, services.agent_seconds(), _get_error)
        answer = attempt.result
        if answer is None or attempt.error:
            return None, [], [attempt.error or NO_CHANGE]
        if answer.needs_to_see and not answer.files and code_requests < MAX_CODE_REQUESTS:
            code_requests += 1
            needed += answer.needs_to_see[:MAX_NEEDED]
            continue
        files_built, problems = await in_thread(build_and_check, answer)
        if not problems or corrections == MAX_CORRECTIONS:
            return answer, files_built, problems
        corrections += 1
        needed += [file.file_path for file in answer.files]
        refused = describe_answer(answer, problems)


def _get_error(answer: TicketClass | CodeChanges | TestChanges) -> str | None:
    return answer.error


async def generate_code_changes(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Ask the main model for the change, until it can be applied and is allowed; else the error ends the flow."""
    context = runtime.context
    recorder = StepRecorder("generate_code_changes", context.restricted_services, round=state.iteration_count + 1)
    state_before = state.model_copy(update={"proposed_changes": [], "proposed_tests": []})

    def collect_sections(asked_or_refused: Sequence[str]) -> dict[str, str]:
        code = CopyableCode(context.base_files, check_path=_make_path_check(state, context))
        needed = [*asked_or_refused, *(file.path for file in state.proposed_changes)]
        return format_triage(state) | {"code": collect_code(code, state, context.services.codebase, needed).text}

    def build_and_check(answer: CodeChanges) -> tuple[list[PatchedFile], list[str]]:
        return (
            _build_and_check_files(answer.changes, "proposed_changes", state_before, context)
            if answer.changes
            else ([], [NO_CHANGE])
        )

    ask = partial(_ask_until_usable, recorder, CodeChanges, state, context)
    answer, files_built, problems = await ask(collect_sections, build_and_check)
    failed: Update = {"steps": recorder.records}
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
        "proposed_changes": files_built,
        "proposed_tests": [],
        "no_test_reason": "",
        "unverified": answer.unverified[:3],
        "steps": recorder.records,
        "messages": [f"Changed {len(files_built)} file{'s' * (len(files_built) != 1)}."],
    }


def _make_path_check(state: FixState, context: FixContext) -> Callable[[str, bool], str]:
    """Return what says why a patch may not write a path, which is of a new file or not."""
    modules, chosen = context.list_modules(), state.affected_modules

    def check(path: str, is_new: bool) -> str:
        protected = context.services.config.protected_paths
        return check_path(path, context.base_files, is_new=is_new, modules=modules, chosen=chosen, protected=protected)

    return check


def _build_and_check_files(
    answers: Sequence[FileAnswer], field: str, state_before: FixState, context: FixContext
) -> tuple[list[PatchedFile], list[str]]:
    """Return the files that may be written and could be built, and all that is wrong with the answer.

    `field` of the state is what they would become. Their edits apply on top of what `state_before` changes already.
    """
    check, files = _make_path_check(state_before, context), context.base_files
    refusals = {path: check(path, files.read(path) is None) for path in map(normalize_path, answers)}
    allowed = [answer for answer in answers if not refusals[normalize_path(answer)]]
    changed = {file.path: file.text for file in state_before.proposed_changes}
    files_built, unbuilt = build_files(allowed, files, changed)
    problems = [*filter(None, refusals.values()), *unbuilt]
    if files_built:
        patch = make_patch(state_before.model_copy(update={field: files_built}), files)
        problems += check_patch(patch, files, context.list_modules(), context.services.config.protected_paths)
    return files_built, problems


def make_patch(state: FixState, files: "BaseFiles") -> Patch:
    """Return the patch with what the flow knows about it. The tests have the last version of a file that is in both."""
    words = state.human_feedback[-1] if state.iteration_count and state.human_feedback else ""
    test_paths = {file.path for file in state.proposed_tests}
    rest = [file for file in state.proposed_changes if file.path not in test_paths]
    return Patch(
        repository=state.repository.slug,
        issue=state.issue.number,
        issue_title=state.issue.title,
        issue_text_hash=hash_text(state.issue.title, state.issue.body),
        base=files.commit,
        kind=state.ticket_type,
        summary=state.summary or state.technical_summary,
        root_cause=state.root_cause,
        acceptance_criteria=state.acceptance_criteria,
        modules=state.affected_modules,
        changes=[file for file in rest if not files.is_test(file.path)],
        tests=[*(file for file in rest if files.is_test(file.path)), *state.proposed_tests],
        no_test_reason=state.no_test_reason,
        unverified=state.unverified,
        revision=state.iteration_count,
        revision_words=shorten(redact_likely_secrets(" ".join(words.split())), MAX_REQUEST_CHARS),
    )


async def generate_tests(state: FixState, runtime: Runtime[FixContext]) -> Update:
    """Ask the main model for a test of the change. Without one the change is proposed all the same, and says so."""
    context = runtime.context
    recorder = StepRecorder("generate_tests", context.restricted_services, round=state.iteration_count + 1)
    changed = [file.path for file in state.proposed_changes]
    diff = await in_thread(format_diff, make_patch(state, context.base_files), context.base_files)

    def collect_sections(asked_or_refused: Sequence[str]) -> dict[str, str]:
        code = CopyableCode(context.base_files, MAX_TEST_CHARS, _make_path_check(state, context))
        existing = collect_tests(code, state, context.services.codebase, changed, asked_or_refused)
        return {"cause": state.root_cause or "", "the change": diff, "existing tests": existing}

    def build_and_check(answer: TestChanges) -> tuple[list[PatchedFile], list[str]]:
        return _build_and_check_files(answer.tests, "proposed_tests", state, context)

    ask = partial(_ask_until_usable, recorder, TestChanges, state, context)
    answer, tests, problems = await ask(collect_sections, build_and_check)
    reason, message = "", f"Wrote a test in {len(tests)} file{'s' * (len(tests) != 1)}."
    if answer is None:
        reason = f"No test could be written: {problems[0]}."
    elif problems:
        reason = f"The test could not be used: {' '.join(problems[:3])}"
    elif not answer.tests:
        reason = answer.no_test_reason or "The model wrote no test."
    if reason:
        tests, message = [], "Wrote no test."
    return {"proposed_tests": tests, "no_test_reason": reason, "steps": recorder.records, "messages": [message]}
