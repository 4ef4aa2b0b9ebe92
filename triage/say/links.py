"""Links to the repository at the indexed commit, and to other pages. No model writes any of them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

from triage.domain.code import PathChange, Span
from triage.domain.report import RunReport
from triage.domain.skill import UsedSkill
from triage.safety.safe_markdown import format_code_span

_SERVER = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9_.-]+)*")
_SLUG = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
MAX_URL_CHARS = 2000
"""After encoding, which makes up to twelve characters of one. Not every browser and proxy takes longer URLs."""
RENDERED_SUFFIXES = (
    ".md",
    ".markdown",
    ".mdx",
    ".rst",
    ".adoc",
    ".asciidoc",
    ".org",
    ".textile",
    ".ipynb",
    ".csv",
    ".tsv",
    ".svg",
)
"""Files that GitHub renders; line anchors work only in their source (`?plain=1`)."""


def build_permalink(server_url: str, slug: str, commit: str | None, target: Span | str) -> str | None:
    """Return the URL of a file or of its lines; None without a valid server, repository and commit, or if too long."""
    path = target.path if isinstance(target, Span) else target
    is_valid = _SERVER.fullmatch(server_url) and _SLUG.fullmatch(slug) and _COMMIT.fullmatch(commit or "")
    # A crafted tree can have such names; a browser would resolve them to the URL of another page.
    if not is_valid or not {"", ".", ".."}.isdisjoint(path.split("/")):
        return None
    anchor = ""
    if isinstance(target, Span):
        plain = "?plain=1" if path.lower().endswith(RENDERED_SUFFIXES) else ""
        last = "" if target.start == target.end else f"-L{target.end}"
        anchor = f"{plain}#L{target.start}{last}"
    url = f"{server_url}/{slug}/blob/{commit}/{quote(path, errors='replace')}{anchor}"
    return url if len(url) <= MAX_URL_CHARS else None


def format_location(target: Span | str) -> str:
    """Return `path`, `path:10` or `path:10-20`."""
    if isinstance(target, str):
        return target
    lines = str(target.start) if target.start == target.end else f"{target.start}-{target.end}"
    return f"{target.path}:{lines}"


_REFERENCE = re.compile(r"issues/[1-9][0-9]{0,18}|commit/[0-9a-f]{10,64}")


def build_reference_url(server_url: str, slug: str, path: str) -> str | None:
    """Return the URL of an issue or a commit of the repository, such as `issues/12`, that leaves no trace there.

    GitHub shows a link on the page that it leads to, unless it goes to `redirect.github.com` (docs, "Autolinked
    references and URLs"). An Enterprise server has no such host: there the result is None.
    """
    is_valid = server_url == "https://github.com" and _SLUG.fullmatch(slug) and _REFERENCE.fullmatch(path)
    return f"https://redirect.github.com/{slug}/{path}" if is_valid else None


_HOST = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
_URL_SAFE = ":/?#@!$&*+,=%~"
"""Not encoded. Brackets, quotes and backslashes could close a Markdown link, and a semicolon an entity in it."""


_BACKLINKED_PATH = re.compile(r"/[^/]+/[^/]+/(?:issues|pull|discussions|commit|commits)/", re.I)


def sanitize_third_party_url(url: str, server_url: str) -> str | None:
    """Like `sanitize_url`, without a backlink on the linked page, which a stranger chose.

    GitHub shows a link to an issue or a commit on that issue or commit, so a stranger could make us write there. A
    link to `redirect.github.com` is not shown (docs, "Autolinked references and URLs"). An Enterprise server has no
    such host: there the result is None.
    """
    address = sanitize_url(url)
    parts = urlsplit(address or "")
    if address is None or not _BACKLINKED_PATH.match(unquote(parts.path)):
        return address
    host = (parts.hostname or "").removeprefix("www.")
    if host == "github.com":
        return address.replace(parts.netloc, "redirect.github.com", 1)
    return None if host == (urlsplit(server_url).hostname or "").removeprefix("www.") else address


def sanitize_url(url: str) -> str | None:
    """Return an http(s) URL encoded for a Markdown link; None if its user, host, length or a character is unsafe."""
    if len(url) > MAX_URL_CHARS or any(character.isspace() or not character.isprintable() for character in url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain_host = parts.netloc == (parts.hostname or "") + (f":{port}" if port is not None else "")
    if parts.scheme not in {"http", "https"} or not plain_host or not _HOST.fullmatch(parts.hostname or ""):
        return None
    encoded = quote(url, safe=_URL_SAFE)
    return encoded if len(encoded) <= MAX_URL_CHARS else None


MAX_CODE_LINES = 15
"""Of the code that GitHub shows for a link that stands alone."""


@dataclass(frozen=True)
class Links:
    """Makes the links of one page, and remembers each. Everything is text without a link where there is no server."""

    report: RunReport
    shows_code: bool
    """A link to lines stands alone: GitHub draws a box of code for it, in comments only."""
    urls: list[str] = field(default_factory=list)
    """All that were made: a finished page may have no other link."""

    def link_place(self, target: Span | str, format_code: Callable[[str], str] = format_code_span) -> str:
        """Return a file or lines of it in Markdown."""
        return self._link(format_code(format_location(target)), self._build_permalink(target))

    def link_lines(self, span: Span | None, line: int | None = None) -> str:
        """Return the bare address of at most fifteen lines, which GitHub shows as a box of code; empty without any.

        Where no box is drawn, it is a link to the `line` that fails: editors open `path:12`, and no range.
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
        return self._link(format_code_span(commit[:8]), self._build_commit_url(commit))

    def link_skill(self, skill: UsedSkill, text: str) -> str:
        """Return the skill's name or id in Markdown, which leads to its file."""
        return self._link(text, self._build_permalink(skill.path))

    def link_named_places(self) -> dict[str, str]:
        """Return the URL of each place and commit that the explanation names, by its code span."""
        found = {
            format_code_span(one.text): self._build_commit_url(one.commit)
            if one.commit
            else self._build_permalink(one.span or one.path)
            for one in self.report.named_places
        }
        return {code: self._remember(url) for code, url in found.items() if url}

    def allow_url(self, url: str) -> str:
        """Return the URL of a page that a stranger chose, as it may be linked; empty if it may not."""
        return self._remember(sanitize_third_party_url(url, self.report.server_url) or "")

    def allow_own_url(self, url: str) -> str:
        return self._remember(sanitize_url(url) or "")

    def _build_permalink(self, target: Span | str) -> str | None:
        return build_permalink(self.report.server_url, self.report.repository, self.report.commit, target)

    def _build_commit_url(self, commit: str) -> str | None:
        return build_reference_url(self.report.server_url, self.report.repository, f"commit/{commit}")

    def _link(self, text: str, url: str | None) -> str:
        return f"[{text}]({self._remember(url)})" if url else text

    def _remember(self, url: str) -> str:
        if url and url not in self.urls:
            self.urls.append(url)
        return url
