"""Chooses the thresholds that suit a repository, from how often its places were right, and writes them.

A named place that is wrong costs as much as four right ones gain: so those that are named should be right in four of
five. A repository has few issues of each sign, so a threshold moves only for a clear gain.
"""

from codecs import BOM_UTF8
from collections.abc import Sequence
from typing import get_args

from triage.app.app import App
from triage.app.settings.project_file import parse_project_config
from triage.backtest.results import LikelyPlace
from triage.base.errors import BadConfig, BadInput, WrongUsage
from triage.base.strict_yaml import replace_section
from triage.domain.code import MatchSource
from triage.domain.project_config import Thresholds
from triage.domain.value import Value

COST_OF_WRONG = 4
MIN_GAIN = 2 * COST_OF_WRONG
"""As much as two wrong places less, or eight right ones more: one issue more or less is chance."""
MIN_PLACES = 8
LOWEST, HIGHEST, STEP = 0.1, 0.95, 0.05
MAX_LOWERED = 0.2
"""A few lucky issues must not make the comments much bolder than elsewhere."""


class ThresholdChoice(Value):
    """The threshold of one sign, and what speaks for it."""

    sign: MatchSource
    before: float
    after: float
    places: int
    """Issues that this sign leads anywhere in."""
    named_before: int
    right_before: int
    named_after: int
    right_after: int


def choose_thresholds(
    places: Sequence[LikelyPlace], before: Thresholds, *, may_lower: bool = True
) -> list[ThresholdChoice]:
    """Return the choice for each sign. The threshold for duplicates stays: an unmarked duplicate is no mistake.

    Without `may_lower` thresholds are only raised: messages of commits lead to places more surely than issues do.
    """
    max_lowered = MAX_LOWERED if may_lower else 0.0
    by_sign = {sign: [place for place in places if place.sign == sign] for sign in get_args(MatchSource)}
    return [_choose(sign, found, before.for_sign(sign), max_lowered) for sign, found in by_sign.items()]


def apply_choices(before: Thresholds, choices: Sequence[ThresholdChoice]) -> Thresholds:
    return before.model_copy(update={choice.sign: choice.after for choice in choices})


def _choose(sign: MatchSource, places: Sequence[LikelyPlace], before: float, max_lowered: float) -> ThresholdChoice:
    after = _find_best(places, before, max_lowered) if len(places) >= MIN_PLACES else before
    (named_before, right_before), (named_after, right_after) = _count(places, before), _count(places, after)
    return ThresholdChoice(
        sign=sign,
        before=before,
        after=after,
        places=len(places),
        named_before=named_before,
        right_before=right_before,
        named_after=named_after,
        right_after=right_after,
    )


def _find_best(places: Sequence[LikelyPlace], before: float, max_lowered: float) -> float:
    steps = round((HIGHEST - LOWEST) / STEP)
    levels = [round(LOWEST + number * STEP, 2) for number in range(steps + 1)]
    allowed = [before, *(level for level in levels if level >= before - max_lowered)]
    best = max(allowed, key=lambda level: (_rate(places, level), -abs(level - before)))
    return best if _rate(places, best) - _rate(places, before) >= MIN_GAIN else before


def _rate(places: Sequence[LikelyPlace], threshold: float) -> int:
    named, right = _count(places, threshold)
    return right - COST_OF_WRONG * (named - right)


def _count(places: Sequence[LikelyPlace], threshold: float) -> tuple[int, int]:
    named = [place for place in places if place.chance >= threshold]
    return len(named), sum(place.edited for place in named)


def check_can_write_thresholds(app: App) -> None:
    """Raise BadInput if the settings file cannot be edited, or has thresholds that are not committed."""
    name = app.settings.config_file
    if not (app.root / ".git").exists():
        raise WrongUsage("--write needs the top folder of a checkout as --repo: the settings file lies there.")
    path = app.root / name
    if any(one.is_symlink() for one in (path, *path.parents) if app.root in one.parents):
        raise BadInput(f"--write: {name} leads through a symbolic link. Put a regular file there.")
    if parse_project_config(_read_settings(app), name).thresholds != app.config.thresholds:
        raise BadInput(f"--write: the thresholds in {name} are not committed, so they do not count. Commit them first.")


def write_thresholds(app: App, thresholds: Thresholds) -> str:
    """Write the thresholds into the project's settings file in the work tree. Returns what to do next.

    Raises:
        BadInput: As `check_can_write_thresholds`, or the file cannot be written, or has a form that cannot be edited.
        BadConfig: The file has errors.
    """
    check_can_write_thresholds(app)
    name, section, old = app.settings.config_file, _format_section(thresholds), _read_settings(app)
    wanted = parse_project_config(old, name).model_copy(update={"thresholds": thresholds})
    text, is_marked = old.decode("utf-8-sig"), old.startswith(BOM_UTF8)
    try:
        new = replace_section(text, "thresholds", section).encode("utf-8-sig" if is_marked else "utf-8")
        is_same = parse_project_config(new, name) == wanted
    except (ValueError, BadConfig):
        is_same = False
    if not is_same:
        raise BadInput(f"--write: {name} cannot be edited without changing more. Add this line to it: {section}")
    path = app.root / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(new)
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"--write: {name} cannot be written ({reason}).") from None
    return f"{name} has the thresholds. Commit it: the file is read from the checked-out commit."


def _read_settings(app: App) -> bytes:
    """Return the settings file of the work tree; nothing without one. Raises BadInput."""
    path = app.root / app.settings.config_file
    try:
        return path.read_bytes() if path.exists() else b""
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise BadInput(f"--write: {app.settings.config_file} cannot be read ({reason}).") from None


def _format_section(thresholds: Thresholds) -> str:
    values = ", ".join(f"{name}: {value:g}" for name, value in thresholds.model_dump().items())
    return f"thresholds: {{{values}}}"
