"""What a person decided about a patch, and whether it may be carried out. All that is no clear yes is a no."""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from triage.domain.project_config import ProjectConfig
from triage.domain.proposal import MAX_REVISIONS, PROPOSAL_LIFETIME, Proposal
from triage.domain.value import Value
from triage.run.may_run.admission import WRITE_ROLES
from triage.safety.clean_text import clean_text
from triage.safety.code_owners import CodeOwners, OwnerRule

MAX_WORDS_CHARS = 4000
_SIGN = "[:,;.!–—-]"
_COMMAND = re.compile(
    rf"(?P<name>reject(?=\s*(?:{_SIGN}|$))|revise\b)(?:\s|{_SIGN})*(?P<words>.*)", re.IGNORECASE | re.DOTALL
)
"""`reject: why` has a sign: `reject the second file` may ask for a change."""


class Decision(StrEnum):
    APPROVE = "approve"
    REJECT = "reject"
    REVISE = "revise"
    UNCLEAR = "unclear"


class PersonDecision(Value):
    decision: Decision
    words: str = ""
    """Why, or what to change, without invisible characters; what is unclear, all of it. Empty for a yes."""


def parse_decision(answer: object) -> PersonDecision:
    """Return what a person decided at the graph's interrupt; a comment's command is read by `route.parse_command`.

    Only the word `approve` is a yes, and what cannot be read is a no: anything but text, text without a visible
    character, and `approve` with invisible characters in it.
    """
    if not isinstance(answer, str):
        return PersonDecision(decision=Decision.REJECT)
    if answer.strip().lower() == Decision.APPROVE:
        return PersonDecision(decision=Decision.APPROVE)
    text = clean_text(answer).strip()
    if not text or text.lower() == Decision.APPROVE:
        return PersonDecision(decision=Decision.REJECT)
    decision, words = _read_decision(text)
    return PersonDecision(decision=decision, words=words[:MAX_WORDS_CHARS].strip())


def _read_decision(text: str) -> tuple[Decision, str]:
    found = _COMMAND.fullmatch(text)
    if found is None or (found["name"].lower() == Decision.REVISE and not found["words"]):
        return Decision.UNCLEAR, text
    return Decision(found["name"].lower()), found["words"]


def check_owners(login: str, paths: Iterable[str], owners: CodeOwners, config: ProjectConfig) -> str:
    """Return why a person may not approve these files; empty if they may.

    A file without owners needs write access only. A team and an e-mail address cannot be resolved with a job's token:
    a team counts as the login that `owners:` in the settings names for it. A line that GitHub skips because it is
    invalid was meant to say something: where it would decide, nobody may approve.
    """
    rules = ((path, owners.find_rule(path)) for path in paths)
    problems = (_check_rule(login, path, rule, config) for path, rule in rules if rule)
    return next((problem for problem in problems if problem), "")


def _check_rule(login: str, path: str, rule: OwnerRule, config: ProjectConfig) -> str:
    """Return why a person may not approve a file with this rule; empty if they may."""
    if not rule.is_readable:
        return f"{path} may have owners by line {rule.line} of CODEOWNERS, which cannot be read. Correct that line."
    names = [owner.removeprefix("@") for owner in rule.owners]
    logins = [config.resolve_assignee(name).casefold() for name in names]
    if not names or login.casefold() in logins:
        return ""
    if any("/" in one for one in logins):
        return (
            f"{path} is owned by a team, whose members the token cannot read. Name a login for it under `owners:` in "
            ".github/triage.yml."
        )
    if any("@" in one for one in logins):
        return (
            f"{path} is owned by an e-mail address, which the token cannot resolve. Write the login in CODEOWNERS, "
            f"line {rule.line}."
        )
    return f"{path} has other owners in CODEOWNERS."


MAX_AHEAD = timedelta(minutes=15)
"""By which a commit may be newer than what was read of GitHub's clock: longer than the jobs of a fix take."""


# Why a command is not carried out, as the end of a sentence.
NO_ID = "name the proposal by the id that the comment shows."
MORE_WORDS = "an approval stands alone in its comment: nothing may follow the id."
UNKNOWN_ID = "there is no such proposal here. It was replaced, decided, or has expired; see the id in the comment."
TOO_OFTEN = (
    f"it was revised {MAX_REVISIONS} times, which is the limit. The last version can still be approved or rejected; "
    "/triage fix, with words, begins anew."
)
EDITED_COMMENT = "the comment does not show it as it was written, or GitHub does not say who edited the comment."
OFF_DEFAULT_BRANCH = (
    "it starts from a commit that is not on the default branch. Ask for a new one; a workflow that is started by hand "
    "must be started on the default branch."
)
OTHER_WORKFLOWS = (
    "workflow files (.github/workflows) have changed on the default branch since, and GitHub lets no workflow's token "
    "create a branch with other ones. Ask for a new one: it starts from the newest commit."
)
"""Also where only the default branch changed them (wildfly/wildfly.org#549, peter-evans/create-pull-request#1234)."""
CHANGED_FILES = "files of the proposal have changed on the base branch since. Ask for a new one."
DRY_RUN = "nothing is changed in a dry run."


def check_role(role: str) -> str:
    """Return why this role may not decide; empty if it may."""
    if role in WRITE_ROLES:
        return ""
    return "it needs write access to the repository, and GitHub does not confirm that."


def check_proposal(proposal: Proposal, text_hash: str, now: datetime) -> str:
    """Return why a proposal is not carried out, as the end of a sentence; empty if it may be.

    `text_hash` is that of the issue's title and body as they are `now`, by GitHub's clock.
    """
    if proposal.created_at - MAX_AHEAD > now:
        return "its time is still to come by GitHub's clock. Ask for a new one."
    if is_expired(proposal, now):
        return f"the proposal is older than {PROPOSAL_LIFETIME.days} days. Ask for a new one."
    if proposal.issue_text_hash != text_hash:
        return "the issue was edited after the proposal was made. Ask for a new one."
    return ""


def is_expired(proposal: Proposal, now: datetime) -> bool:
    """Whether the proposal is too old. One from the future is, too: a clock that jumped proves nothing."""
    return not proposal.created_at - MAX_AHEAD <= now <= proposal.created_at + PROPOSAL_LIFETIME
