"""Texts that keep parsers and regular expressions busy: functions from a size in characters to a text of that size.

Sources: the pathological inputs of cmark-gfm, incidents of other programs, and the regular expressions of this program.
"""

from collections.abc import Callable

SIZE = 65_536
"""Characters of the longest issue body."""

TextBuilder = Callable[[int], str]


def _again(piece: str, start: str = "", end: str = "") -> TextBuilder:
    return lambda size: (start + piece * (size // len(piece) + 1))[: size - len(end)] + end


def _counted(piece: Callable[[int], str], end: str = "") -> TextBuilder:
    def build(size: int) -> str:
        parts: list[str] = []
        length = number = 0
        while length < size:
            parts.append(piece(number))
            length += len(parts[-1])
            number += 1
        return "".join(parts)[: size - len(end)] + end

    return build


def _half(one: str, other: str, between: str = "") -> TextBuilder:
    return lambda size: (one * size)[: size // 2] + between + (other * size)[: size // 2]


_PIECES = {
    "brackets": "[", "closing brackets": "]", "picture brackets": "![", "nested pictures": "![[", "links begun": "[a](", "links begun, pointed": "[a](<b", "references begun": "[a][", "parentheses": "[ (](",
    "quotes": "> ", "quotes without spaces": ">", "spaced quotes": " > > >", "items in quotes": "- > ", "quotes and numbers": "> 1. ", "stars": "*", "bold begun": "**a ", "stars and lines": "*_", "emphasis begun": "_a ", "emphasis closed": "a_ ", "crossed": "*a_ ",
    "three stars": "***a", "multiples of three": "c* ", "links and emphasis": "[ a_", "backticks": "`", "backticks of two lengths": "`` `", "backtick words": "`a ", "strikes": "~", "strikes begun": "~~a ", "comments begun": "<!--", "comments": "<!-- -->",
    "declarations begun": "<!", "instructions begun": "<?", "character data begun": "<![CDATA[", "entities": "&amp;", "numbered entities": "&#x1F600;", "entities begun": "&#", "less than": "<", "tags begun": "<a ", "attributes begun": "<a b='>'", "quoted attributes": '<a x="', "divs": "<div>", "bolds": "<b>",
    "list elements": "<ul><li>", "definitions of terms": "<dl><dt>", "tables in formatting": "<table><b>", "table cells": "<table><tr><td>", "links in paragraphs": "<a><p>", "folds": "<details>", "templates": "<template>", "scripts": "<script>", "drawings": "<svg><g>", "drawings with quotes": '<svg "', "canvases": "<canvas>",
    "options": "<select><option>", "subscripts": "<sub>", "hidden": "<i hidden>", "styles": "<i style='color:", "closed paragraphs": "</p>", "closing tags begun": "</", "addresses": "http://", "hosts": "www.", "mail": "a@b.", "addresses with brackets": "http://a(", "bars": "|",
    "tables": "a|b\n-|-\n", "short rows": "x|y\n", "rules of tables": "-|", "cells": "| b", "definitions": "[a]: b\n", "notes": "[^a]: x\n\n", "uses of notes": "[^a]", "line feeds": "\n", "returns": "\r", "Windows line ends": "\r\n", "tabs": "\t", "spaces": " ", "one long word": "a", "dashes": "-\n",
    "numbers": "1. ", "underlined": "a\n=\n", "headings": "# a\n\nx\n\n", "headings alone": "### A\n", "empty headings": "#\n", "fences": "```\n", "fences in lists": "- ```\n", "backslashes": "\\", "quotation marks": '"', "nulls": "\0", "families": "👩\u200d", "coloured": "👩\ufe0f", "marks": "\u0301", "letters with marks": "e\u0301\u0301\u0301",
    "unseen": "a\u200b", "escapes": "\x1b[", "title escapes": "\x1b]0;", "colours": "\x1b[31m", "bold lines": "**a**\n", "bold paragraphs": "**a**\n\n", "halves": "\ud800", "separators": "\u2028", "dollars": "$", "formulas": "$a$", "formulas begun": "$a ", "two dollars": "$$", "phantoms": "\\phantom{", "per cents": "$%", "drawn": "```mermaid\n",
    "at signs": "@", "mentions": "@a ", "issues": "#1 ", "slashes": "/", "commands": "/triage ", "command lines": "/triage\n", "dots": "a.", "paths": "a/b.py ", "one long path": "a/", "underscores": "_", "snakes": "a_", "arrows": "a->b", "colons": "a::", "names called": "f(", "brackets around calls": "f()(", "commas": "a,", "hex": "deadbeef ", "long hex": "0f",
    "versions": "1.2.3 ", "dotted numbers": "1.", "version words": "version ", "pins": "a==1.", "options of commands": "--a-b", "single quotes": "'", "typographic quotes": "“", "guillemets": "«a", "equals": "a=", "semicolons": ";", "errors": "Error: ", "error names": "ValueError", "errors in a line": "error: x ", "camels": "aB", "capitals": "A",
    "lambdas": "lambda:", "prints": "print x\n", "imports of all": "from .a import *\n", "shown versions": ">>> a.__version__\n", "values": "a = 1\n", "prompts of Node": "> a\n", "outputs": "Output:\n```\na\n```\n",
    "keys": "AKIA", "assigned keys": "api_key=", "base64": "QUJD", "tokens": "ghp_", "keys begun": "-----BEGIN ", "keys with spaces": "key = '", "one emoji": "😀", "Chinese": "错误", "right to left": "\u05d0\u202e", "full stops": ". ", "words": "not able to do it ", "if": "if it ", "wide spaces": "\u3000", "hashes": "#", "plus signs": "+ ", "colon rules": ":-:", "tasks": "- [ ] ", "emoji names": ":a", "ampersands": "&",
}  # fmt: skip
_TRACES = {
    "frames of Python": '  File "a.py", line 1, in f\n', "frames begun": '  File "', "frames of Java": "at a.b.C.d(C.java:1)\n", "frames of Java begun": "at a.b(", "frames of Go": "a.go:1\n", "frames of JavaScript": "at f (a.js:1:1)\n", "frames of Firefox": "f@http://a/b.js:1\n", "frames of Rust": "  1: a\n   at a.rs:1\n", "panics": "panicked at 'a', ",
    "frames of Ruby": "a.rb:1:in `f'\n", "frames of PHP": "#0 a.php(1): f\n", "frames of C": "#1 0x1 in f (a) at a.c:1\n", "frames of C#": "at f() in a.cs:line 1\n", "frames of notebooks": "a.py in f\n", "frames of pages": 'File "a" in f\n', "diagnostics": "a.c:1:1: error: x\n", "prompts": ">>> a\n", "frames in one line": 'File "a", line 1, in ', "bare at": "at ", "causes": "Caused by: a\n",
    "names before errors": "a.b.c.Error", "colons and spaces": "a: ", "tests": "_____ test _____\n", "fatal lines": "PHP Fatal error: a in b on line ", "arrows of Rust": "--> a.rs:1:1\n",
}  # fmt: skip
PATHOLOGICAL_TEXTS: dict[str, TextBuilder] = {
    **{name: _again(piece) for name, piece in (_PIECES | _TRACES).items()},
    **{
        f"{name}, in one block of code": _again(piece.replace("\n", " "), "```\n", "\n```")
        for name, piece in _TRACES.items()
    },
    **{f"{name}, as lines": _again(f"{piece.strip()}\n") for name, piece in list(_PIECES.items())[::3]},
    **{f"{name}, then something else": _again(piece, end="!\n@#1") for name, piece in list(_PIECES.items())[1::3]},
    "brackets inside each other": _half("[", "]", "a"),
    "strong emphasis inside each other": _half("*a **a ", " a** a*", "b"),
    "parentheses inside each other": _half("(", ")", "a"),
    "closing marks around a name": _half(":", "a{"),
    "closing marks before a bracket": _again(":", start="=in x\n", end="a{"),
    "stars around": _half("**a", "b**"),
    "backtick runs of every length": _counted(lambda n: "e" + "`" * n),
    "backtick runs apart": _counted(lambda n: "`" * (n + 1) + " "),
    "tilde runs of every length": _counted(lambda n: "~" * (n + 1) + "\n"),
    "lists inside each other": _counted(lambda n: "  " * n + "* a\n"),
    "quotes ever deeper": _counted(lambda n: ">" * n + "a\n"),
    "stars ever more": _counted(lambda n: "* " * n + "a\n"),
    "a wide table": lambda size: f"|{'a|' * (size // 12)}\n|{'-|' * (size // 12)}\n" + "|a\n" * (size // 4),
    "a table ever wider": _counted(lambda n: "a|" * n + "\n" + "-|" * n + "\n"),
    "many attributes": _counted(lambda n: f" {chr(0x4E00 + n % 20_000)}" if n else "<div"),
    "many quoted attributes": _counted(lambda n: f" {chr(0x4E00 + n % 20_000)}='>'" if n else "<div"),
    "formatting left open": _counted(lambda n: f"<p><b id={n}>"),
    "formatting closed falsely": _counted(lambda n: f"<p><b id={n}></x>"),
    "other definitions": _counted(lambda n: f"[r{n}]: x\n"),
    "colliding definitions": _counted(lambda n: f"[x{n * 16}]: /url\n\n[x]\n\n"),
    "chained notes": _counted(lambda n: f"[^{n}]: [^{n + 1}]\n", "[^0]"),
    "one definition, used often": lambda size: (f"[a]: {'x' * (size // 2)}\n\n" + "[a]" * size)[:size],
    "one note, used often": lambda size: ("[^a]: " + "x " * (size // 4) + "\n\n" + "[^a]" * size)[:size],
    "different words": _counted(lambda n: f"w{n:x} "),
    "different names": _counted(lambda n: f"a{n}.b{n}() "),
    "different tags": _counted(lambda n: f"<t{n}>"),
    "different sections": _counted(lambda n: f"## h{n}\n\nx{n}\n\n"),
    "one bracket, no end": lambda size: "[" + "a" * (size - 1),
    "a backtick, no end": lambda size: "`" + "a " * (size // 2),
    "one long line of a trace": lambda size: '  File "' + "a" * (size - 60) + '", line 1, in f\nValueError: x\n',
    "one long error": lambda size: "ValueError: " + "x " * (size // 2),
    "breaks between words": _again("<br>", "a", "b"),
    "line feeds by number": _again("&#10;", "a", "b"),
    "fixed spaces by name": _again("&nbsp;", "a", "b"),
    "spaces before an end": lambda size: "a" + " " * (size - 2) + "b",
    "tabs in code": lambda size: "```\n" + "a\t \t" * (size // 4) + "b\n```",
    "spaces in code": lambda size: "```\n" + " " * (size - 12) + "b\n```",
    "spaces in a cell": lambda size: "a|b\n-|-\nx|" + " " * (size - 20) + "y",
    "deep, then hidden": lambda size: "> " * 80 + "<div>" * ((size - 200) // 5) + "<i hidden>x</i>",
    "deep, inline": lambda size: "<b>" * (size // 3),
    "a yaml bomb": lambda size: "body:\n" + "".join(f"- &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, size // 24)),
    "json inside": _again('{"a":[', "<!-- bug-triage: v1 "),
    "a marker that does not end": _again("a ", "<!-- bug-triage: v1 {"),
}
