"""What the reporter reads, in the reporter's language: one file per language in `phrases/`."""

from collections.abc import Sequence
from importlib.resources import files

from triage.domain.value import Value


class Phrases(Value):
    """All phrases of one language. Words in braces are filled in: names, labels and messages as they are."""

    name: str
    """Of the language, in English."""
    thanks: str
    how_to_answer: str
    answered: str
    security: str
    ask_field: str
    ask_text_of_picture: str
    ask_log: str
    ask_whole_output: str
    ask_error: str
    ask_steps: str
    ask_circumstances: str
    ask_two_versions: str
    ask_two_versions_of: str
    ask_version: str
    ask_version_of: str
    ask_platform: str
    ask_expected: str
    ask_actual: str
    ask_everything: str
    ask_gap: str


_PHRASES = {
    file.name.removesuffix(".json"): Phrases.model_validate_json(file.read_text(encoding="utf-8"))
    for file in (files("triage.issue") / "phrases").iterdir()
    if file.name.endswith(".json")
}
"""Read at import, because an event loop must not wait for a disk."""


def list_languages() -> Sequence[str]:
    """Returns the codes of all languages with phrases, in alphabetical order."""
    return sorted(_PHRASES)


def get_phrases(language: str) -> Phrases:
    """Returns the phrases of the language, the English ones for a language that has none."""
    return _PHRASES.get(language, _PHRASES["en"])
