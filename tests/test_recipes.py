"""The scripts of the recipes in `examples/workflows/`, run with reports of this action, also hostile ones.

jq and curl are real, and so are the servers that curl reaches. `gh` is a stand-in that notes what it is asked.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trustme
import yaml

from testing.servers.mail_server import serve_mail
from testing.servers.scripted_server import ScriptedReply, serve_script
from tests.say.sample_reports import FULL, change_report
from triage.domain.code import Place, Span
from triage.domain.report import RunReport
from triage.say.comment import withhold_details

ROOT = Path(__file__).parents[1]
RECIPES = {
    name: ROOT / f"examples/workflows/{name}.yml"
    for name in ("hand-over", "project-board", "security-mailbox", "slack")
}
TITLE = "<!channel> \"; $(touch trapped) `touch trapped` ' \n::error::x & more"
HOSTILE = change_report(ticket=FULL.ticket.model_copy(update={"title": TITLE}))
SECRET_REPORT = withhold_details(change_report(security=True))
GH = """#!/bin/bash
{ printf '%s\\x1f' "$@"; echo; } >>"$GH_CALLS"
case "$*" in
  *--input*) cat >"$GH_CALLS.body"; reply=$(cat "$GH_REPLY") ;;
  *item-add*) reply='{"id": "ITEM"}' ;;
  *"project view"*) reply='{"id": "BOARD"}' ;;
  *field-list*) reply=$(cat "$GH_REPLY") ;;
esac
filter=.
while [ $# -gt 0 ]; do [ "$1" != --jq ] || filter=$2; shift; done
printf '%s' "$reply" | jq -r "$filter"
"""


@dataclass
class Recipe:
    """A workflow, and the folder in which its scripts run."""

    name: str
    folder: Path

    @property
    def jobs(self) -> dict[str, Any]:
        return dict(yaml.safe_load(RECIPES[self.name].read_text(encoding="utf-8"))["jobs"])

    def run(self, step: str, report: RunReport | None, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Runs the script of a step as the runner does. The variables are those of its `env:`."""
        (found,) = [one for job in self.jobs.values() for one in job["steps"] if one.get("name") == step]
        assert set(found.get("env", {})) <= set(variables), "a variable of the step is missing here"
        assert "${{" not in found["run"]
        (self.folder / ".triage").mkdir(exist_ok=True)
        if report:
            (self.folder / ".triage" / "report.json").write_text(report.model_dump_json(), encoding="utf-8")
        gh = self.folder / "bin" / "gh"
        gh.parent.mkdir(exist_ok=True)
        gh.write_text(GH)
        gh.chmod(0o755)
        own = {
            "PATH": f"{gh.parent}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_REPOSITORY": "acme/ledger",
            "GH_CALLS": str(self.folder / "calls"),
            "GH_REPLY": str(self.folder / "reply"),
        }
        script = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", found["run"]]
        return subprocess.run(
            script, cwd=self.folder, env=own | variables, capture_output=True, text=True, check=False, timeout=60
        )

    @property
    def calls(self) -> list[list[str]]:
        """What gh was asked."""
        path = self.folder / "calls"
        return [line.split("\x1f")[:-1] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.mark.parametrize("name", RECIPES)
def test_a_token_of_a_person_is_not_beside_the_text_of_an_issue(name: str) -> None:
    """The job that reads issues has the secrets of a webhook or a mailbox at most."""
    for job in Recipe(name, ROOT).jobs.values():
        reads_issues = any(step.get("id") == "triage" for step in job["steps"])
        secrets = set(re.findall(r"secrets\.(\w+)", yaml.safe_dump(job)))
        assert not (reads_issues and {secret for secret in secrets if "TOKEN" in secret})
        assert reads_issues or job["permissions"] == {}


class TestSlack:
    def send(self, folder: Path, report: RunReport, status: int = 200) -> tuple[int, list[dict[str, Any]]]:
        with serve_script(lambda _: ScriptedReply(status=status, body="ok")) as slack:
            done = Recipe("slack", folder).run("Write to Slack", report, SLACK_WEBHOOK_URL=f"{slack.url}/hook")
            return done.returncode, [request.body for request in slack.requests]

    def test_a_bug_is_sent(self, tmp_path: Path) -> None:
        code, (message,) = self.send(tmp_path, change_report())
        assert code == 0
        assert message == {"text": f"<{FULL.issue.url}|#412> {FULL.ticket.title.replace('>', '&gt;')} · severity HIGH"}

    def test_a_found_place_is_named(self, tmp_path: Path) -> None:
        found = Place(sign="trace", rule="frame", span=Span(path="src/a<b>.py", start=1, end=2))
        _, (message,) = self.send(tmp_path, change_report(severity=None, best_place=found))
        assert message["text"].endswith(f"{FULL.ticket.title} · probably src/a&lt;b&gt;.py")

    def test_a_strangers_words_are_no_command_of_slack_or_the_shell(self, tmp_path: Path) -> None:
        _, (message,) = self.send(tmp_path, HOSTILE)
        assert "<!" not in message["text"]
        assert "&lt;!channel&gt; \"; $(touch trapped) `touch trapped` ' ::error::x &amp; more" in message["text"]
        assert not list(tmp_path.rglob("trapped"))

    def test_nothing_of_a_security_report_is_sent(self, tmp_path: Path) -> None:
        _, (message,) = self.send(tmp_path, SECRET_REPORT)
        assert message == {"text": f"<{FULL.issue.url}|#412> Possible security report"}

    def test_a_feature_request_is_not_sent(self, tmp_path: Path) -> None:
        assert self.send(tmp_path, change_report(kind="feature_request")) == (0, [])

    def test_a_refusal_fails_the_step(self, tmp_path: Path) -> None:
        code, _ = self.send(tmp_path, change_report(), status=404)
        assert code != 0


class TestSecurityMailbox:
    VARIABLES: ClassVar = {"MAIL_FROM": "ci@example.com", "MAIL_TO": "security@example.com", "SMTP_USER": "ci"}
    PASSWORD = 'p"a\\ss $(touch trapped)'

    def test_a_link_and_no_word_of_the_issue(self, tmp_path: Path) -> None:
        authority = trustme.CA()
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        report = change_report(security=True, ticket=HOSTILE.ticket)
        with serve_mail(authority) as server:
            done = Recipe("security-mailbox", tmp_path).run(
                "Write to the security mailbox",
                report,
                **self.VARIABLES,
                SMTP_URL=server.url,
                SMTP_PASSWORD=self.PASSWORD,
                CURL_CA_BUNDLE=str(tmp_path / "ca.pem"),
            )
        assert done.returncode == 0, done.stderr
        assert server.logins == [f"ci:{self.PASSWORD}"]
        assert [line.split(" ")[1] for line in server.envelopes] == [
            "FROM:<ci@example.com>",
            "TO:<security@example.com>",
        ]
        (mail,) = server.mails
        head, _, body = mail.partition("\n\n")
        assert "Subject: Possible security report: acme/ledger#412" in head.splitlines()
        assert FULL.issue.url in body.splitlines()
        assert "touch" not in mail
        assert FULL.issue.title not in mail
        assert not list(tmp_path.rglob("trapped"))

    def test_other_issues_send_no_mail(self, tmp_path: Path) -> None:
        done = Recipe("security-mailbox", tmp_path).run(
            "Write to the security mailbox",
            change_report(),
            **self.VARIABLES,
            SMTP_URL="smtps://127.0.0.1:1",
            SMTP_PASSWORD="x",
        )
        assert done.returncode == 0
        assert not (tmp_path / "mail.txt").exists()


class TestProjectBoard:
    FIELDS: ClassVar[dict[str, Any]] = {
        "fields": [
            {"id": "F0", "name": "Title", "type": "ProjectV2Field"},
            {"id": "F1", "name": "Severity", "options": [{"id": "O1", "name": "Low"}, {"id": "O2", "name": "High"}]},
        ]
    }

    def add(self, folder: Path, severity: str, fields: object = FIELDS) -> tuple[Recipe, int, str]:
        recipe = Recipe("project-board", folder)
        (folder / "reply").write_text(json.dumps(fields))
        done = recipe.run(
            "Add the issue, and set the field Severity",
            None,
            GH_TOKEN="t",
            PROJECT="3",
            BOARD_OWNER="acme",
            ISSUE_URL="https://github.com/acme/ledger/issues/412",
            SEVERITY=severity,
        )
        return recipe, done.returncode, done.stdout

    def test_the_issue_gets_its_severity(self, tmp_path: Path) -> None:
        recipe, code, _ = self.add(tmp_path, "HIGH")
        assert code == 0
        assert recipe.calls[0][:6] == ["project", "item-add", "3", "--owner", "acme", "--url"]
        edit = recipe.calls[-1]
        assert edit[:2] == ["project", "item-edit"]
        assert dict(zip(edit[2::2], edit[3::2], strict=True)) == {
            "--id": "ITEM",
            "--project-id": "BOARD",
            "--field-id": "F1",
            "--single-select-option-id": "O2",
        }

    def test_without_a_severity_it_is_only_added(self, tmp_path: Path) -> None:
        recipe, code, _ = self.add(tmp_path, "")
        assert code == 0
        assert [call[1] for call in recipe.calls] == ["item-add"]

    @pytest.mark.parametrize("fields", [FIELDS, {"fields": []}], ids=["no option", "no field"])
    def test_a_board_without_the_field_says_what_to_do(self, tmp_path: Path, fields: object) -> None:
        recipe, code, log = self.add(tmp_path, "CRITICAL", fields)
        assert code == 1
        assert "::error::The project has no field Severity with the option CRITICAL. Add it" in log
        assert "item-edit" not in [call[1] for call in recipe.calls]


class TestHandOver:
    FILES = json.dumps(['src/a "b" $(touch trapped).py', "src/b.py", "src/c.py", "src/d.py"])

    def assign(self, folder: Path, logins: list[str]) -> tuple[Recipe, "subprocess.CompletedProcess[str]"]:
        recipe = Recipe("hand-over", folder)
        (folder / "reply").write_text(json.dumps({"assignees": [{"login": login} for login in logins]}))
        variables = {"GH_TOKEN": "t", "NUMBER": "412", "FILES": self.FILES, "BRANCH": "main"}
        return recipe, recipe.run("Assign the coding agent", None, **variables)

    def test_the_agent_gets_the_files_to_start_from(self, tmp_path: Path) -> None:
        recipe, done = self.assign(tmp_path, ["mona", "Copilot"])
        assert done.returncode == 0, done.stdout + done.stderr
        assert recipe.calls[0][:4] == ["api", "--method", "POST", "repos/acme/ledger/issues/412/assignees"]
        sent = json.loads((tmp_path / "calls.body").read_text())
        assert sent["assignees"] == ["copilot-swe-agent[bot]"]
        assert sent["agent_assignment"]["target_repo"] == "acme/ledger"
        assert sent["agent_assignment"]["base_branch"] == "main"
        instructions = sent["agent_assignment"]["custom_instructions"]
        assert json.loads(instructions[instructions.index("[") :]) == json.loads(self.FILES)[:3]
        assert not list(tmp_path.rglob("trapped"))

    def test_an_agent_that_was_not_assigned_is_an_error(self, tmp_path: Path) -> None:
        _, done = self.assign(tmp_path, ["mona"])
        assert done.returncode == 1
        assert "::error::GitHub did not assign the coding agent." in done.stdout

    @pytest.mark.parametrize(
        ("report", "code"),
        [(FULL, 0), (change_report(kind="question"), 1), (SECRET_REPORT, 1), (change_report(security=True), 1)],
        ids=["bug", "question", "withheld", "security"],
    )
    def test_what_is_not_handed_over(self, tmp_path: Path, report: RunReport, code: int) -> None:
        done = Recipe("hand-over", tmp_path).run("Stop at what an agent must not get", report)
        assert done.returncode == code
        assert ("::error::It is not sure that this is a bug" in done.stdout) == bool(code)

    def test_only_a_person_with_write_access_starts_it(self) -> None:
        workflow = yaml.safe_load(RECIPES["hand-over"].read_text(encoding="utf-8"))
        assert set(workflow[True]) == {"workflow_dispatch"}
        assert workflow["jobs"]["assign"]["environment"] == "coding-agent"
        assert workflow["jobs"]["assign"]["needs"] == "locate"
