"""The visible part of a page: what was found, what the reporter is asked, what is suggested."""

from collections.abc import Callable, Iterator, Sequence

from triage.domain.code import MAX_NARROW, BestPlace, LastChange, PathChange, RegressionWindow, Span
from triage.domain.effect import LabelsMode
from triage.domain.report import RunReport, Suspect
from triage.domain.skill import UsedSkill
from triage.issue.reporter_language import get_phrases
from triage.safety.safe_markdown import format_code_span
from triage.say import wording
from triage.say.permalink import build_permalink, build_reference_url, format_location
from triage.say.template import render_block

VISIBLE_ITEMS = 6
"""Of questions."""
MAX_ITEMS = 20
"""Per list. Agents return fewer, unless a stranger's text made them."""
MAX_CODE_LINES = 15
"""Of the code that GitHub shows for a link that stands alone."""


def build_blocks(
    report: RunReport,
    no_longer_suspected: Sequence[str],
    labels: LabelsMode,
    *,
    has_answered: bool,
) -> Iterator[str]:
    """Return the blocks in their order, some of them empty.

    `no_longer_suspected` are files that an earlier comment named. `has_answered` says that the reporter answered a
    question.
    """
    phrases = get_phrases(report.language)
    if report.security:
        yield render_block("blocks", "security", _link_file(report, report.security_policy or ""), phrases)
        return
    yield _render_duplicate(report)
    yield _render_findings(report)
    is_led = report.best_place is not None or wording.has_model_answer(report)
    if is_led or report.kind == "bug":
        yield render_window(report)
    if is_led:
        yield from render_history(report)
    yield render_block("blocks", "notices", report)
    yield render_block("blocks", "questions", report.missing_information[:VISIBLE_ITEMS], has_answered, phrases)
    yield render_block("blocks", "skills", [(skill, link_skill(report, skill)) for skill in report.skills])
    if no_longer_suspected:
        yield render_block("blocks", "no_longer_suspected", no_longer_suspected[:MAX_ITEMS])
    if labels != "off" and (names := _list_labels(report, labels)):
        yield render_block("blocks", "labels", names[:MAX_ITEMS], labels)


def _list_labels(report: RunReport, mode: LabelsMode) -> list[str]:
    """Return the labels that are chosen, or of those the ones that a person can still put on the issue."""
    existing = {label.casefold() for label in report.issue.labels} if mode == "suggest" else set[str]()
    return [label for label in report.ticket.labels if label.casefold() not in existing]


def _render_findings(report: RunReport) -> str:
    by_model = wording.has_model_answer(report)
    if report.kind != "bug":
        return render_block("blocks", "kind", report, by_model)
    first = report.suspects[0] if report.suspects else None
    links = link_named_places(report)
    if report.best_place and wording.is_lead_first(report):
        lead = _render_best_place(report, report.best_place)
        has_idea = by_model and report.why and report.verdict != "CHALLENGED"
        return f"{lead}\n\n{render_block('blocks', 'idea', report, links)}" if has_idea else lead
    if by_model:
        where = _link_file(report, first.path) if first else ""
        return render_block("blocks", "cause", report, where, build_code_link(report), links)
    if report.likely_files:
        rows = locate_suspects(report, list_likely_suspects(report), format_code_span)
        return render_block("blocks", "likely_files", rows, report.likely_files.probability, build_code_link(report))
    window = report.regression_window
    if report.missing_information or report.possible_duplicate or (window and window.is_narrow):
        return ""  # a comment that asks, or names another issue or commits, needs no other reason
    return render_block("blocks", "nothing_found", first is not None)


def _render_best_place(report: RunReport, place: BestPlace) -> str:
    likely = list_likely_suspects(report)[1:]
    others = locate_suspects(report, likely, format_code_span)
    probability = report.likely_files.probability if report.likely_files else 0.0
    where = _link_file(report, place.span.path)
    is_listed = place.caller is not None and place.caller.span.path in [suspect.path for suspect in likely]
    caller = locate(report, place.caller.span) if place.caller and not is_listed else ""
    return render_block("blocks", "best_place", place, where, build_code_link(report), caller, others, probability)


def list_likely_suspects(report: RunReport) -> list[Suspect]:
    """Return the suspects that are named as likely together."""
    return report.suspects[: len(report.likely_files.paths)] if report.likely_files else []


def locate_suspects(
    report: RunReport, suspects: Sequence[Suspect], format_code: Callable[[str], str]
) -> list[tuple[Suspect, str]]:
    """Return each suspect with its location in Markdown, a link where there is a server."""
    return [(suspect, locate(report, suspect.span or suspect.path, format_code)) for suspect in suspects]


def locate(report: RunReport, target: Span | str, format_code: Callable[[str], str] = format_code_span) -> str:
    """Return a file or lines of it in Markdown, a link where there is a server."""
    link = build_permalink(report.server_url, report.repository, report.commit, target)
    text = format_code(format_location(target))
    return f"[{text}]({link})" if link else text


def _render_duplicate(report: RunReport) -> str:
    issue = report.possible_duplicate
    if issue is None:
        return ""
    return render_block("blocks", "duplicate", issue, build_issue_link(report, issue.number))


def render_history(report: RunReport) -> Iterator[str]:
    """Yield what git knows of the places: a later change, owners."""
    later, last = report.later_change, report.last_change
    is_confirmed = wording.has_model_answer(report) and report.verdict == "CONFIRMED"
    if later and not is_confirmed:  # else it was found in the code as it is now
        yield render_block("blocks", "later_change", later, _build_commit_link(report, later.commit.commit))
    elif last and _is_news(last, report):
        yield render_block("blocks", "last_change", last, _build_commit_link(report, last.commit.commit))
    if report.owners:
        yield render_block("blocks", "owners", report.owners)


def _is_news(last: LastChange, report: RunReport) -> bool:
    """Return whether the commit came with the reporter's version, or after the one that worked, and is not told yet.

    Of fifteen bugs that were played by hand, the last change brought the fault in seven: else it is a rename or a move.
    """
    window, commit = report.regression_window or RegressionWindow(worked_in="", broken_in=""), last.commit.commit
    is_told = commit[:7] in report.why or any(change.commit == commit for change in window.commits)
    return not is_told and (last.is_reported or any(change.commit == commit for change in window.further))


def render_window(report: RunReport) -> str:
    """Return the commits between the version that worked and the one that does not, or how few there are."""
    window = report.regression_window
    if window is None or not (window.commits or (0 < window.total <= MAX_NARROW and not window.is_named_commit)):
        return ""
    return render_block("blocks", "window", window, _link_commits(report, list_named_commits(report)))


def list_named_commits(report: RunReport) -> list[PathChange]:
    """Return the commits of the window that fit the report, and those that the explanation names."""
    window = report.regression_window
    if window is None:
        return []
    return [*window.commits, *(change for change in window.further if change.commit[:7] in report.why)]


def list_further_commits(report: RunReport) -> list[PathChange]:
    """Return the other commits between the two versions, if a reader can look through all of them."""
    window, named = report.regression_window, list_named_commits(report)
    if window is None or window.total != len(window.commits) + len(window.further):
        return []
    return [change for change in window.further if change not in named]


def render_further_commits(report: RunReport) -> str:
    return render_block("blocks", "commits", _link_commits(report, list_further_commits(report)))


def _link_commits(report: RunReport, commits: Sequence[PathChange]) -> list[tuple[PathChange, str | None]]:
    return [(change, _build_commit_link(report, change.commit)) for change in commits]


def build_issue_link(report: RunReport, number: int) -> str | None:
    return build_reference_url(report.server_url, report.repository, f"issues/{number}")


def _build_commit_link(report: RunReport, commit: str) -> str | None:
    return build_reference_url(report.server_url, report.repository, f"commit/{commit}")


def list_reference_links(report: RunReport) -> list[str]:
    """Return every URL of an issue or a commit that the page may have."""
    numbers = [issue.number for issue in report.similar_issues]
    window = report.regression_window
    commits = [change.commit for change in (*window.commits, *window.further)] if window else []
    commits += [one.commit.commit for one in (report.later_change, report.last_change) if one]
    links = [build_issue_link(report, number) for number in numbers]
    links += [_build_commit_link(report, commit) for commit in commits]
    return [link for link in links if link]


def build_code_link(report: RunReport) -> str:
    """Return the URL of the lines that GitHub shows as a box of code; empty without any."""
    span = find_shown_lines(report)
    return (build_permalink(report.server_url, report.repository, report.commit, span) or "") if span else ""


def find_shown_lines(report: RunReport) -> Span | None:
    """Return the lines of the best place, else of a model's first suspect or of the only likely file."""
    span: Span | None = None
    first = report.suspects[0].span if report.suspects else None
    if report.best_place and (first is None or wording.is_lead_first(report)):
        span = report.best_place.span
    elif report.suspects and (wording.has_model_answer(report) or len(list_likely_suspects(report)) == 1):
        span = report.suspects[0].span
    if span is None or report.kind != "bug":
        return None
    return span.model_copy(update={"end": min(span.end, span.start + MAX_CODE_LINES - 1)})


def link_named_places(report: RunReport) -> dict[str, str]:
    """Return the URL of each place that the explanation names, by its code span."""
    links = {
        format_code_span(place.text): build_permalink(
            report.server_url, report.repository, report.commit, place.span or place.path
        )
        for place in report.named_places
    }
    return {code: link for code, link in links.items() if link}


def link_skill(report: RunReport, skill: UsedSkill) -> str:
    """Return the URL of a skill's file; empty without a server to link to."""
    return build_permalink(report.server_url, report.repository, report.commit, skill.path) or ""


def _link_file(report: RunReport, path: str) -> str:
    if not path:
        return ""
    link = build_permalink(report.server_url, report.repository, report.commit, path)
    return f"[{format_code_span(path)}]({link})" if link else format_code_span(path)
