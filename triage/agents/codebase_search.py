"""Codebase search: which files and lines are at fault, and how the fault comes about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableLambda, RunnableParallel

from triage.agents import codebase_rules
from triage.agents.agent import Agent, AgentResult
from triage.agents.cited_places import resolve_citations
from triage.agents.code_lookup import ANSWER_TOKENS, CodeLookup
from triage.agents.codebase_rules import build_search_input
from triage.agents.prompts import (
    MAX_SEARCH_BODY_CHARS,
    build_system_message,
    fence_below_catalogue,
    format_bullets,
    format_task,
)
from triage.agents.services import Services
from triage.agents.shown_code import (
    Block,
    ShownCode,
    cut_longest,
    format_file,
    format_location,
    make_excerpt,
    pluralize,
)
from triage.agents.skill_prompts import SkillPrompts
from triage.base.threads import in_thread
from triage.domain.agent_input import AgentInput
from triage.domain.code import Passage, RegressionWindow, Section, Span
from triage.domain.findings import CodebaseFinding, CritiqueFinding, RelevantFile

if TYPE_CHECKING:
    from triage.find.codebase import Codebase
    from triage.outside.model.chat_model import ChatModel


CONTEXT_CHARS = 9_000
"""Code in the prompt. Each turn of look-ups sends it again. With a model's keywords as much of what an answer cites is
shown as in 12,000 characters without them first: see `prompt_passages.ASKED_SHARE`."""
CONTEXT_CHARS_WITH_DOCUMENTATION = 6_000
"""Beside sections of it. Of ten questions and requests that were played by hand, code answered eight."""
MAX_PATH_CHARS = 200
MAX_OTHERS = 12
"""Paths of files that are not shown. Of ten issues that were played by hand, one answer looked into one of them."""
MAX_FILES = 5
"""As the prompt says. Of more, the best count."""
SHOWN_SECTIONS, MAX_DOCUMENTATION_CHARS = 4, 12_000
"""Of 51 questions 34 see the right section to its end; with ten sections and 15,000 characters 18. Of the others the
headings are shown, and a model can read them."""
MAX_CHANGED = 4
"""Files of a commit."""
_NAME, _SPAN = re.compile(r"[A-Za-z_$][\w$]{3,}"), re.compile(r"`([^`\n]{2,})`")


def build_codebase_chain(
    retriever: BaseRetriever,
    llm: Runnable[Any, CodebaseFinding],
    shown: ShownCode | None = None,
    sections: dict[str, str] | None = None,
    skills: SkillPrompts | None = None,
    latest: dict[str, str] | None = None,
) -> Runnable[dict[str, Any], CodebaseFinding]:
    """Return the chain `RunnableParallel | prompt | structured model`.

    It takes `issue`, `hypothesis` and `keywords`. The prompt has the `sections`, the passages, numbered by `shown`, and
    what is `latest`: so that the begin is the same in each round, and a provider's cache finds it.
    """
    numbers = shown or ShownCode()
    tail, catalogue, mark = (skills.tail, skills.catalogue, skills.mark) if skills else ([], "", "")

    def build_data(inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the value of the prompt's placeholder: one message with all sections, then those of the skills."""
        data = {
            **(sections or {}),
            "passages": inputs["context"],
            "hypothesis": inputs["hypothesis"],
            "keywords": inputs["keywords"],
            **(latest or {}),
        }
        return {"data": [fence_below_catalogue(data, catalogue, mark), *tail]}

    query = RunnableLambda[dict[str, Any], str](
        # In backticks a word counts as a name of the code.
        lambda inputs: "\n".join(
            [inputs["issue"], inputs["hypothesis"], *(f"`{keyword}`" for keyword in inputs["keywords"])]
        )
    )
    gather: Runnable[dict[str, Any], dict[str, Any]] = RunnableParallel(
        context=query | retriever | RunnableLambda(lambda documents: format_passages(documents, numbers)),
        hypothesis=RunnableLambda(lambda inputs: inputs["hypothesis"]),
        keywords=RunnableLambda(lambda inputs: ", ".join(inputs["keywords"])),
    )
    names = ["codebase_search", *["codebase_documentation"] * bool(sections and sections.get("kind of issue"))]
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


def format_passages(documents: Sequence[Document], shown_code: ShownCode) -> str:
    """Return the passages, each under its number, and the paths of the files of which nothing is shown."""
    passages: list[Block] = [_to_passage(document) for document in documents if document.page_content]
    paths = [document.metadata["path"][:MAX_PATH_CHARS] for document in documents if not document.page_content]
    paths = paths[:MAX_OTHERS]
    others = [f"(Further files, likeliest first, not shown: {', '.join(paths)})"] if paths else []
    return shown_code.show([*passages, *others], gap="\n\n")


def _to_passage(document: Document) -> Passage:
    data = document.metadata
    span = Span(path=data["path"], start=data["start"], end=data["end"])
    return Passage(span=span, text=document.page_content, symbol=data.get("symbol") or None)


async def answer_with_model(
    agent_input: AgentInput, services: Services, model: ChatModel
) -> AgentResult[CodebaseFinding]:
    """Ask the main model, after it has looked up what it asks for.

    A further round has the prompt of the first, then what was looked up, the answer, and what the critic says of it.
    """
    by_rules = await codebase_rules.answer_with_rules(agent_input, services)
    skills = await in_thread(SkillPrompts, agent_input, services)
    is_further_round = agent_input.round > 1 and agent_input.searched_by_model
    wants_answer = agent_input.kind in ("question", "feature_request")  # not a bug
    shown_code = ShownCode()
    # Of a feature that nobody asked us about only what is there already is said: the documentation shows it, or nobody.
    tools = services.code_tools if agent_input.kind != "feature_request" or services.searches_for_features else None
    lookup = CodeLookup(services, model, tools, shown_code, skills.mark) if tools else None
    documentation = agent_input.documentation if wants_answer else ()
    sections = format_task(agent_input, services, MAX_SEARCH_BODY_CHARS) | {
        "kind of issue": (agent_input.kind or "").replace("_", " ") if wants_answer else "",
        "documentation": await in_thread(render_documentation, documentation, services.codebase, shown_code),
        "what changed between the versions": format_window(agent_input.regression_window),
    }
    chars = CONTEXT_CHARS_WITH_DOCUMENTATION if sections["documentation"] else CONTEXT_CHARS
    inputs = build_search_input(agent_input)
    retriever = services.codebase.get_retriever(agent_input.repository.slug, chars, inputs.keywords)

    async def ask(prompt: PromptValue) -> CodebaseFinding:
        if is_further_round:  # the passages got their numbers again; what was looked up has those behind them
            shown_code.go_on(agent_input.excerpts)
        first = lookup.answer if lookup else model.structured_output(CodebaseFinding, "main", ANSWER_TOKENS).ainvoke
        # What was looked up for the first answer stands in the second request: nothing is looked up again.
        again = lookup.answer_without_tools if lookup else first
        answer = await skills.ask(first, prompt.to_messages(), again)
        if not wants_answer and not answer.places:  # of a bug that is none, the line that says so
            answer = answer.model_copy(update={"places": answer.documented, "documented": []})
        answer = fill_places(answer, shown_code)
        return await in_thread(_read_cited, answer, shown_code, services.codebase)

    latest = format_earlier_rounds(agent_input) if is_further_round else {}
    chain = build_codebase_chain(retriever, RunnableLambda(ask), shown_code, sections, skills, latest)
    answer = await chain.ainvoke(inputs.model_dump())
    answer = answer.model_copy(update={"likely_files": by_rules.likely_files})
    shortfalls = [*(lookup.shortfalls if lookup else []), *skills.shortfalls]
    looked_up = lookup.answers if lookup else []
    return AgentResult(answer, shortfalls, looked_up, skills.tiers, shown_code.excerpts)


def fill_places(answer: CodebaseFinding, shown_code: ShownCode) -> CodebaseFinding:
    """Return the answer with the places that it cites."""
    files = resolve_citations(answer.places, shown_code.excerpts)[0][:MAX_FILES]
    location = format_file(files[0]) if files and answer.why else None
    update = {"agent_name": "codebase_search", "relevant_files": files, "root_cause_location": location}
    return answer.model_copy(update=update)


def _read_cited(answer: CodebaseFinding, shown_code: ShownCode, codebase: Codebase) -> CodebaseFinding:
    """Return the answer with the text of the documentation's lines that it cites.

    Its explanation goes if it names nothing of what it cites: no file, no definition, no word or code of a line.
    """
    documented = resolve_citations(answer.documented, shown_code.excerpts)[0]
    quoted = [place.model_copy(update={"quote": _read_place(place, codebase)}) for place in documented]
    places = [place.model_copy(update={"quote": _read_place(place, codebase)}) for place in answer.relevant_files]
    why = answer.why.casefold()
    words, spans = set(_NAME.findall(why)), _SPAN.findall(why)
    texts = [f"{one.path} {one.symbol or ''} {one.quote}".casefold() for one in [*quoted, *places]]
    is_about = any(words & {*_NAME.findall(text)} or any(span in text for span in spans) for text in texts)
    return answer.model_copy(update={"quoted_lines": quoted, "why": answer.why if is_about else ""})


def _read_place(place: RelevantFile, codebase: Codebase) -> str:
    lines = codebase.read_lines(place.path) or []
    return " ".join(lines[place.start_line - 1 : place.end_line]).strip() if place.start_line else ""


def check_answer(answer: CodebaseFinding, _: Services) -> str | None:
    if answer.places and not answer.relevant_files:
        return "none of the citations has a number of what was shown"
    return None


def format_earlier_rounds(agent_input: AgentInput) -> dict[str, str]:
    """Return what was looked up, what was answered, and what the critic says of it."""
    suspects = agent_input.relevant_files
    return {
        "looked up earlier": "\n\n".join(f"# {one.call}\n{one.answer}" for one in agent_input.looked_up),
        "earlier suspects": format_bullets([f"{format_file(file)}: {file.relevance_reason}" for file in suspects]),
        "earlier explanation": agent_input.code_finding.why if agent_input.code_finding else "",
        "what the critic says": _format_critique(agent_input.critique) if agent_input.critique else "",
    }


def render_documentation(documentation: Sequence[Section], codebase: Codebase, shown_code: ShownCode) -> str:
    """Return the first sections with numbered lines, the longest cut, and the headings of the others."""
    excerpts: list[list[Block]] = []
    for section in documentation[:SHOWN_SECTIONS]:
        path, start, end = section.span.path, section.span.start, section.span.end
        if lines := (codebase.read_lines(path) or [])[start - 1 : end]:
            excerpts.append([make_excerpt(path, enumerate(lines, start), section.heading)])
    texts = [shown_code.show(blocks) for blocks in cut_longest(excerpts, MAX_DOCUMENTATION_CHARS)]
    spans = ((section.span, section.heading) for section in documentation[SHOWN_SECTIONS:])
    others = [format_location(span.path, span.start, span.end, heading) for span, heading in spans]
    return "\n\n".join([*texts, *([f"(Further sections, not shown: {'; '.join(others)})"] if others else [])])


def _format_critique(critique: CritiqueFinding) -> str:
    gaps = f"\nNot settled yet:\n{format_bullets(critique.gaps)}" if critique.gaps else ""
    return f"{critique.verdict}: {critique.summary}\n{critique.reasoning}{gaps}"


AGENT = Agent(
    name="codebase_search",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=codebase_rules.answer_with_rules,
    get_details=lambda answer: answer.root_cause_location or "Root cause location not identified.",
    list_references=lambda answer: [file.path for file in answer.relevant_files],
    check_answer=check_answer,
)
