"""`TRIAGE_` variables that name no setting, which are most often misspelt."""

import difflib
from collections.abc import Mapping

from triage.settings.inputs import Settings
from triage.settings.server_checkouts import Checkouts

PREFIX = "TRIAGE_"


def find_unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A sentence for each `TRIAGE_` variable that names no setting, with the nearest name. Never shows a value."""
    known = [name.upper() for model in (Settings, Checkouts) for name in model.model_fields]
    unknown = [name for name in environ if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known]
    return [_warn(name, known) for name in sorted(unknown)]


def _warn(name: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(name.removeprefix(PREFIX), known, n=1)
    return f"{name} names no setting; did you mean {PREFIX}{nearest[0]}?" if nearest else f"{name} names no setting."
