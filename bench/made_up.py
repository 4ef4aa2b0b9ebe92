"""Makes trees of files to measure growth. Sizes, folders and words are distributed as in real repositories."""

import math
import random
from pathlib import Path

_WORDS = """
get set load save parse find make build read write open close send update delete check list map node item user path
file name value key index cache queue event error state table row column date time token query field form model view url
"""
_PARTS = _WORDS.split()
_BODIES = 300
"""Different texts for each kind of file. Every file also has lines of its own."""
_MEDIAN, _SPREAD = 2_400, 1.2
"""Bytes, and sigma of a log-normal distribution: 5 KB on average, some files of 100 KB."""
_MAX_BYTES = 300_000
_SHARES = {"py": 0.35, "ts": 0.2, "go": 0.15, "java": 0.1, "md": 0.1, "json": 0.1}
_FILES_IN_FOLDER = 20
_HEADS = {
    "py": "def {a}({b}, {c}):\n",
    "ts": "export function {a}({b}: {C}, {c}: number): {D} {{\n",
    "go": "func {A}({b} *{C}, {c} int) ({D}, error) {{\n",
    "java": "class {A} {{\n  {D} {a}({C} {b}, int {c}) {{\n",
    "md": "## {A} {g}\n\n",
    "json": '{{"{a}": {{\n',
}
_LINES = {
    "py": "    {d} = {b}.{e}({c})  # {f} {g}\n",
    "ts": "  const {d} = {b}.{e}({c}); // {f} {g}\n",
    "go": '\t{d} := {b}.{E}({c}, "{f} {g}")\n',
    "java": '    var {d} = {b}.{e}({c}, "{f} {g}");\n',
    "md": "The {f} of `{a}` is the {g} that {b} has when `{d}` {e}s the {c}.\n",
    "json": '"{b}": ["{c} {d}", "{e}"],\n',
}
_TAILS = {
    "py": "\n\n",
    "ts": "}}\n\n",
    "go": "\treturn {d}, nil\n}}\n\n",
    "java": "  }}\n}}\n\n",
    "md": "\n",
    "json": '"": 0}}}}\n',
}


def make_tree(folder: Path, files: int) -> None:
    chance = random.Random(files)
    bodies = {
        kind: ["".join(_make_definition(kind, f"_{body % 50}", chance) for _ in range(20)) for body in range(_BODIES)]
        for kind in _SHARES
    }
    for number in range(files):
        kind = chance.choices(list(_SHARES), list(_SHARES.values()))[0]
        place = folder / _folder(number // _FILES_IN_FOLDER)
        place.mkdir(parents=True, exist_ok=True)
        size = min(_MAX_BYTES, int(math.exp(chance.gauss(math.log(_MEDIAN), _SPREAD))))
        body = chance.choice(bodies[kind])
        text = (_make_definition(kind, f"_{number}", chance) + body * (1 + size // len(body)))[:size]
        (place / f"{chance.choice(_PARTS)}_{number}.{kind}").write_text(text)


def _folder(number: int) -> str:
    return f"part_{number % 40}/{_PARTS[number % 37]}_{number // 40 % 40}/{_PARTS[number % 41]}_{number // 1_600}"


def _make_definition(kind: str, end: str, chance: random.Random) -> str:
    names = _make_names(end, chance)
    lines = [_LINES[kind].format_map(_make_names(end, chance)) for _ in range(chance.randint(3, 25))]
    return _HEADS[kind].format_map(names) + "".join(lines) + _TAILS[kind].format_map(names)


def _make_names(end: str, chance: random.Random) -> dict[str, str]:
    names = {slot: "_".join(chance.sample(_PARTS, 2)) + (end if slot in "ad" else "") for slot in "abcdefg"}
    return names | {slot.upper(): name.title().replace("_", "") for slot, name in names.items()}
