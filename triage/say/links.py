"""Links of a page, to the repository at the indexed commit and to other pages. It remembers each that it makes."""

from collections.abc import Callable
from dataclasses import dataclass, field

from triage.domain.code import PathChange, Span
from triage.domain.report import RunReport
from triage.domain.skill import UsedSkill
from triage.safety.safe_markdown import format_code_span
from triage.say.permalink import (
    build_permalink,
    build_reference_url,
    format_location,
    sanitize_third_party_url,
    sanitize_url,
)

MAX_CODE_LINES = 15
"""Of the code that GitHub shows for a link that stands alone."""


@dataclass(frozen=True)
class Links:
    """Makes the links of one page. Everything is text without a link where there is no server."""

    report: RunReport
    shows_code: bool
    """A link to lines stands alone: GitHub draws a box of code for it, in comments only."""
    urls: list[str] = field(default_factory=list)
    """All that were made: a finished page may have no other link."""

    def link_place(self, target: Span | str, format_code: Callable[[str], str] = format_code_span) -> str:
        """Return a file or lines of it in Markdown."""
        return self._link(format_code(format_location(target)), self._build_permalink(target))

    def link_lines(self, span: Span | None, line: int | None = None) -> str:
        """Return at most fifteen lines, for a line of its own; empty without any, or where no box can be drawn.

        Without a box, the `line` that fails is named alone: editors open `path:12`, and no range.
        """
        if span is None:
            return ""
        if not self.shows_code:
            return self.link_place(span.model_copy(update={"start": line, "end": line}) if line else span)
        span = span.model_copy(update={"end": min(span.end, span.start + MAX_CODE_LINES - 1)})
        return self._remember(self._build_permalink(span) or "")

    def link_issue(self, number: int) -> str:
        url = build_reference_url(self.report.server_url, self.report.repository, f"issues/{number}")
        return self._link(format_code_span(f"#{number}"), url)

    def link_commits(self, changes: list[PathChange]) -> list[tuple[PathChange, str]]:
        return [(change, self.link_commit(change.commit)) for change in changes]

    def link_commit(self, commit: str) -> str:
        url = build_reference_url(self.report.server_url, self.report.repository, f"commit/{commit}")
        return self._link(format_code_span(commit[:8]), url)

    def link_skill(self, skill: UsedSkill, text: str) -> str:
        """Return the skill's name or id in Markdown, which leads to its file."""
        return self._link(text, self._build_permalink(skill.path))

    def link_named_places(self) -> dict[str, str]:
        """Return the URL of each place that the explanation names, by its code span."""
        found = {
            format_code_span(place.text): self._build_permalink(place.span or place.path)
            for place in self.report.named_places
        }
        return {code: self._remember(url) for code, url in found.items() if url}

    def find_page(self, url: str) -> str:
        """Return the URL of a page that a stranger chose, as it may be linked; empty if it may not."""
        return self._remember(sanitize_third_party_url(url, self.report.server_url) or "")

    def find_own_page(self, url: str) -> str:
        return self._remember(sanitize_url(url) or "")

    def _build_permalink(self, target: Span | str) -> str | None:
        return build_permalink(self.report.server_url, self.report.repository, self.report.commit, target)

    def _link(self, text: str, url: str | None) -> str:
        return f"[{text}]({self._remember(url)})" if url else text

    def _remember(self, url: str) -> str:
        if url and url not in self.urls:
            self.urls.append(url)
        return url
