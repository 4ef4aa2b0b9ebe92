"""Where a server finds the code."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from triage.domain.value import Value
from triage.errors import BadInput

_SLUG = re.compile(r"[A-Za-z0-9-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")


class Checkouts(Value):
    """One checkout, or a folder of them."""

    repo: Path = Path()
    repos: Path | None = None
    """Holds a checkout as `owner/name` for each repository."""

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> Self:
        """`TRIAGE_REPO` (the working directory when it is not set), and `TRIAGE_REPOS`, which wins."""
        several = environ.get("TRIAGE_REPOS", "").strip()
        return cls(repo=Path(environ.get("TRIAGE_REPO", "").strip()), repos=Path(several) if several else None)

    def find_folder(self, repository: str) -> Path:
        """The repository's checkout.

        Raises:
            BadInput: It is not there, or its name is none.
        """
        if repository and not _SLUG.fullmatch(repository):
            raise BadInput("repository: not of the form owner/name.")
        if self.repos and not repository:
            raise BadInput("repository: this server holds several; say which, as owner/name.")
        folder = (self.repos / repository if self.repos else self.repo).resolve()
        if not folder.is_dir():
            raise BadInput("repository: no checkout of it here." if self.repos else "TRIAGE_REPO: not a folder.")
        return folder
