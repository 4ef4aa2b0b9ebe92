"""Whether somebody counts as an owner of the files of a patch."""

from collections.abc import Mapping, Sequence

from triage.domain.project_config import ProjectConfig


def owner_problem(login: str, owners: Mapping[str, Sequence[str]], config: ProjectConfig) -> str:
    """Return why a person may not approve these files; empty if they may.

    `owners` are those of CODEOWNERS by path. A file without owners needs write access only. The members of a team
    cannot be read with a job's token: a team counts as the login that `owners:` in the settings names for it.
    """
    for path, named in owners.items():
        logins = [config.resolve_assignee(owner).casefold() for owner in named]
        if not named or login.casefold() in logins:
            continue
        if any("/" in one for one in logins):
            return (
                f"{path} is owned by a team, whose members the token cannot read. Name a login for it under "
                "`owners:` in .github/triage.yml."
            )
        return f"{path} has other owners in CODEOWNERS."
    return ""
