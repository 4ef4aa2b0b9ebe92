"""Who may start a run, and how often."""

from datetime import UTC, datetime, timedelta

import pytest

from testing.each_row import each_row
from triage.domain.effect import COMMENT_MARKER
from triage.domain.issue import Issue, IssueComment
from triage.domain.project_config import ProjectConfig
from triage.domain.task import QuietTask, ReproduceTask, RunKey, Skip, Task, TriageTask, Trigger
from triage.run.may_run.admission import RememberedFacts, check_allowed, logins_to_check

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
TOO_OFTEN = "This issue has had its 3 runs by command or answer in 24 hours."
NEEDS_RIGHT = "`/triage` is for the issue's author and for people with write access to the repository."


def comment(
    body: str, by: str = "mona", hours_ago: float = 1, *, ours: bool = False, bot: bool = False
) -> IssueComment:
    return IssueComment(author=by, body=body, created_at=NOW - timedelta(hours=hours_ago), ours=ours, by_bot=bot)


OUR_COMMENT = comment(f"{COMMENT_MARKER} x -->", "github-actions[bot]", 30, ours=True, bot=True)


def issue(*thread: IssueComment, locked: bool = False, pull: bool = False, by_bot: bool = False) -> Issue:
    return Issue(
        number=7,
        title="It breaks",
        author="mona",
        thread=list(thread),
        locked=locked,
        is_pull_request=pull,
        author_is_bot=by_bot,
    )


def task(trigger: Trigger, actor: str = "mona") -> TriageTask:
    return TriageTask(number=7, trigger=trigger, actor=actor)


def reason(outcome: Task | ReproduceTask) -> str:
    return outcome.reason if isinstance(outcome, Skip) else ""


OPTS = ProjectConfig(opt_in_label="triage", opt_out_label="no-triage")
OUT = "The issue carries the project's opt-out label."
NOT_IN = "The issue does not carry the project's opt-in label."


def labelled(*labels: str) -> Issue:
    return issue().model_copy(update={"labels": list(labels)})


@pytest.mark.parametrize("trigger", list(Trigger))
class TestEveryTrigger:
    def test_passes_a_plain_issue(self, trigger: Trigger) -> None:
        requested = task(trigger)
        assert check_allowed(requested, issue(), NOW, earlier=RememberedFacts(has_open_questions=True)) == requested

    def test_a_pull_request_is_skipped(self, trigger: Trigger) -> None:
        assert reason(check_allowed(task(trigger), issue(pull=True), NOW)) == "Pull requests are not triaged."

    def test_a_locked_issue_is_skipped(self, trigger: Trigger) -> None:
        assert reason(check_allowed(task(trigger), issue(locked=True), NOW)) == "The issue is locked."


class TestCommand:
    @each_row(
        ("role", "allowed"),
        [
            ("admin", True),
            ("maintain", True),
            ("write", True),
            ("triage", False),
            ("read", False),
            ("none", False),
            ("", False),
            ("Admin", False),
        ],
    )
    def test_others_need_write_access(self, role: str, allowed: bool) -> None:
        outcome = check_allowed(task(Trigger.COMMAND, "hubot"), issue(), NOW, {"hubot": role})
        assert reason(outcome) == ("" if allowed else NEEDS_RIGHT)

    def test_a_login_without_a_known_role_has_no_rights(self) -> None:
        assert reason(check_allowed(task(Trigger.COMMAND, "hubot"), issue(), NOW)) == NEEDS_RIGHT

    def test_the_author_needs_no_role(self) -> None:
        assert isinstance(check_allowed(task(Trigger.COMMAND, "Mona"), issue(), NOW), TriageTask)

    def test_an_unknown_author_has_no_rights(self) -> None:
        nameless = issue().model_copy(update={"author": ""})
        assert reason(check_allowed(task(Trigger.COMMAND, ""), nameless, NOW)) == NEEDS_RIGHT

    def test_a_command_lifts_quiet(self) -> None:
        assert isinstance(
            check_allowed(task(Trigger.COMMAND), issue(), NOW, earlier=RememberedFacts(is_quiet=True)), TriageTask
        )

    def test_a_request_by_number_ignores_earlier_runs(self) -> None:
        earlier = RememberedFacts(is_quiet=True, has_same_text=True)
        assert isinstance(check_allowed(task(Trigger.REQUESTED), issue(by_bot=True), NOW, earlier=earlier), TriageTask)


class TestAutomaticRuns:
    @each_row(
        ("trigger", "earlier", "words"),
        [
            (Trigger.OPENED, RememberedFacts(is_quiet=True), "`/triage quiet` was said on this issue."),
            (Trigger.REOPENED, RememberedFacts(is_quiet=True), "`/triage quiet` was said on this issue."),
            (Trigger.EDITED, RememberedFacts(is_quiet=True), "`/triage quiet` was said on this issue."),
            (
                Trigger.REPORTER_REPLY,
                RememberedFacts(is_quiet=True, has_open_questions=True),
                "`/triage quiet` was said on this issue.",
            ),
            (Trigger.EDITED, RememberedFacts(has_same_text=True), "The issue's text is the one of the last triage."),
            (Trigger.REOPENED, RememberedFacts(has_same_text=True), ""),
            (Trigger.EDITED, RememberedFacts(), ""),
            (Trigger.REPORTER_REPLY, RememberedFacts(), "No question to the issue's author is open."),
            (Trigger.REPORTER_REPLY, RememberedFacts(has_open_questions=True), ""),
            (
                Trigger.REPORTER_REPLY,
                RememberedFacts(has_open_questions=True, is_answer=False),
                "The comment answers no question to the issue's author.",
            ),
        ],
    )
    def test_reasons_from_earlier_runs(self, trigger: Trigger, earlier: RememberedFacts, words: str) -> None:
        assert reason(check_allowed(task(trigger), issue(), NOW, earlier=earlier)) == words

    @pytest.mark.parametrize("trigger", [Trigger.OPENED, Trigger.REOPENED, Trigger.EDITED, Trigger.REPORTER_REPLY])
    def test_not_for_bots(self, trigger: Trigger) -> None:
        outcome = check_allowed(
            task(trigger), issue(by_bot=True), NOW, earlier=RememberedFacts(has_open_questions=True)
        )
        assert reason(outcome) == "Issues that a bot opened are not triaged on their own."


class TestQuiet:
    @pytest.mark.parametrize(
        ("role", "words"),
        [("write", ""), ("triage", "`/triage quiet` needs write access"), (None, "`/triage quiet` needs write access")],
    )
    def test_quiet_needs_write_access_even_from_the_author(self, role: str | None, words: str) -> None:
        outcome = check_allowed(QuietTask(number=7, actor="mona"), issue(), NOW, {"mona": role} if role else {})
        assert reason(outcome).startswith(words)
        assert bool(reason(outcome)) == bool(words)

    @pytest.mark.parametrize(("role", "may"), [("write", True), ("triage", True), ("read", False), (None, False)])
    def test_wrong_needs_triage_rights_also_on_a_quiet_issue(self, role: str | None, may: bool) -> None:
        task = QuietTask(number=7, actor="mona", wrong=["place"])
        outcome = check_allowed(task, issue(), NOW, {"mona": role} if role else {}, RememberedFacts(is_quiet=True))
        assert reason(outcome) == ("" if may else "`/triage wrong` is for people with triage rights.")

    def test_once_is_enough(self) -> None:
        outcome = check_allowed(
            QuietTask(number=7, actor="mona"), issue(), NOW, {"mona": "admin"}, RememberedFacts(is_quiet=True)
        )
        assert reason(outcome) == "The issue is already quiet."

    def test_not_on_a_locked_issue(self) -> None:
        assert reason(check_allowed(QuietTask(number=7, actor="m"), issue(locked=True), NOW, {"m": "admin"}))


class TestRunLimit:
    """The thread holds the comment that is being answered."""

    COMMAND = task(Trigger.COMMAND)

    def test_the_third_passes_and_the_fourth_does_not(self) -> None:
        third = issue(*[comment("/triage") for _ in range(3)])
        fourth = issue(*[comment("/triage") for _ in range(4)])
        assert check_allowed(self.COMMAND, third, NOW) == self.COMMAND
        assert reason(check_allowed(self.COMMAND, fourth, NOW)) == TOO_OFTEN

    def test_runs_of_yesterday_do_not_count(self) -> None:
        old = [comment("/triage", hours_ago=24.01) for _ in range(9)]
        assert check_allowed(self.COMMAND, issue(*old, comment("/triage")), NOW) == self.COMMAND

    def test_a_wrong_clock_does_not_help(self) -> None:
        ahead = [comment("/triage", hours_ago=-5) for _ in range(4)]
        assert reason(check_allowed(self.COMMAND, issue(*ahead), NOW)) == TOO_OFTEN

    def test_a_comment_without_time_counts(self) -> None:
        timeless = [IssueComment(author="mona", body="/triage") for _ in range(4)]
        assert reason(check_allowed(self.COMMAND, issue(*timeless), NOW)) == TOO_OFTEN

    def test_commands_of_all_authorised_people_count_for_the_author_and_stop_nobody_with_write_access(self) -> None:
        thread = [
            comment("/triage", "mona"),
            comment("/triage", "ann"),
            comment("/triage", "ben"),
            comment("/triage", "ben"),
        ]
        roles = {"ann": "write", "ben": "admin"}
        assert reason(check_allowed(task(Trigger.COMMAND, "mona"), issue(*thread), NOW, roles)) == TOO_OFTEN
        by_writer = task(Trigger.COMMAND, "ben")
        assert check_allowed(by_writer, issue(*thread), NOW, roles) == by_writer

    def test_strangers_cannot_use_up_the_runs(self) -> None:
        thread = [*[comment("/triage", "troll") for _ in range(50)], comment("/triage")]
        assert check_allowed(self.COMMAND, issue(*thread), NOW, {"troll": "read"}) == self.COMMAND

    def test_bots_and_other_commands_do_not_count(self) -> None:
        others = [
            comment("/triage", "x[bot]", bot=True),
            comment("/triage quiet"),
            comment("/triage fix"),
            comment("> /triage"),
        ]
        thread = [OUR_COMMENT.model_copy(update={"created_at": NOW}), *others * 4, comment("/triage")]
        assert check_allowed(self.COMMAND, issue(*thread), NOW, {"x[bot]": "admin"}) == self.COMMAND

    def test_answers_count_against_the_same_three(self) -> None:
        thread = [OUR_COMMENT, comment("/triage"), comment("version 3"), comment("on Linux"), comment("and that")]
        outcome = check_allowed(
            task(Trigger.REPORTER_REPLY), issue(*thread), NOW, earlier=RememberedFacts(has_open_questions=True)
        )
        assert reason(outcome) == TOO_OFTEN
        assert isinstance(
            check_allowed(
                task(Trigger.REPORTER_REPLY), issue(*thread[:-1]), NOW, earlier=RememberedFacts(has_open_questions=True)
            ),
            TriageTask,
        )

    def test_comments_before_our_first_comment_are_not_answers(self) -> None:
        ours = OUR_COMMENT.model_copy(update={"created_at": NOW - timedelta(hours=2)})
        before = [comment("more details", hours_ago=3) for _ in range(9)]
        outcome = check_allowed(
            task(Trigger.REPORTER_REPLY),
            issue(*before, ours, comment("version 3")),
            NOW,
            earlier=RememberedFacts(has_open_questions=True),
        )
        assert isinstance(outcome, TriageTask)

    def test_opening_and_editing_are_not_counted(self) -> None:
        issue_with_many_commands = issue(*[comment("/triage") for _ in range(9)])
        assert isinstance(check_allowed(task(Trigger.EDITED), issue_with_many_commands, NOW), TriageTask)


class TestReproduce:
    """Its commands have the limit of a triage's. Triage rights suffice; the author needs the opt-in label."""

    REQUESTED = ReproduceTask(number=7, trigger=Trigger.COMMAND, actor="mona")

    @each_row(("role", "allowed"), [("admin", True), ("triage", True), ("read", False), ("none", False)])
    @each_row("labels", [(), ("no-triage",)])
    def test_people_with_triage_rights(self, role: str, *, allowed: bool, labels: tuple[str, ...]) -> None:
        requested = self.REQUESTED.model_copy(update={"actor": "hubot"})
        outcome = check_allowed(requested, labelled(*labels), NOW, {"hubot": role}, config=OPTS)
        assert (outcome == requested) is allowed

    @each_row(
        ("config", "labels", "allowed"), [(OPTS, ("Triage",), True), (OPTS, (), False), (None, ("triage",), False)]
    )
    def test_the_author(self, config: ProjectConfig | None, labels: tuple[str, ...], *, allowed: bool) -> None:
        outcome = check_allowed(self.REQUESTED, labelled(*labels), NOW, config=config or ProjectConfig())
        assert (outcome == self.REQUESTED) is allowed

    def test_an_opened_issue_needs_the_opt_in_label(self) -> None:
        opened = ReproduceTask(number=7, trigger=Trigger.OPENED)
        assert reason(check_allowed(opened, labelled(), NOW, config=OPTS)) == NOT_IN
        assert check_allowed(opened, labelled("triage"), NOW, config=OPTS) == opened

    @each_row(("commands", "allowed"), [(("/triage", "/triage reproduce"), True), (("/triage reproduce",) * 4, False)])
    def test_the_limit_is_the_same_for_both(self, commands: tuple[str, ...], *, allowed: bool) -> None:
        present = issue(*map(comment, commands)).model_copy(update={"labels": ["triage"]})
        for requested in (self.REQUESTED, task(Trigger.COMMAND)):
            outcome = check_allowed(requested, present, NOW, config=OPTS)
            assert reason(outcome) == ("" if allowed else TOO_OFTEN)

    def test_what_nobody_ran_does_not_count_against_a_triage(self) -> None:
        thread = [*[comment("/triage reproduce") for _ in range(9)], comment("/triage")]
        assert check_allowed(task(Trigger.COMMAND), issue(*thread), NOW) == task(Trigger.COMMAND)

    def test_the_authors_role_may_count(self) -> None:
        assert logins_to_check(self.REQUESTED, issue(comment("/triage reproduce")), NOW) == ["mona"]
        assert logins_to_check(task(Trigger.COMMAND), issue(comment("/triage reproduce", "ben")), NOW) == ["ben"]


class TestLoginsToCheck:
    def test_no_roles_are_needed_for_automatic_runs(self) -> None:
        for trigger in (Trigger.OPENED, Trigger.EDITED, Trigger.REOPENED, Trigger.REQUESTED):
            assert logins_to_check(task(trigger, "ann"), issue(comment("/triage", "ben")), NOW) == []

    def test_the_authors_role_is_not_needed_for_a_command(self) -> None:
        assert logins_to_check(task(Trigger.COMMAND), issue(comment("/triage")), NOW) == []

    def test_the_commanding_login_comes_first(self) -> None:
        thread = [
            comment("/triage", "ann"),
            comment("hello", "cy"),
            comment("/triage", "ben"),
            comment("/triage", "old", 25),
        ]
        assert logins_to_check(task(Trigger.COMMAND, "dee"), issue(*thread), NOW) == ["dee", "ben", "ann"]

    def test_the_authors_role_is_needed_for_quiet(self) -> None:
        assert logins_to_check(QuietTask(number=7, actor="mona"), issue(comment("/triage", "ann")), NOW) == ["mona"]

    def test_role_lookups_are_limited(self) -> None:
        crowd = issue(*[comment("/triage", f"user{number}") for number in range(500)])
        assert len(logins_to_check(task(Trigger.COMMAND, "ann"), crowd, NOW)) == 10


class TestLabels:
    @pytest.mark.parametrize("trigger", list(Trigger))
    def test_the_opt_out_label_stops_everything(self, trigger: Trigger) -> None:
        outcome = check_allowed(
            task(trigger),
            labelled("triage", "No-Triage"),
            NOW,
            earlier=RememberedFacts(has_open_questions=True),
            config=OPTS,
        )
        assert reason(outcome) == OUT

    @pytest.mark.parametrize("trigger", list(Trigger))
    def test_without_the_opt_in_label_only_a_request_by_number_passes(self, trigger: Trigger) -> None:
        outcome = check_allowed(
            task(trigger), labelled("bug"), NOW, earlier=RememberedFacts(has_open_questions=True), config=OPTS
        )
        assert reason(outcome) == ("" if trigger is Trigger.REQUESTED else NOT_IN)

    @pytest.mark.parametrize("trigger", list(Trigger))
    def test_with_the_opt_in_label_everything_is_as_usual(self, trigger: Trigger) -> None:
        requested = task(trigger)
        assert (
            check_allowed(
                requested, labelled("TRIAGE"), NOW, earlier=RememberedFacts(has_open_questions=True), config=OPTS
            )
            == requested
        )

    @each_row("labels", [(), ("no-triage",)])
    @each_row("actor", ["mona", "hubot"])
    @each_row(("role", "passes"), [("write", True), ("triage", False), ("none", False)])
    def test_only_a_command_by_somebody_with_write_access_passes_a_label(
        self, labels: tuple[str, ...], actor: str, role: str, passes: bool
    ) -> None:
        requested, found = task(Trigger.COMMAND, actor), labelled(*labels)
        assert logins_to_check(requested, found, NOW, OPTS) == [actor], "the author's role counts too"
        assert isinstance(check_allowed(requested, found, NOW, {actor: role}, config=OPTS), TriageTask) is passes

    def test_the_authors_role_is_not_looked_up_without_need(self) -> None:
        assert logins_to_check(task(Trigger.COMMAND), labelled("triage"), NOW, OPTS) == []

    def test_quiet_needs_no_label(self) -> None:
        requested = QuietTask(number=7, actor="hubot")
        assert check_allowed(requested, labelled(), NOW, {"hubot": "write"}, config=OPTS) == requested

    def test_adding_the_label_to_a_triaged_issue_starts_nothing(self) -> None:
        outcome = check_allowed(
            task(Trigger.LABELED), labelled("triage"), NOW, earlier=RememberedFacts(has_same_text=True), config=OPTS
        )
        assert reason(outcome) == "The issue's text is the one of the last triage."


class TestRememberedRuns:
    """Commands that were deleted or edited since; our comment remembers that they were run."""

    def remember_runs(self, *ids: int, hours_ago: float = 1) -> RememberedFacts:
        return RememberedFacts(
            has_open_questions=True,
            runs=[RunKey(at=NOW - timedelta(hours=hours_ago), comment_id=number) for number in ids],
        )

    def skip_reason(
        self, earlier: RememberedFacts, *thread: IssueComment, requested: int = 99, trigger: Trigger = Trigger.COMMAND
    ) -> str:
        present = issue(*thread, comment("/triage").model_copy(update={"comment_id": requested}))
        return reason(
            check_allowed(task(trigger), present, NOW, {"ann": "write"}, earlier, trigger_comment_id=requested)
        )

    @pytest.mark.parametrize("trigger", [Trigger.COMMAND, Trigger.REPORTER_REPLY])
    def test_count(self, trigger: Trigger) -> None:
        assert self.skip_reason(self.remember_runs(1, 2), trigger=trigger) == ""
        assert self.skip_reason(self.remember_runs(1, 2, 3), trigger=trigger) == TOO_OFTEN

    def test_remembered_runs_and_comments_count_once(self) -> None:
        thread = [comment("/triage").model_copy(update={"comment_id": number}) for number in (1, 2)]
        assert self.skip_reason(self.remember_runs(1, 2), *thread) == ""
        assert self.skip_reason(self.remember_runs(2, 3), *thread) == TOO_OFTEN

    def test_remembered_runs_count_for_a_day_and_for_everybody(self) -> None:
        assert self.skip_reason(self.remember_runs(1, 2, 3, hours_ago=25)) == ""
        assert self.skip_reason(self.remember_runs(0, 0, 0, 0)) == "", "edits of the text are no commands"

    def test_a_restarted_run_counts_once(self) -> None:
        assert self.skip_reason(self.remember_runs(1, 2, 99)) == ""

    def test_later_comments_do_not_count(self) -> None:
        """Five commands at once: the first three have their runs, whoever reads the thread first."""
        thread = [comment("/triage").model_copy(update={"comment_id": number}) for number in range(1, 6)]
        present = issue(*thread)
        outcomes = [
            reason(check_allowed(task(Trigger.COMMAND), present, NOW, trigger_comment_id=number))
            for number in range(1, 6)
        ]
        assert outcomes == ["", "", "", TOO_OFTEN, TOO_OFTEN]


@pytest.mark.parametrize(
    ("earlier", "words"),
    [
        (RememberedFacts(has_same_text=True, is_recent=True), "which is less than a day old."),
        (RememberedFacts(has_same_text=True), ""),
        (RememberedFacts(is_recent=True), ""),
    ],
)
def test_reopening_an_issue_that_was_just_triaged(earlier: RememberedFacts, words: str) -> None:
    assert reason(check_allowed(task(Trigger.REOPENED), issue(), NOW, earlier=earlier)).endswith(words)
    assert bool(reason(check_allowed(task(Trigger.REOPENED), issue(), NOW, earlier=earlier))) == bool(words)
