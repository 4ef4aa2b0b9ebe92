"""Whether somebody counts as an owner of the files of a patch."""

from collections.abc import Iterable

from triage.domain.project_config import ProjectConfig
from triage.safety.code_owners import MAX_PATTERN_CHARS, MAX_RULES, CodeOwners, OwnerRule


def owner_problem(login: str, paths: Iterable[str], owners: CodeOwners, config: ProjectConfig) -> str:
    """Return why a person may not approve these files; empty if they may.

    A file without owners needs write access only. A team and an e-mail address cannot be resolved with a job's token:
    a team counts as the login that `owners:` in the settings names for it. A line that GitHub skips because it is
    invalid was meant to say something: where it would decide, nobody may approve.
    """
    if owners.has_too_many:
        return (
            f"CODEOWNERS has more than {MAX_RULES:,} rules, or {MAX_PATTERN_CHARS:,} characters of patterns: it was "
            "not read. Join some of them."
        )
    rules = ((path, owners.find_rule(path)) for path in paths)
    problems = (_find_problem(login, path, rule, config) for path, rule in rules if rule)
    return next((problem for problem in problems if problem), "")


def _find_problem(login: str, path: str, rule: OwnerRule, config: ProjectConfig) -> str:
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
