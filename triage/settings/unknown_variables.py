"""Finds `TRIAGE_` variables that are not settings; most of them are misspelt."""

import difflib
from collections.abc import Mapping

from triage.settings.inputs import Settings
from triage.settings.server_checkouts import Checkouts

PREFIX = "TRIAGE_"


def find_unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A warning for each unknown `TRIAGE_` variable, with the most similar setting. Never shows a value."""
    settings = [name.upper() for model in (Settings, Checkouts) for name in model.model_fields]
    names = sorted(name.removeprefix(PREFIX) for name in environ if name.startswith(PREFIX))
    return [_format_warning(name, settings) for name in names if name not in settings]


def _format_warning(name: str, settings: list[str]) -> str:
    nearest = difflib.get_close_matches(name, settings, n=1)
    return f"{PREFIX}{name} is not a setting{f'; did you mean {PREFIX}{nearest[0]}?' if nearest else '.'}"
