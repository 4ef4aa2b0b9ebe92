"""Who may start a run, and how often."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from testing.each_row import each_row
from triage.domain.issue import Issue, IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.task import QuietTask, ReproduceTask, TriageTask, Trigger
from triage.run.may_run.admission import IssueRequest, check_added_label, check_quiet, check_reproduce, check_triage
from triage.run.may_run.event import Event
from triage.say.hidden_state import CommentState, hash_text, render_state

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
TEXT = hash_text("It breaks", "")
TOO_OFTEN = "This issue has had its 3 runs by command or answer in 24 hours."
NEEDS_RIGHT = "`/triage` is for the issue's author and for people with write access to the repository."
QUIET = "`/triage quiet` was said on this issue."
SAME_TEXT = "The issue's text is the one of the last triage."
OPTS = ProjectConfig(opt_in_label="triage", opt_out_label="no-triage")
OUT = "The issue carries the project's opt-out label."
NOT_IN = "The issue does not carry the project's opt-in label."
AUTOMATIC = (Trigger.OPENED, Trigger.REOPENED, Trigger.EDITED, Trigger.REPORTER_ANSWER)


NUMBERS = count(5_000)
"""Ids of comments."""


def comment(
    body: str, by: str = "mona", hours_ago: float = 1, *, bot: bool = False, comment_id: int | None = None
) -> IssueComment:
    at = NOW - timedelta(hours=hours_ago)
    number = next(NUMBERS) if comment_id is None else comment_id
    return IssueComment(author=by, body=body, created_at=at, by_bot=bot, comment_id=number)


def repeat(number: int, body: str, **options: Any) -> list[IssueComment]:
    return [comment(body, **options) for _ in range(number)]


def ours(hours_ago: float = 30, **state: Any) -> IssueComment:
    """Our comment, which remembers this."""
    body = render_state(CommentState(**state))
    written = comment(body, "github-actions[bot]", hours_ago, bot=True, comment_id=1_000)
    return written.model_copy(update={"ours": True})


ASKS = ours(asked=["version"])


def issue(*thread: IssueComment, **fields: Any) -> Issue:
    return Issue(number=7, title="It breaks", author="mona", thread=list(thread), **fields)


def task(trigger: Trigger, actor: str = "mona") -> TriageTask:
    return TriageTask(number=7, trigger=trigger, actor=actor)


COMMAND = task(Trigger.COMMAND)
ANSWER = task(Trigger.REPORTER_ANSWER)
REPRODUCE = ReproduceTask(number=7, trigger=Trigger.COMMAND, actor="mona")


def check(
    requested: TriageTask | ReproduceTask | QuietTask,
    found: Issue,
    roles: Mapping[str, str] | None = None,
    config: ProjectConfig | None = None,
    answer: IssueComment | None = None,
    asked: list[str] | None = None,
) -> str:
    """Return why it is not carried out. `asked` gets the logins whose role was asked for."""

    def fetch_role(login: str) -> str:
        if asked is not None:
            asked.append(login)
        return (roles or {}).get(login, "none")

    event = Event(issue=found.model_copy(update={"thread": []}), comment=answer) if answer else None
    if isinstance(requested, QuietTask):
        return check_quiet(IssueRequest(requested, found, found, event, NOW), fetch_role)
    if isinstance(requested, ReproduceTask):
        request = IssueRequest(requested, found, found, event, NOW)
        return check_reproduce(request, fetch_role, config or ProjectConfig())
    return check_triage(IssueRequest(requested, found, found, event, NOW), fetch_role, config or ProjectConfig())


def list_asked(
    requested: TriageTask | ReproduceTask | QuietTask, found: Issue, config: ProjectConfig | None = None
) -> list[str]:
    asked: list[str] = []
    check(requested, found, config=config, asked=asked)
    return asked


@each_row(
    ("found", "words"),
    [
        (issue(ASKS), ""),
        (issue(ASKS, is_pull_request=True), "Pull requests are not triaged."),
        (issue(ASKS, locked=True), "The issue is locked."),
        (issue(ASKS, labels=["No-Triage", "triage"]), OUT),
        (issue(ASKS, labels=["TRIAGE"]), ""),
    ],
)
@each_row("trigger", list(Trigger))
def test_every_trigger(trigger: Trigger, found: Issue, words: str) -> None:
    assert check(task(trigger), found, config=OPTS if found.labels else None) == words


class TestCommand:
    @each_row("role", ["admin", "maintain", "write", "triage", "read", "none", "", "Admin"])
    def test_others_need_write_access(self, role: str) -> None:
        words = check(task(Trigger.COMMAND, "hubot"), issue(), {"hubot": role})
        assert words == ("" if role in ("admin", "maintain", "write") else NEEDS_RIGHT)

    def test_the_author_needs_no_role(self) -> None:
        assert check(task(Trigger.COMMAND, "Mona"), issue()) == ""

    def test_an_unknown_author_has_no_rights(self) -> None:
        assert check(task(Trigger.COMMAND, ""), issue().model_copy(update={"author": ""})) == NEEDS_RIGHT

    def test_a_command_lifts_quiet(self) -> None:
        assert check(COMMAND, issue(ours(quiet=True))) == ""

    def test_a_request_by_number_ignores_earlier_runs(self) -> None:
        found = issue(ours(quiet=True, text_hash=TEXT), author_is_bot=True)
        assert check(task(Trigger.BY_NUMBER), found) == ""


class TestAutomaticRuns:
    @each_row(
        ("trigger", "remembered", "words"),
        [
            *((trigger, ours(quiet=True, asked=["version"]), QUIET) for trigger in AUTOMATIC),
            (Trigger.EDITED, ours(text_hash=TEXT), SAME_TEXT),
            (Trigger.LABELED, ours(text_hash=TEXT), SAME_TEXT),
            (Trigger.REOPENED, ours(text_hash=TEXT), ""),
            (Trigger.REOPENED, ours(2, text_hash=TEXT), f"{SAME_TEXT[:-1]}, which is less than a day old."),
            (Trigger.REOPENED, ours(2), ""),
            (Trigger.EDITED, ours(), ""),
            (Trigger.REPORTER_ANSWER, ours(), "No question to the issue's author is open."),
            (Trigger.REPORTER_ANSWER, ASKS, ""),
        ],
    )
    def test_reasons_from_earlier_runs(self, trigger: Trigger, remembered: IssueComment, words: str) -> None:
        assert check(task(trigger), issue(remembered)) == words

    @each_row(("body", "answers"), [("It is version 3.", True), ("Me too.", False)])
    def test_a_comment_must_answer_what_was_asked(self, body: str, *, answers: bool) -> None:
        answer = comment(body, comment_id=2_000)
        words = check(ANSWER, issue(ASKS, answer), answer=answer)
        assert words == ("" if answers else "The comment answers no question to the issue's author.")

    @pytest.mark.parametrize("trigger", AUTOMATIC)
    def test_not_for_bots(self, trigger: Trigger) -> None:
        words = check(task(trigger), issue(ASKS, author_is_bot=True))
        assert words == "Issues that a bot opened are not triaged on their own."


class TestQuiet:
    REQUESTED = QuietTask(number=7, actor="mona")

    @each_row("role", ["write", "triage", "none"])
    def test_quiet_needs_write_access_even_from_the_author(self, role: str) -> None:
        words = check(self.REQUESTED, issue(), {"mona": role}, OPTS)
        assert words == ("" if role == "write" else "`/triage quiet` needs write access to the repository.")

    @each_row("role", ["write", "triage", "read", "none"])
    def test_wrong_needs_triage_rights_also_on_a_quiet_issue(self, role: str) -> None:
        requested = self.REQUESTED.model_copy(update={"wrong": ["place"]})
        words = check(requested, issue(ours(quiet=True)), {"mona": role})
        assert words == ("" if role in ("write", "triage") else "`/triage wrong` is for people with triage rights.")

    def test_once_is_enough(self) -> None:
        assert check(self.REQUESTED, issue(ours(quiet=True)), {"mona": "admin"}) == "The issue is already quiet."

    def test_not_on_a_locked_issue(self) -> None:
        assert check(self.REQUESTED, issue(locked=True), {"mona": "admin"})


class TestRunLimit:
    """The thread holds the comment that is being answered."""

    @each_row(
        ("thread", "words"),
        [
            (repeat(3, "/triage"), ""),
            (repeat(4, "/triage"), TOO_OFTEN),
            ([*repeat(9, "/triage", hours_ago=24.01), comment("/triage")], ""),
            (repeat(4, "/triage", hours_ago=-5), TOO_OFTEN),  # a wrong clock does not help
            ([*repeat(50, "/triage", by="troll"), comment("/triage")], ""),
            ([*repeat(4, "/triage", by="x[bot]", bot=True), comment("/triage")], ""),
            ([*repeat(4, "/triage quiet"), *repeat(4, "/triage fix"), *repeat(4, "> /triage"), comment("/triage")], ""),
        ],
    )
    def test_commands(self, thread: Sequence[IssueComment], words: str) -> None:
        assert check(COMMAND, issue(ours(0), *thread), {"troll": "read", "x[bot]": "admin"}) == words

    def test_commands_of_others_use_nothing_up_and_stop_nobody_with_write_access(self) -> None:
        found = issue(*(comment("/triage", by) for by in ("mona", "ann", "ben", "ben", "ben", "ben")))
        assert check(COMMAND, found, {"ann": "write", "ben": "admin"}) == ""
        assert check(task(Trigger.COMMAND, "ben"), found, {"ben": "admin"}) == ""

    def test_answers_count_once_they_had_their_run(self) -> None:
        at = int((NOW - timedelta(hours=1)).timestamp())
        remembered = ours(asked=["version"], runs=[f"{at}.11", f"{at}.12"])
        command, answer = comment("/triage"), comment("version 3")
        assert check(ANSWER, issue(remembered, answer), answer=answer) == ""
        assert check(ANSWER, issue(remembered, command, answer), answer=answer) == TOO_OFTEN

    def test_opening_and_editing_are_not_counted(self) -> None:
        assert check(task(Trigger.EDITED), issue(*repeat(9, "/triage"))) == ""

    def test_later_comments_do_not_count(self) -> None:
        """Five commands at once: the first three have their runs, whoever reads the thread first."""
        thread = [comment("/triage", comment_id=number) for number in range(1, 6)]
        found = [check(COMMAND, issue(*thread), answer=one) for one in thread]
        assert found == ["", "", "", TOO_OFTEN, TOO_OFTEN]


class TestRememberedRuns:
    """Commands that were deleted or edited since; our comment remembers that they were run."""

    @each_row(
        ("ids", "hours_ago", "thread", "words"),
        [
            ((1, 2), 1, (), ""),
            ((1, 2, 3), 1, (), TOO_OFTEN),
            ((1, 2), 1, (1, 2), ""),
            ((2, 3), 1, (1, 2), TOO_OFTEN),
            ((1, 2, 3), 25, (), ""),
            ((0, 0, 0, 0), 1, (), ""),  # edits of the text are no commands
            ((1, 2, 99), 1, (), ""),  # a restarted run counts once
        ],
    )
    @each_row("requested", [COMMAND, ANSWER])
    def test_count(
        self, requested: TriageTask, ids: Sequence[int], hours_ago: float, thread: Sequence[int], words: str
    ) -> None:
        at = int((NOW - timedelta(hours=hours_ago)).timestamp())
        remembered = ours(asked=["version"], runs=[f"{at + place}.{number}" for place, number in enumerate(ids)])
        trigger = comment("/triage" if requested is COMMAND else "version 3", comment_id=99)
        earlier = [comment("/triage", comment_id=number) for number in thread]
        assert check(requested, issue(remembered, *earlier, trigger), answer=trigger) == words


class TestReproduce:
    """Its commands have the limit of a triage's. Triage rights suffice; the author needs the opt-in label."""

    @each_row("role", ["admin", "triage", "read", "none"])
    @each_row("labels", [[], ["no-triage"]])
    def test_people_with_triage_rights(self, role: str, labels: list[str]) -> None:
        requested = REPRODUCE.model_copy(update={"actor": "hubot"})
        allowed = check(requested, issue(labels=labels), {"hubot": role}, OPTS) == ""
        assert allowed is (role in ("admin", "triage"))

    @each_row(("config", "labels", "allowed"), [(OPTS, ["Triage"], True), (OPTS, [], False), (None, ["triage"], False)])
    def test_the_author(self, config: ProjectConfig | None, labels: list[str], *, allowed: bool) -> None:
        assert (check(REPRODUCE, issue(labels=labels), config=config) == "") is allowed

    def test_an_opened_issue_needs_the_opt_in_label(self) -> None:
        opened = ReproduceTask(number=7, trigger=Trigger.OPENED)
        assert check(opened, issue(), config=OPTS) == NOT_IN
        assert check(opened, issue(labels=["triage"]), config=OPTS) == ""

    @each_row(("commands", "allowed"), [(("/triage", "/triage reproduce"), True), (("/triage reproduce",) * 4, False)])
    @each_row("requested", [REPRODUCE, COMMAND])
    def test_the_limit_is_the_same_for_both(
        self, requested: TriageTask | ReproduceTask, commands: tuple[str, ...], *, allowed: bool
    ) -> None:
        found = issue(*map(comment, commands), labels=["triage"])
        assert check(requested, found, config=OPTS) == ("" if allowed else TOO_OFTEN)


class TestAskedRoles:
    """Each is a request to GitHub."""

    @each_row(
        ("requested", "thread", "asked"),
        [
            (task(Trigger.OPENED, "ann"), [comment("/triage", "ben")], []),
            (task(Trigger.EDITED, "ann"), [comment("/triage", "ben")], []),
            (task(Trigger.BY_NUMBER, "ann"), [comment("/triage", "ben")], []),
            (COMMAND, [comment("/triage")], []),
            (REPRODUCE, [comment("/triage reproduce", "ben")], ["mona"]),
            (task(Trigger.COMMAND, "dee"), [comment("/triage", "ann"), comment("hi", "cy")], ["dee"]),
            (QuietTask(number=7, actor="mona"), [comment("/triage", "ann")], ["mona"]),
        ],
    )
    def test_only_that_of_who_commands(
        self, requested: TriageTask | ReproduceTask | QuietTask, thread: Sequence[IssueComment], asked: list[str]
    ) -> None:
        assert list_asked(requested, issue(*thread)) == asked

    def test_the_authors_counts_only_against_a_label(self) -> None:
        assert list_asked(COMMAND, issue(labels=["triage"]), OPTS) == []
        assert list_asked(COMMAND, issue(), OPTS) == ["mona"]


class TestLabels:
    @pytest.mark.parametrize("trigger", list(Trigger))
    def test_without_the_opt_in_label_only_a_request_by_number_passes(self, trigger: Trigger) -> None:
        words = check(task(trigger), issue(ASKS, labels=["bug"]), config=OPTS)
        assert words == ("" if trigger is Trigger.BY_NUMBER else NOT_IN)

    @each_row("labels", [[], ["no-triage"]])
    @each_row("actor", ["mona", "hubot"])
    @each_row(("role", "passes"), [("write", True), ("triage", False), ("none", False)])
    def test_only_a_command_by_somebody_with_write_access_passes_a_label(
        self, labels: list[str], actor: str, role: str, *, passes: bool
    ) -> None:
        words = check(task(Trigger.COMMAND, actor), issue(labels=labels), {actor: role}, OPTS)
        assert (words == "") is passes

    @each_row(
        ("label", "config", "words"),
        [
            ("Triage", OPTS, ""),
            ("TRIAGE", OPTS, ""),
            ("docs", OPTS, "Only the opt-in label starts a triage."),
            ("", OPTS, "Only the opt-in label starts a triage."),
            ("", ProjectConfig(opt_out_label="x"), "Labels do not start a triage."),
        ],
    )
    def test_which_added_label_starts_a_triage(self, label: str, config: ProjectConfig, words: str) -> None:
        labeled = task(Trigger.LABELED).model_copy(update={"added_label": label})
        assert check_added_label(labeled, config) == words
