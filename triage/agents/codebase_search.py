"""Codebase search: which files and lines are at fault."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from triage.agents import codebase_rules
from triage.agents.agent import Agent, AgentAnswer
from triage.agents.code_lookup import ANSWER_TOKENS, CodeLookup, cut_longest
from triage.agents.code_tools import render_definitions
from triage.agents.codebase_rules import build_search_input
from triage.agents.prompts import (
    MAX_JUDGED_BODY_CHARS,
    MAX_SEARCH_BODY_CHARS,
    build_system_message,
    fence,
    fence_below_catalogue,
    format_bullets,
    format_task,
    shorten,
)
from triage.agents.shown_code import format_file, format_location, number_lines, pluralize, render_cited_code
from triage.agents.skill_prompts import SkillPrompts
from triage.base.errors import InvalidAnswer
from triage.base.threads import in_thread
from triage.citations.citation_lookup import CitationLookup, find_named_places
from triage.citations.verify import verify_files
from triage.domain.agent_input import AgentInput
from triage.domain.code import CodePlace, LookedUp, Passage, PathChange, RegressionWindow, Section
from triage.domain.findings import CodebaseFinding, CritiqueFinding, RelevantFile
from triage.domain.report import NamedPlace
from triage.ports import Codebase, Model, Services

CONTEXT_CHARS = 48_000
"""Code in the prompt: about 16,000 tokens, a sixth of the default budget of a run."""
CONTEXT_CHARS_WITH_TOOLS = 15_000
"""Less code where the model can look up more, because each turn sends it again.

By the issue alone an edited line of the fix is in the first prompt of 65 of 103 Python bugs of twelve projects; of 67
with 18,000 characters, which are 1,500 tokens more in a run with one turn, and of 63 with 12,000.
"""
MAX_PATH_CHARS = 200

MAX_DOCUMENTATION_CHARS = 15_000
"""About 5,000 tokens. Of 44 questions whose section is among the ten, 28 see it to its end; a model can read on."""
MAX_SUSPECTS_CHARS, MAX_LOOKED_UP_CHARS, MAX_DEFINITIONS_CHARS = 6_000, 6_000, 6_000
"""A third of what a first round shows, each."""
PROSE_CONFIDENCE = 0.4
"""As the prompt says of a plausible suspicion."""
MAX_PROSE_CHARS, MAX_REASON_CHARS = 2_000, 300
MAX_NAMES = 6
MAX_DIFFS, MAX_DIFFS_CHARS = 10, 3_000
"""So few commits are shown with their diffs: then none has to be looked up."""
MAX_CHANGED = 4
"""Files of a commit."""
MIN_NAME_CHARS = 3


def build_codebase_chain(
    retriever: BaseRetriever | None,
    llm: Runnable[Any, CodebaseFinding],
    sections: dict[str, str] | None = None,
    tail: Sequence[BaseMessage] = (),
    catalogue: str = "",
    names: Sequence[str] = ("codebase_search",),
) -> Runnable[dict[str, Any], CodebaseFinding]:
    """Return the chain `RunnableParallel | prompt | structured model`.

    It takes `issue`, `hypothesis` and `keywords`. `sections` stand in the prompt too, `tail` and `catalogue` as in
    `build_messages`. Without a retriever it searches for nothing: then `sections` have what is known.
    """

    def build_data(inputs: dict[str, Any]) -> dict[str, Any]:
        data = {
            **(sections or {}),
            "hypothesis": inputs["hypothesis"],
            "keywords": inputs["keywords"],
            "passages": inputs["context"],
        }
        return {"data": [fence_below_catalogue(data, catalogue), *tail]}

    query = RunnableLambda[dict[str, Any], str](
        # In backticks a word counts as a name of the code.
        lambda inputs: "\n".join(
            [inputs["issue"], inputs["hypothesis"], *(f"`{keyword}`" for keyword in inputs["keywords"])]
        )
    )
    gather: Runnable[dict[str, Any], dict[str, Any]] = RunnableParallel(
        context=query | retriever | RunnableLambda(format_passages) if retriever else RunnableLambda(lambda _: ""),
        hypothesis=RunnableLambda(lambda inputs: inputs["hypothesis"]),
        keywords=RunnableLambda(lambda inputs: ", ".join(inputs["keywords"])),
    )
    system = build_system_message(*names, sections=sections or {}, tail=tail, catalogue=catalogue)
    prompt = ChatPromptTemplate.from_messages([system, MessagesPlaceholder("data")])
    return gather | RunnableLambda(build_data) | prompt | llm


def format_window(window: RegressionWindow | None) -> str:
    """Return the commits between the version that worked and the one that does not; empty without any."""
    if window is None:
        return ""
    shown = [*window.commits, *window.further]
    lines = [
        f"{change.commit[:10]} {change.subject} ({', '.join(change.paths[:MAX_CHANGED])}"
        f"{', ...' if len(change.paths) > MAX_CHANGED else ''})"
        for change in shown
    ]
    heading = f"It worked in {window.worked_in}, and not in {window.broken_in}."
    order = "those first that fit the report best" if window.commits else "none fits the report well; the closest first"
    count = f"{pluralize(window.total, 'commit')} between them, {order}:"
    return "\n".join([heading, count, *lines]) if lines else ""


def render_diffs(window: RegressionWindow | None, codebase: Codebase) -> str:
    """Return what the commits of a narrow window changed in code, the longest diffs cut; empty for a wide one."""
    if window is None or window.total > MAX_DIFFS:
        return ""
    diffs = [_read_diff(change, codebase) for change in (*window.commits, *window.further)]
    return "\n\n".join(cut_longest(list(filter(None, diffs)), MAX_DIFFS_CHARS))


def _read_diff(change: PathChange, codebase: Codebase) -> str:
    files = re.split(r"^(?=diff --git )", codebase.show_commit(change.commit), flags=re.MULTILINE)[1:]
    # The project may be a folder of the repository.
    of_code = [diff for diff in files if diff.partition("\n")[0].endswith(tuple(f"/{path}" for path in change.paths))]
    lines = [line for diff in of_code for line in diff.splitlines() if re.match(r"diff |@@|[+-](?![+-]{2} )", line)]
    return "\n".join([f"# {change.commit[:10]}", *lines]) if lines else ""


def format_passages(documents: Sequence[Document]) -> str:
    """Return the passages, each under its location, and the paths of the files of which nothing is shown."""
    shown = [_format_passage(document) for document in documents if document.page_content]
    paths = [document.metadata["path"][:MAX_PATH_CHARS] for document in documents if not document.page_content]
    others = [f"(Further files, likeliest first, not shown: {', '.join(paths)})"] if paths else []
    return "\n\n".join([*shown, *others])


def _format_passage(document: Document) -> str:
    data = document.metadata
    heading = format_location(data["path"], data["start"], data["end"], data.get("symbol"))
    return f"{heading}\n{document.page_content}"


async def answer_with_model(agent_input: AgentInput, services: Services, model: Model) -> AgentAnswer[CodebaseFinding]:
    """Ask the main model, after it has looked up what it asks for.

    The first round shows the best passages; a further one what the earlier rounds have found.
    """
    skills = await in_thread(SkillPrompts, agent_input, services)
    lookup = _open_lookup(agent_input, services, model)
    shortfalls: list[str] = []
    # Of a question the documentation may know nothing.
    asking = _build_asking(lookup, skills, model, services, shortfalls, needs_file=agent_input.kind != "question")
    llm = RunnableLambda(asking)
    asks = agent_input.kind in ("question", "feature_request")
    continues = agent_input.round > 1 and agent_input.searched_by_model
    sections = format_task(agent_input, services, MAX_JUDGED_BODY_CHARS if continues else MAX_SEARCH_BODY_CHARS)
    window = agent_input.regression_window
    sections["what changed between the versions"] = format_window(window)
    sections["diffs of these commits"] = await in_thread(render_diffs, window, services.codebase)
    sections["kind of issue"] = (agent_input.kind or "").replace("_", " ") if asks else ""
    sections["documentation"] = await in_thread(
        render_documentation, agent_input.documentation if asks else (), services.codebase
    )
    retriever = None
    if continues:
        sections |= await in_thread(build_followup_sections, agent_input, services.codebase)
    else:
        chars = CONTEXT_CHARS_WITH_TOOLS if lookup else CONTEXT_CHARS
        retriever = services.codebase.get_retriever(agent_input.repository.slug, chars)
    names = [
        "codebase_search",
        *["codebase_documentation"] * bool(sections["documentation"]),
        *["codebase_round"] * continues,
    ]
    chain = build_codebase_chain(retriever, llm, sections, skills.tail, skills.catalogue, names)
    answer = await chain.ainvoke(build_search_input(agent_input).model_dump())
    answer = answer.model_copy(update={"agent_name": "codebase_search"})
    shortfalls += [*(lookup.shortfalls if lookup else []), *skills.shortfalls]
    return AgentAnswer(answer, shortfalls, [*_list_looked_up(lookup)], skills.tiers)


def _build_asking(
    lookup: CodeLookup | None,
    skills: SkillPrompts,
    model: Model,
    services: Services,
    shortfalls: list[str],
    *,
    needs_file: bool,
) -> Callable[[PromptValue], Awaitable[CodebaseFinding]]:
    async def ask(prompt: PromptValue) -> CodebaseFinding:
        messages = prompt.to_messages()
        first = model.structured_output(CodebaseFinding, "main", ANSWER_TOKENS).ainvoke
        # What was looked up for the first answer stands in further requests: nothing is looked up again.
        again = lookup.answer_without_tools if lookup else first
        try:
            answer = await skills.ask(lookup.answer if lookup else first, messages, again)
        except InvalidAnswer as error:
            found = await in_thread(_read_prose, error.prose, services)
            if found is None:
                raise
            shortfalls.append(f"{error}; the files that its text names were taken")
            return found
        texts = [message.text for message in messages] + [one.answer for one in _list_looked_up(lookup)]
        shown = "\n".join(texts)
        answer = await in_thread(_name_files, answer, shown, services, needs_file)
        problem = await in_thread(check_answer, answer, services)
        if problem is None:
            return answer
        correction = fence({"problem": f"{problem}. Answer again, with each path as its heading shows it."})
        return await again([*messages, AIMessage(answer.model_dump_json()), correction])

    return ask


def _read_prose(text: str, services: Services) -> CodebaseFinding | None:
    """Return the answer of a model that writes prose in place of the form; None if it names no file."""
    named: dict[str, NamedPlace] = {}
    for place in find_named_places([text], CitationLookup(services.codebase)):
        if place.path not in named or named[place.path].span is None:
            named[place.path] = place
    if not named:
        return None
    files = [_to_named_file(place, text) for place in named.values()]
    return CodebaseFinding(
        agent_name="codebase_search",
        summary=files[0].relevance_reason,
        confidence=PROSE_CONFIDENCE,
        reasoning=shorten(text, MAX_PROSE_CHARS),
        error=None,
        relevant_files=files,
        root_cause_location=None,
    )


def _to_named_file(place: NamedPlace, text: str) -> RelevantFile:
    """Return a place of a text, with the line of the text that names it as the reason."""
    written = re.compile(rf"(?<![\w./-]){re.escape(place.text)}")
    line = next((line.strip() for line in text.splitlines() if written.search(line)), place.text)
    lines = (place.span.start, place.span.end) if place.span else ()
    return _to_relevant_file(CodePlace(place.path, *lines), shorten(line, MAX_REASON_CHARS))


def _list_looked_up(lookup: CodeLookup | None) -> Sequence[LookedUp]:
    return lookup.answers if lookup else []


def _name_files(answer: CodebaseFinding, shown: str, services: Services, needs_file: bool) -> CodebaseFinding:
    """Return the answer with whole paths for bare names of files that were shown, and with the file of the root cause.

    An answer that names no file is none: rules name what they have.
    """
    lookup = CitationLookup(services.codebase)
    files = []
    for file in answer.relevant_files:
        place = lookup.locate_path(file.path, file.symbol or "", file.quote or "", shown)
        is_open = place and lookup.resolve(file.path) is None
        lines = {"start_line": file.start_line or place.start, "end_line": file.end_line or place.end} if place else {}
        files.append(file.model_copy(update={"path": place.path, **lines}) if place and is_open else file)
    if not files and answer.root_cause_location:
        words = (word.strip("`,;:.()") for word in answer.root_cause_location.split())
        place = next(filter(None, map(lookup.locate_path, words)), None)
        files = [_to_relevant_file(place, answer.root_cause_location)] if place else []
    error = answer.error or (
        None if files or answer.documented or not needs_file else "It names no file of the repository."
    )
    return answer.model_copy(update={"relevant_files": files, "error": error})


def _to_relevant_file(place: CodePlace, reason: str) -> RelevantFile:
    lines = {"start_line": place.start, "end_line": place.end}
    return RelevantFile(path=place.path, relevance_reason=reason, symbol=place.symbol, quote=None, **lines)


def _open_lookup(agent_input: AgentInput, services: Services, model: Model) -> CodeLookup | None:
    if services.code_tools is None:
        return None
    return CodeLookup(
        services,
        model,
        services.code_tools,
        is_first_round=agent_input.round == 1,
        earlier=agent_input.looked_up,
    )


def check_answer(answer: CodebaseFinding, services: Services) -> str | None:
    if answer.relevant_files and not verify_files(answer.relevant_files, CitationLookup(services.codebase))[0]:
        return "none of the cited files exists"
    return None


def build_followup_sections(agent_input: AgentInput, codebase: Codebase) -> dict[str, str]:
    """Return the earlier suspects with their code, the critic's words, and the definitions that these name."""
    suspects = agent_input.suspects
    code = render_cited_code(suspects, codebase.read_lines, MAX_SUSPECTS_CHARS)
    return {
        "earlier suspects": format_bullets([f"{format_file(file)}: {file.relevance_reason}" for file in suspects]),
        "code of the earlier suspects": code,
        "looked up earlier": format_looked_up(agent_input.looked_up),
        "what the critic says": _format_critique(agent_input.critique) if agent_input.critique else "",
        "definitions of what the critic names": _render_named(agent_input.search_terms, code, codebase),
    }


def format_looked_up(looked_up: Sequence[LookedUp]) -> str:
    return "\n\n".join(cut_longest([f"# {one.call}\n{one.answer}" for one in looked_up], MAX_LOOKED_UP_CHARS))


def render_documentation(documentation: Sequence[Section], codebase: Codebase) -> str:
    """Return the sections with numbered lines, the longest cut."""
    rendered = []
    for section in documentation:
        path, start, end = section.span.path, section.span.start, section.span.end
        lines = (codebase.read_lines(path) or [])[start - 1 : end]
        rendered.append(
            "\n".join([format_location(path, start, end, section.heading), *number_lines(enumerate(lines, start))])
        )
    return "\n\n".join(cut_longest(rendered, MAX_DOCUMENTATION_CHARS))


def _format_critique(critique: CritiqueFinding) -> str:
    gaps = f"\nNot settled yet:\n{format_bullets(critique.gaps)}" if critique.gaps else ""
    return f"{critique.verdict}: {critique.summary}\n{critique.reasoning}{gaps}"


def _render_named(terms: Sequence[str], known: str, codebase: Codebase) -> str:
    names = [term for term in terms if len(term) >= MIN_NAME_CHARS and " " not in term]
    rendered = [
        render_definitions(codebase, name)
        for name in names[:MAX_NAMES]
        if any(not _is_shown(passage, known) for passage in codebase.find_definitions(name))
    ]
    return "\n\n".join(cut_longest(rendered, MAX_DEFINITIONS_CHARS))


def _is_shown(passage: Passage, code: str) -> bool:
    lines = enumerate(passage.text.rstrip("\n").split("\n"), passage.span.start)
    return all(f"{number}| {line}" in code for number, line in lines)


AGENT = Agent(
    name="codebase_search",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=codebase_rules.answer_with_rules,
    get_details=lambda answer: answer.root_cause_location or "Root cause location not identified.",
    list_references=lambda answer: [file.path for file in answer.relevant_files],
    check_answer=check_answer,
)
