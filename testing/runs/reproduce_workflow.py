"""The jobs of `.github/workflows/reproduce.yml` on loopback, with a checkout and a registry of a small project."""

from dataclasses import dataclass

from testing.comment_parts import CommentParts, split_comment
from testing.runs.jobs_on_loopback import JobsOnLoopback


@dataclass
class ReproduceWorkflow(JobsOnLoopback):
    """One method per job."""

    def run(self, stage: str, **inputs: str) -> dict[str, str]:
        """Run one job of the flow. Return its outputs. Only `run` has no token."""
        return self.run_task(f"reproduce-{stage}", **({"github_token": ""} if stage == "run" else {}), **inputs)

    def run_all(self) -> str:
        """Run all jobs. Return the block of the comment; empty without a comment."""
        selected = self.run("select")
        task = selected["next-job"]
        if task == "run":
            self.run("run")
        if task:
            self.run("report", selection=selected["reproduce-selection"])
        return self.parts.reply or self.parts.reproduction

    @property
    def parts(self) -> CommentParts:
        ours = [one["body"] for one in self.api.comments if one["body"].startswith("<!-- bug-triage:")]
        assert len(ours) <= 1, "one comment"
        return split_comment(ours[0]) if ours else CommentParts()
