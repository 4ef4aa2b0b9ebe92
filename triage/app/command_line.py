"""What the commands share: where the checkout and the issue come from, and the end by a signal."""

import asyncio
import contextlib
import json
import re
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console, RenderableType

from triage.app.app import App
from triage.base import threads
from triage.base.errors import BadInput, WrongUsage, describe_os_error
from triage.base.os_signals import EXIT_CODES
from triage.domain.issue import Issue, Repository
from triage.run.may_run.event import to_issue

T = TypeVar("T")

MAX_CHARS = 1_000_000
"""GitHub itself takes 65,536 characters."""
MAX_BYTES = 4 * MAX_CHARS
"""Of UTF-8."""
MAX_INVALID_SHARE = 0.1
"""A file with a larger share of invalid characters is not taken for text. Single ones are normal in pasted logs."""

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Repo = Annotated[Path, typer.Option(help="Checkout to search.")]
IssueOption = Annotated[
    str,
    typer.Option(
        "--issue",
        help="A file (Markdown or GitHub's JSON), - for standard input, an issue's URL, or a number with --github.",
    ),
]
GitHubOption = Annotated[str, typer.Option("--github", help="owner/name of the issue's repository.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every step and decision.")]


def parse_issue_option(issue: str, github: str, server_url: str) -> tuple[str, int]:
    """Return the issue's repository if it is named, and its number; 0 for a file. Raises WrongUsage."""
    if issue.lower().startswith(("https://", "http://")):
        slug, number = parse_issue_url(issue, server_url)
        if github and github.lower() != slug.lower():
            raise WrongUsage(f"--github {github} contradicts --issue, which leads to {slug}.")
        return slug, number
    digits = issue.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()) or Path(issue).exists():
        return "", 0
    if not github:
        raise WrongUsage(f"--issue {issue} is a number: name its repository with --github owner/name, or give its URL.")
    return github, int(digits)


def open_issue(app: App, issue: str, github: str) -> tuple[App, Issue, Repository]:
    """Return the app for the issue's repository, the issue from wherever `--issue` says, and its repository.

    Raises WrongUsage if there is no such file or number, or it is a pull request; else as `IssueTracker`.
    """
    slug, number = parse_issue_option(issue, github, app.environment.server_url)
    app = replace(app, repository=slug or github or app.repository)
    found = app.github.fetch_issue(number) if number else read_issue_file(issue)
    if number and found.is_pull_request:
        raise WrongUsage(f"--issue: #{number} is a pull request; only issues can be triaged.")
    server_url = app.environment.server_url if slug or github else ""
    repository = Repository(slug=app.repository, server_url=server_url)
    return app, app.redactor.redact_value("issue", found), repository


def read_issue_file(name: str) -> Issue:
    """Return the issue in a file, or on standard input if the name is `-`. Raises WrongUsage."""
    return parse_issue_text(read_text(name, MAX_BYTES))


def read_text(name: str, max_bytes: int = -1) -> str:
    """Return the text of a file, or of standard input if the name is `-`. Raises BadInput, WrongUsage."""
    # One byte more than allowed: `parse_issue_text` refuses it, and an endless file does not fill the memory.
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if name == "-" else Path(name).open("rb") as file:
            data = file.read(max_bytes + 1 if max_bytes >= 0 else -1)
    except OSError as error:
        raise WrongUsage(f"{name} cannot be read ({describe_os_error(error)}).") from None
    text = data.decode("utf-8-sig", "replace")
    if text.count("\ufffd") + text.count("\0") > len(text) * MAX_INVALID_SHARE:
        raise BadInput("The issue is not a text. Give Markdown, plain text or GitHub's JSON, in UTF-8.")
    return text


def parse_issue_text(text: str) -> Issue:
    """An issue from Markdown whose first line is the title, or from GitHub's JSON of an issue. Raises BadInput."""
    if len(text) > MAX_CHARS:
        raise BadInput(f"The issue has more than {MAX_CHARS:,} characters; GitHub takes 65,536.")
    if text.lstrip().startswith("{"):
        return _parse_issue_json(text)
    first, _, body = text.lstrip("\ufeff \t\r\n").partition("\n")
    title = first.strip().lstrip("#").strip()
    if not title:
        raise BadInput("The issue is empty: its first line is the title, the rest is the body.")
    return Issue(title=title, body=body.strip())


def _parse_issue_json(text: str) -> Issue:
    try:
        loaded: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError):
        raise BadInput("The issue begins like JSON, but is not valid JSON.") from None
    fields = loaded["issue"] if isinstance(loaded.get("issue"), dict) else loaded
    title = fields.get("title")
    if not isinstance(title, str) or not title.strip():
        raise BadInput("The issue's JSON has no `title`.")
    return to_issue(fields)


def parse_issue_lines(text: str) -> Iterator[tuple[Issue, str]]:
    """Yield the issue and its `repo`, or an empty string, of each line with a JSON object. Raises BadInput."""
    for number, line in enumerate(text.split("\n"), start=1):  # `splitlines` also splits where JSON allows no line end
        if not line.strip():
            continue
        try:
            record: Any = json.loads(line)
        except (ValueError, RecursionError):
            raise BadInput(f"Line {number} is not JSON.") from None
        if not isinstance(record, dict):
            raise BadInput(f"Line {number} is not a JSON object with `title` and `body`.")
        title, repo = record.get("title"), record.get("repo")
        issue = to_issue({**record, "title": title if isinstance(title, str) else ""})
        yield issue, repo if isinstance(repo, str) else ""


def parse_issue_url(url: str, server_url: str) -> tuple[str, int]:
    """The repository as `owner/name`, and the number. Raises WrongUsage if it is no issue's URL on the server."""
    host = re.escape(server_url.partition("://")[2].removeprefix("www."))
    pattern = rf"https?://(?:www\.)?{host}/([\w.-]+/[\w.-]+)/(?:issues|pull)/([1-9][0-9]{{0,9}})(?:[/?#].*)?"
    found = re.fullmatch(pattern, url, re.ASCII | re.IGNORECASE)
    if found is None:
        raise WrongUsage(
            f"--issue: not the URL of an issue on the configured server, such as {server_url}/owner/name/issues/12. "
            "For GitHub Enterprise, set GITHUB_SERVER_URL."
        )
    return found[1], int(found[2])


def print_page(page: RenderableType) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    with console.capture() as capture:  # Markdown fills its lines with blanks, which a selection would copy
        console.print(page, crop=False)
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in capture.get().splitlines()))


def run_until_signal(work: Callable[[asyncio.Event], Awaitable[T]]) -> tuple[T, signal.Signals | None]:
    """Run work that ends early when its event is set, which the first signal does. Return the signal too, if any."""

    async def run() -> tuple[T, signal.Signals | None]:
        cancelled = asyncio.Event()
        loop = asyncio.get_running_loop()
        received: list[signal.Signals] = []

        def stop(number: signal.Signals) -> None:
            if received:  # the second signal ends the process without a report
                raise KeyboardInterrupt
            received.append(number)
            cancelled.set()

        for number in EXIT_CODES:
            if number is not signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
                loop.add_signal_handler(number, stop, number)
        result = await work(cancelled)
        return result, received[0] if received else None

    return threads.run_event_loop(run())
