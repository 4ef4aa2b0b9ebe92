"""`TRIAGE_` variables beside the inputs: where a server finds the checkouts, and names that are no settings."""

import difflib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from triage.app.settings.inputs import Settings
from triage.base.errors import BadInput
from triage.domain.value import Value

_SLUG = re.compile(r"[A-Za-z0-9-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_PREFIX = "TRIAGE_"


class Checkouts(Value):
    repo: Path = Path()
    repos: Path | None = None
    """Folder with a checkout as `owner/name` for each repository."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """From `TRIAGE_REPO` (by default the working directory), and `TRIAGE_REPOS`, which takes precedence."""
        repos = environ.get("TRIAGE_REPOS", "").strip()
        return cls(repo=Path(environ.get("TRIAGE_REPO", "").strip()), repos=Path(repos) if repos else None)

    def find_folder(self, repository: str) -> Path:
        """Raises BadInput if the checkout does not exist, or the name is not `owner/name`."""
        if repository and not _SLUG.fullmatch(repository):
            raise BadInput("repository: must be owner/name.")
        if self.repos and not repository:
            raise BadInput("repository: this server has several checkouts; set owner/name.")
        folder = (self.repos / repository if self.repos else self.repo).resolve()
        if not folder.is_dir():
            raise BadInput(
                "repository: this server has no such checkout." if self.repos else "TRIAGE_REPO: not a folder."
            )
        return folder


def find_unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A warning for each unknown `TRIAGE_` variable, with the most similar setting. Never shows a value."""
    settings = [name.upper() for model in (Settings, Checkouts) for name in model.model_fields]
    names = {name.removeprefix(_PREFIX) for name in environ if name.startswith(_PREFIX)}
    warnings = []
    for name in sorted(names.difference(settings)):
        nearest = difflib.get_close_matches(name, settings, n=1)
        hint = f"; did you mean {_PREFIX}{nearest[0]}?" if nearest else "."
        warnings.append(f"{_PREFIX}{name} is not a setting{hint}")
    return warnings
