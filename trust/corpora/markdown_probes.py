"""Content that GitHub makes active, in contexts that Markdown treats differently."""

_ACTIVE = (
    "@mona",
    "@octo/everyone",
    "#1",
    "GH-1",
    "octo/other#1",
    "octo/other@6f1ad64b1c0f9a2f3e4d5c6b7a8990a1b2c3d4e5",
    "6f1ad64b1c0f9a2f3e4d5c6b7a8990a1b2c3d4e5",
    "6f1ad64",
    "mona@6f1ad64",
    "Fixes #1",
    "https://evil.example/x",
    "www.evil.example",
    "a@evil.example",
    "https://github.com/octo/other/issues/1",
    "![x](https://evil.example/i.png)",
    "[x](https://evil.example)",
    "[x](javascript:alert(1))",
    "<https://evil.example>",
    "<img src=https://evil.example/h.png>",
    '<a href="https://evil.example">x</a>',
    "<!-- hidden -->",
    "$\\href{https://evil.example}{x}$",
    ":octocat:",
    "/approve",
)
_CONTEXTS = (
    "{}",
    "words {} words",
    "({})",
    "**{}**",
    "_{}_",
    "~~{}~~",
    "`{}`",
    "``{}`",
    "\\{}",
    "\\`{}\\`",
    "x{}",
    "{}x",
    "_x{}",
    "# {}",
    "- {}",
    "1. {}",
    "> {}",
    "\n\n{}",
    "words\n{}",
    "words  \n{}",
    "<b>{}</b>",
    "[{}](#x)",
    "![{}](#x)",
    "[{}]",
    "|a|\n|-|\n|{}|",
    "```\n{}\n```",
    "```\nx\n```\n{}",
    "``` {}\nx\n```",
    "    {}",
    "\t{}",
    "[^1]\n\n[^1]: {}",
    "- [ ] {}",
    "{0}\u200b{0}",
    "\u200b{}",
    "\u2066{}\u2069",
    "{}\r{0}",
    "x\x00{}",
    "&#8203;{}",
    "<details><summary>{}</summary>\n\n{0}\n\n</details>",
    "a\\|{}",
    "| {} |",
    "$`{}`$",
    "\u2028{}",
    "\x0b{}",
    "\u3000{}",
)


_RUNS = (3, 79, 80, 81, 254, 255, 256, 257, 1_500)
"""Lengths of runs of backticks and tildes: cmark-gfm counts up to 80 in spans and stores a fence's length in a byte."""
_LONG_PATHS = tuple(f"src/{letter * 1_450}.py" for letter in "aü%")
"""Git allows them; the URL of such a file is longer than an HTML parser reads."""
_NO_WORD_TO_GITHUB = ("é", "修", "٣", "ª", "e\u0301", "\u212a", "\U0001f600", "_", "-", "@")
"""Letters, digits and marks that do not continue a word of ASCII letters."""
_EMPTY = ("\u200b", "`\u200b`", "\u200b\n\n\u200b")
"""Nothing is left of them."""


def build_probes() -> list[str]:
    """Returns active content in all contexts and after long runs of code marks, and references in odd words."""
    live = "@mona ![x](https://evil.example/r.png) #1"
    runs = [f"{sign * count}{gap}{live}" for sign in "`~" for count in _RUNS for gap in (" ", "\n", "x\n\n")]
    words = [f"{sign}{name}{end}" for name in ("6f1ad64", "GH-1") for sign in _NO_WORD_TO_GITHUB for end in ("", sign)]
    return [*_LONG_PATHS, *_EMPTY, *words, *runs] + [
        context.replace("{0}", "{}").replace("{}", active) for active in _ACTIVE for context in _CONTEXTS
    ]
