"""New addresses that a patch may have: pages that no stranger can write, and issues.

An issue may try to have an address of its author planted. So these are pages below those that the base commit declares
as the project's own, its issues where that is a page on a code host, and references of languages and standards.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping

from triage.domain.proposal import BaseFile
from triage.fix.fix_ports import BaseFiles

_REFERENCES = re.compile(
    r"(?:docs|peps|packaging)\.python\.org|developer\.mozilla\.org|nodejs\.org|tc39\.es|doc\.rust-lang\.org"
    r"|docs\.(?:oracle|github)\.com|docs\.ruby-lang\.org|www\.rfc-editor\.org|(?:html|url)\.spec\.whatwg\.org"
    r"|semver\.org|git-scm\.com|pubs\.opengroup\.org"
)
"""Hosts on which only their editors write pages: no wiki, no playground, no page for questions or drafts."""
_CODE_HOSTS = frozenset(
    {"github.com", "gist.github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "sourceforge.net", "sr.ht"}
)
"""Anybody has pages there, also below a project's own: files of forks and of comments."""
_WRITTEN_BY_ANYBODY = re.compile(r"(?:^|/)(?:-|uploads|wikis?|snippets|raw|blob|user-content)(?:/|$)")
"""Below a page of a project's own host, as self-hosted code hosts have it."""
_DISCUSSION = re.compile(r"(?:-/)?(?:issues|pull|pull-requests|merge_requests|discussions)/\d+")
_PART = r"[\w+~-][\w.+~-]*"
_LINK = re.compile(
    rf"https://(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)/(?P<path>(?:{_PART}/)*(?:{_PART})?)(?:#[\w.-]*)?", re.ASCII
)
"""Without a user, a port, a query, escapes or `..`, and with a slash that ends the host."""
_DECLARED = re.compile(
    rf"(?:git\+)?https?://(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)+)/*(?P<path>(?:{_PART}/)*(?:{_PART})?)(?:#[\w.-]*)?",
    re.ASCII,
)
_FILES: Mapping[str, Callable[[str], object]] = {
    "pyproject.toml": tomllib.loads,
    "Cargo.toml": tomllib.loads,
    "package.json": json.loads,
    "composer.json": json.loads,
}
_TABLES = ("", "project.urls", "tool.poetry", "tool.poetry.urls", "package", "repository", "bugs", "support")
_KEY = re.compile(r"doc|home|site|changelog|repo|source|code|issue|bug|tracker|^url$", re.IGNORECASE)


def list_own_pages(files: BaseFiles) -> set[str]:
    """Return where the metadata of the base commit says that the project has pages: host and path, with a slash."""
    return {page for url in _list_declared(files) if (page := _read_page(url))}


def is_documentation_link(url: str, own_pages: set[str]) -> bool:
    """Whether a patch may add this address."""
    found = _LINK.fullmatch(url)
    if found is None:
        return False
    if _REFERENCES.fullmatch(found["host"]):
        return True
    page = f"{found['host']}/{found['path']}"
    below = [page.removeprefix(own) for own in own_pages if f"{page}/".startswith(own)]
    return any(
        _DISCUSSION.fullmatch(rest) is not None
        if found["host"] in _CODE_HOSTS
        else _WRITTEN_BY_ANYBODY.search(rest) is None
        for rest in below
    )


def _read_page(url: str) -> str:
    found = _DECLARED.fullmatch(url)
    if found is None:
        return ""
    *folders, last = found["path"].removesuffix(".git").split("/")
    path = [*folders, *([last] if last and not last.endswith((".html", ".htm", ".md")) else [])]
    if found["host"] in _CODE_HOSTS:
        path = path[:2] if len(path) >= 2 else [""]
        if path == [""]:
            return ""
    return "/".join([found["host"], *filter(None, path), ""])


def _list_declared(files: BaseFiles) -> Iterator[str]:
    for name, parse in _FILES.items():
        file = files.read(name)
        try:
            data = parse(file.text) if isinstance(file, BaseFile) else None
        except (ValueError, RecursionError):
            continue
        for table in _TABLES:
            yield from _list_urls(data, table)


def _list_urls(data: object, table: str) -> Iterator[str]:
    for part in filter(None, table.split(".")):
        data = data.get(part) if isinstance(data, dict) else None
    for key, value in data.items() if isinstance(data, dict) else ():
        if isinstance(value, str) and _KEY.search(str(key)):
            yield value.strip()
