"""Our comment, written again and again around the example of a report: no part of it may change or grow."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from testing import factories
from testing.checkouts.git_repositories import commit
from testing.servers.github_api import SLUG
from triage.domain.effect import EditComment, Effect, Policy, PostComment
from triage.domain.issue import Issue, IssueComment, Repository
from triage.domain.report import RunReport
from triage.fix.jobs.fix_job import plan_proposal_part
from triage.reproduce.environments.source import Source
from triage.reproduce.pages import Pages
from triage.reproduce.render_evidence import render_evidence
from triage.run.write.plan_effects import PlanInput, plan_report
from triage.say.comment import read_parts
from triage.say.hidden_state import CommentState, render_state
from triage.say.our_comment import plan_comment_parts
from trust.measures.stranger_examples import FAILED, FORGED, SELECTED
from trust.report_builder import PAGE, build_report

PATCH = f"### Proposed patch\n\n[The diff]({PAGE}/compare/a...b)\n\n```diff\n+x\n```"
MARKS = (
    "<!-- bug-triage-proposal -->",
    render_state(CommentState(proposal="1" * 40)),
    "```\n<!-- bug-triage-proposal -->",
    "</details>\n\n<!-- bug-triage-proposal -->",
    "<!-- bug-triage-reproduction -->\n<!-- bug-triage-answer -->",
)
"""What divides comments of ours, of this version and of earlier ones."""


@cache
def _open_pages() -> Pages:
    with TemporaryDirectory() as folder:
        commit(Path(folder), {"shop/__init__.py": "x = 1\n"})
        return Pages(Source(Path(folder)), Repository(slug=SLUG, server_url="https://github.com"))


class RewrittenComment:
    """The comment of an issue on which a patch waits. `problems` has what a write did to other parts."""

    def __init__(self, words: str, choice: int) -> None:
        self.body, self.problems = "", list[str]()
        text = f"{MARKS[choice % len(MARKS)]}\n{words}"
        example = SELECTED.example.model_copy(update={"code": text})
        ran = FAILED.model_copy(update={"error": text, "output": text, "reason": words})
        evidence = FORGED.model_copy(update={"verdict": "still", "runs": [ran, ran.model_copy(update={"on": "2"})]})
        selected, pages = SELECTED.model_copy(update={"example": example}), _open_pages()
        block = render_evidence(selected, evidence, pages)
        self._report(build_report(words, choice))
        self._write(*plan_proposal_part(self._issue, PATCH, [f"{PAGE}/"], commit="1" * 40))
        self._write(plan_comment_parts(self._issue, {"reproduction": block}, {}, pages.links))
        first = read_parts(self.body)
        self._write(plan_comment_parts(self._issue, {"reproduction": block}, {}, pages.links))
        if (
            read_parts(self.body) != first
            or first.get("proposal") != PATCH
            or first["reproduction"] != block.strip("\n")
        ):
            self.problems.append("a part that was written again is another one")
        self._report(build_report(words, choice + 1))
        self._write(plan_comment_parts(self._issue, {"reply": "done"}, {}))
        kept = {name: text for name, text in first.items() if name not in ("report", "footer")}
        if not kept.items() <= read_parts(self.body).items():
            self.problems.append("a part is lost with a new report")

    @property
    def _issue(self) -> Issue:
        ours = IssueComment(author="github-actions[bot]", body=self.body, ours=True, by_bot=True, comment_id=1)
        return factories.issue(number=7, thread=[ours] if self.body else [])

    def _report(self, report: RunReport) -> None:
        issue = self._issue
        our_comment = issue.thread[0] if issue.thread else None
        report = report.model_copy(update={"comment_reason": "always"})
        plan_input = PlanInput(Policy(comment="always", labels="off"), issue, our_comment)
        self._write(*plan_report(report, plan_input))

    def _write(self, *effects: Effect) -> None:
        for effect in effects:
            if isinstance(effect, (PostComment, EditComment)):
                self.body = effect.body
