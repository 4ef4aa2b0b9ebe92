"""Writer: the report, its ticket and the comment, in one answer; then merged into one output."""

import re
from collections.abc import Awaitable, Sequence
from typing import Any

from triage.agents.agent import Agent, AgentAnswer
from triage.agents.prompts import MAX_JUDGED_BODY_CHARS, format_bullets, format_findings, format_task, select_latest
from triage.agents.report_templates import fill_report_template, fill_ticket_template, normalize_ticket
from triage.agents.shown_code import format_file, render_cited_code
from triage.agents.skill_prompts import SkillPrompts
from triage.base.errors import CostLimitExceeded, InvalidAnswer
from triage.base.threads import in_thread
from triage.domain.agent_input import AgentInput
from triage.domain.findings import RelevantFile, TriageReport, WriterOutput
from triage.domain.value import Value
from triage.ports import Model, Services

ANSWER_TOKENS = 2_000
MAX_CODE_CHARS = 4_000
MAX_OTHER_CODE_CHARS, OTHER_MARGIN = 2_000, 1
"""Of the other suspects, whose lines the explanation names."""

MAX_DRAFT_CHARS = 6_000
_NAMES = {
    "why": r"why(?: (?:it|this) (?:fails|happens|breaks))?|(?:the |likely |probable )?(?:root )?cause"
    r"|explanation|analysis|diagnosis",
    "fix_idea": r"fix idea|idea(?: for a fix)?|(?:the |suggested |proposed |possible |potential )?(?:fix|solution)"
    r"|how to fix(?: it| this)?",
    "check": r"check|verify|verification|test(?: idea)?|how to (?:check|verify|test)(?: it| this)?",
}
_WORDS = "|".join(f"(?P<{name}>{words})" for name, words in _NAMES.items())
# At the begin of a line behind `**`, `##`, `-`, `1.`; inside of a line in bold type, or as the prompt writes them.
_LABEL = re.compile(
    rf"(?:^[^\w\n]{{0,12}}(?:\d{{1,2}}[.)][^\w\n]{{0,4}})?|(?<=[.!?)`][ \t])(?=\*\*|(?:Fix idea|Check):))"
    rf"[*_`]*(?:{_WORDS})"
    r"(?:[*_`]*[ \t]*(?:[:.|][*_`]*|[-\u2013\u2014](?=\s)|$)|[*_]+(?=\s))[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_FENCE = re.compile(r"\A```\w*\s*\n?(.*?)\s*```\Z", re.DOTALL)
_BOLD = re.compile(r"(`[^`\n]*`)|\*\*(?=\S)([^*\n`]*(?:`[^`\n]*`[^*\n`]*)*)\*\*")
_LIST_MARK = re.compile(r"^[ \t]*[-*\u2022][ \t]+", re.MULTILINE)


async def answer_with_model(agent_input: AgentInput, services: Services, model: Model) -> AgentAnswer[WriterOutput]:
    """Write report, ticket and comment in one answer. Of prose in its place, the paragraphs of the comment are taken.

    Raises:
        TriageError: All models failed; this is the error of the first.
    """
    shortfalls: list[str] = []
    owners = _list_owners(agent_input, services)
    cited_code = await in_thread(_render_code, agent_input.suspects, services)
    seconds = min(services.limits.agent_seconds, services.seconds_left())
    skills = await in_thread(SkillPrompts, agent_input, services, seconds)
    prompt = skills.build_messages("report", _build_sections(agent_input, services, owners, cited_code))

    def ask(chosen: Model) -> Awaitable[TriageReport]:
        return skills.ask(chosen.structured_output(TriageReport, "main", ANSWER_TOKENS).ainvoke, prompt)

    # Nothing else than a bug has a cause, and nobody has found one by rules.
    explains = agent_input.may_be_bug and (agent_input.searched_by_model or agent_input.judged_by_model)
    report, ticket = fill_report_template(agent_input), fill_ticket_template(agent_input, owners)
    try:
        try:
            written = await ask(model)
        except CostLimitExceeded as error:
            written = await ask(model.with_fast_model())
            shortfalls.append(f"{error}; the fast model wrote it")
        asked = {name: getattr(written, name) for name in TriageReport.model_fields.keys() - TriageReport.unasked}
        asked |= {} if agent_input.may_be_bug else {"severity": None, "severity_reason": ""}
        report, ticket = report.model_copy(update=asked), normalize_ticket(asked, agent_input, owners)
        comment = _label_paragraphs(written)
    except InvalidAnswer as error:
        comment = error.prose
        if not explains or not comment:
            raise
        shortfalls.append(f"{error}; its text explains the cause, and the fields are by rules")
    merged = merge_writer_outputs({"report": report, "comment": comment if explains else "", "ticket": ticket})
    return AgentAnswer(merged, [*shortfalls, *skills.shortfalls], skills=skills.tiers)


def _render_code(suspects: Sequence[RelevantFile], services: Services) -> str:
    read_lines = services.codebase.read_lines
    first = render_cited_code(suspects[:1], read_lines, MAX_CODE_CHARS)
    others = render_cited_code(suspects[1:], read_lines, MAX_OTHER_CODE_CHARS, OTHER_MARGIN)
    return "\n\n".join(filter(None, [first, others]))


def _label_paragraphs(written: TriageReport) -> str:
    """Return the explanation as one text: some models write all of it, with labels, into one field."""
    paragraphs = {"Why": written.why, "Fix idea": written.fix_idea, "Check": written.check}
    return "\n".join(add_label(label, text.strip()) for label, text in paragraphs.items() if text.strip())


def add_label(label: str, text: str) -> str:
    """Return the text with a label before it, unless it begins with one."""
    return text if _LABEL.match(text) else f"{label}: {text}"


async def answer_with_rules(agent_input: AgentInput, services: Services) -> WriterOutput:
    ticket = fill_ticket_template(agent_input, _list_owners(agent_input, services))
    return merge_writer_outputs({"report": fill_report_template(agent_input), "comment": "", "ticket": ticket})


def _list_owners(agent_input: AgentInput, services: Services) -> list[str]:
    suspects = agent_input.suspects
    owners = services.codebase.find_owners(suspects[0].path) if suspects else []
    return list(dict.fromkeys(map(services.config.resolve_assignee, owners)))


def _build_sections(agent_input: AgentInput, services: Services, owners: list[str], cited_code: str) -> dict[str, str]:
    labels = agent_input.repository.labels
    descriptions = {label: services.config.label_description(label) for label in labels}
    critique = agent_input.critique
    findings = select_latest(agent_input.findings, searched_by_model=agent_input.searched_by_model)
    return format_task(agent_input, services, MAX_JUDGED_BODY_CHARS) | {
        "repository": agent_input.repository.slug,
        "kind of issue": (agent_input.kind or "uncertain").replace("_", " "),
        "all findings": format_findings(findings),
        "suspects": format_bullets([f"{format_file(file)}: {file.relevance_reason}" for file in agent_input.suspects]),
        "cited code": cited_code,
        "critic's verdict": critique.verdict if critique else "",
        "labels of the project": format_bullets(labels),
        "when a label fits": format_bullets([f"{label}: {text}" for label, text in descriptions.items() if text]),
        "labels that may fit": format_bullets([f"{one.name}: {one.reason}" for one in agent_input.area_labels]),
        "owners of the first suspect": ", ".join(owners),
    }


def merge_writer_outputs(parallel_output: dict[str, Any]) -> WriterOutput:
    """Return the drafts as one output.

    Args:
        parallel_output: `report` (TriageReport), `comment` (str) and `ticket` (dict with `title`, `labels`,
            `assignee` and `effort`, already normalised).
    """
    report: TriageReport = parallel_output["report"]
    ticket: dict[str, Any] = parallel_output["ticket"]
    return WriterOutput(
        agent_name="writer",
        summary=f"Triage complete: {report.severity} severity" if report.severity else "Triage complete",
        confidence=report.confidence,
        reasoning="Merged from the report, comment and ticket drafts.",
        error=None,
        report=report,
        github_comment_markdown=parallel_output["comment"],
        ticket_title=ticket["title"],
        ticket_labels=ticket["labels"],
        ticket_assignee_suggestion=ticket.get("assignee") or "",
        ticket_effort_estimate=ticket.get("effort", "M"),
    )


def check_answer(answer: WriterOutput, services: Services) -> str | None:
    if not answer.report.summary.strip() or not answer.report.root_cause.strip():
        return "the report lacks its summary or root cause"
    return None


class CommentDraft(Value):
    why: str = ""
    fix_idea: str = ""
    check: str = ""


def parse_comment_draft(text: str) -> CommentDraft:
    """Return the labelled paragraphs of a model's text, each once; a text without labels is the explanation."""
    text = text[:MAX_DRAFT_CHARS].strip()
    if fenced := _FENCE.match(text):
        text = fenced[1]
    matches = list(_LABEL.finditer(text))
    if not matches:
        return CommentDraft(why=_strip_marks(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    found: dict[str, str] = {}
    for match, end in zip(matches, ends, strict=True):
        found.setdefault(match.lastgroup or "why", _strip_marks(text[match.end() : end]))
    return CommentDraft(**found)


def _strip_marks(text: str) -> str:
    # The paragraphs are shown in a line each, where bold type and lists would be shown as their characters.
    plain = _BOLD.sub(lambda found: found[1] or found[2], text)
    return _LIST_MARK.sub("", plain).strip().removesuffix("|").rstrip()


AGENT = Agent(
    name="writer",
    capabilities=frozenset({"untrusted input", "code access"}),
    answer_with_model=answer_with_model,
    answer_with_rules=answer_with_rules,
    get_details=lambda answer: answer.summary,
    list_references=lambda _: [],
    check_answer=check_answer,
)
