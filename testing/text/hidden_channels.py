"""Ways to write into an issue what a reader of the page on GitHub does not see.

`CHANNELS` makes Markdown that hides a canary; `contains_canary` finds it in a text, in any alphabet. Another parser
shows in `test_hidden_text.py` that a person does not see it; of the `DRAWN` ones it cannot know. What GitHub's sanitizer
takes away (styles, attributes, elements such as `<svg>`) hides nothing.
"""

import base64
from collections.abc import Callable
from urllib.parse import quote

from testing.text.rendered_text import is_invisible

Channel = Callable[[str], str]

_TAGS, _SELECTORS = 0xE0000, 0xE0100


def _as_tags(canary: str) -> str:
    return "".join(chr(_TAGS + ord(letter)) for letter in canary)


def _as_selectors(canary: str) -> str:
    return "".join(chr(_SELECTORS + ord(letter)) for letter in canary)


def _signs(canary: str, zero: str, one: str) -> list[str]:
    return [one if bit == "1" else zero for letter in canary for bit in f"{ord(letter):08b}"]


def _bits(canary: str, zero: str, one: str) -> str:
    return "".join(_signs(canary, zero, one))


def _between_words(canary: str, zero: str, one: str) -> str:
    return "".join(f"w{gap}" for gap in _signs(canary, zero, one)) + "w"


def _entities(characters: str) -> str:
    return "".join(f"&#x{ord(character):X};" for character in characters)


def _where(template: str) -> Channel:
    return lambda canary: template.replace("@", canary)


def _in_two(zero: str, one: str) -> Channel:
    return lambda canary: f"a{_bits(canary, zero, one)}b"


_IN_HTML: dict[str, Channel] = {
    "comment in a line": lambda c: f"a <!-- {c} --> b",
    "comment first": lambda c: f"<!-- {c} -->\n\nb",
    "comment over lines": lambda c: f"a\n\n<!--\n\n{c}\n\n-->\n\nb",
    "comment in a list": lambda c: f"- a\n  <!-- {c} -->\n- b",
    "comment in a quote": lambda c: f"> a\n> <!-- {c} -->",
    "comment in a cell": lambda c: f"| a |\n|---|\n| b <!-- {c} --> |",
    "comment in a heading": lambda c: f"# a <!-- {c} -->",
    "comment in a link": lambda c: f"[a <!-- {c} -->](https://x.example)",
    "comment never closed": lambda c: f"a\n\n<!-- {c}\n\nmore {c}",
    "comment closed with a bang": lambda c: f"a\n\n<!-- {c} --!>\n\nb",
    "comment after an empty one": lambda c: f"a <!--> <!-- {c} --> b",
    "comment with dashes": lambda c: f"<!---{c}--->\n\nb",
    "conditional comment": lambda c: f"a\n\n<!--[if IE]> {c} <![endif]-->\n\nb",
    "comment after an indented fence": lambda c: f"a\n\n     ```\n\n<!-- {c} -->\n",
    "comment after a fence in a line": lambda c: f"a ``` b <!-- {c} -->",
    "comment after a lone backtick": lambda c: f"a ` b <!-- {c} -->",
    "comment in a tag's shadow": lambda c: f"<div>\n<!-- {c}\n-->\na</div>",
    "comment in raw code": lambda c: f"<pre>a <!-- {c} --></pre>",
    "comment in a raw span": lambda c: f"a <code>b<!-- {c} --></code>",
    "processing instruction": lambda c: f"a <?{c} x?> b",
    "processing instruction as a block": lambda c: f"<?php\n{c}\n?>\n\na",
    "declaration": lambda c: f"a <!X {c}> b",
    "declaration as a block": lambda c: f"<!DOCTYPE {c}>\n\na",
    "character data": lambda c: f"a <![CDATA[{c}]]> b",
    "element's name": lambda c: f"a <{c}>b</{c}>",
    "ruby parenthesis": lambda c: f"<ruby>a<rp>{c}</rp><rt>b</rt></ruby>",
    "ruby parenthesis in code": lambda c: f"a <code>b<rp>{c}</rp></code> <pre>b<rp>{c}</rp></pre>",
    "tiny in code": lambda c: f"a <code>b{'<sub>' * 9}{c}{'</sub>' * 9}</code>",
    "character data in a drawing": lambda c: f"a <svg><![CDATA[{c}]]></svg> b",
    "tiny": lambda c: f"a{'<sub>' * 9}{c}{'</sub>' * 9}",
    "tiny, mixed": lambda c: f"a{'<small><sup>' * 6}{c}{'</sup></small>' * 6}",
    "tiny in a deep page": lambda c: "<b>" * 300 + f"\n\na{'<sub>' * 9}{c}{'</sub>' * 9}",
    "ruby parenthesis in a deep page": lambda c: "<b>" * 300 + f"\n\n<ruby>a<rp>{c}</rp></ruby>",
    "comment on a page of very many tags": lambda c: "a|b\n-|-\n" + "a|b\n" * 16_000 + f"\n<!-- {c} -->",
    **{
        f"attribute {written.partition('=')[0]}": _where(f"a <b {written}>x</b>")
        for written in (
            'title="@"', 'data-x="@"', 'id="@"', 'class="@"', 'aria-label="@"', 'lang="@"', 'name="@"', 'onclick="@"',
        )
    },
    **{
        f"attribute of {tag}": _where(f"a {written} b")
        for tag, written in {
            "input": '<input type="hidden" value="@">', "button": '<input type="image" alt="@">', "meta": '<meta name="a" content="@">',
            "link": '<link rel="@" href="@">', "base": '<base href="https://@.example">', "picture": '<picture><source srcset="https://x.example/@"><img src="x" alt="@"></picture>',
            "area": '<map name="m"><area alt="@"></map>', "time": '<time datetime="@">x</time>', "abbr": '<abbr title="@">x</abbr>',
            "quote": '<q cite="https://@.example">x</q>', "deletion": '<del cite="@">x</del>', "col": '<table><col title="@"><tr><td>x</td></tr></table>', "cell": '<table><tr><td headers="@" colspan="99">x</td></tr></table>',
            "param": '<param name="@">', "embed": '<embed src="@">', "video": '<video poster="@"></video>', "option": '<optgroup label="@"></optgroup>',
        }.items()
    },
}  # fmt: skip
_IN_MARKDOWN: dict[str, Channel] = {
    "definition as a comment": lambda c: f"a\n\n[//]: # ({c})",
    "definition as a quoted comment": lambda c: f'a\n\n[//]: # "{c}"',
    "definition as an empty comment": lambda c: f"a\n\n[{c}]: <>",
    "definition's label": lambda c: f"a\n\n[{c}]: https://x.example",
    "definition's title": lambda c: f'[a][x]\n\n[x]: https://x.example "{c}"',
    "definition's title over lines": lambda c: f"a\n\n[x]: https://x.example\n  '{c}\n  {c}'",
    "definition's address": lambda c: f"a\n\n[x]: <https://x.example/{c}>",
    "definition given twice": lambda c: f"[a]\n\n[a]: https://x.example\n[a]: https://y.example/{c}",
    "definition in a quote": lambda c: f"> a\n>\n> [x]: # ({c})",
    "reference's label": lambda c: f"[a][{c}]\n\n[{c}]: https://x.example",
    "unused footnote": lambda c: f"a\n\n[^x]: {c}",
    "unused footnote over lines": lambda c: f"a\n\n[^x]: x\n\n    {c}\n\n    <b>{c}</b>",
    "footnote's label": lambda c: f"a[^{c}]\n\n[^{c}]: b",
    "cell too many": lambda c: f"| a |\n|---|\n| b | {c} |",
    "cells too many": lambda c: f"a | b\n--|--\nx | y | {c} | {c}\nx | y",
    "fence's information": lambda c: f"```python {c}\na\n```",
    "fence's information in braces": lambda c: f"~~~js {{title={c}}}\na\n~~~",
    "fence's language": lambda c: f"```{c}\na\n```",
    "raw code's language": lambda c: f'<pre lang="{c}">a</pre>',
    "link's title": lambda c: f'[a](http://x.example "{c}")',
    "picture's title": lambda c: f'![a](http://x.example/p.png "{c}")',
    "picture's description": lambda c: f"![{c}](http://x.example/p.png)",
    "picture's long description": lambda c: f"a ![{c} is what this picture says](http://x.example/p.png)",
    "picture's address": lambda c: f"a ![](https://x.example/{c}.png)",
    "picture of no size": lambda c: f'a <img width="0" height="0" src="https://x.example/{c}" alt="{c}">',
    "link without words": lambda c: f"a [](https://x.example/{c}) b",
    "link of a space": lambda c: f"a [ ](https://x.example/{c}) b",
    "link of nothing seen": lambda c: f"a [&#8203;](https://x.example/{c}) b",
    "raw link without words": lambda c: f'a <a href="https://x.example/{c}"></a> b',
    "link of a hidden word": lambda c: f"a [<rp>b</rp>](https://github.com/o/r/blob/main/{c}.py) b",
    "link of a formula": lambda c: f"a [$\\phantom{{b}}$](https://github.com/o/r/blob/main/{c}.py) b",
    "link to a place of the repository, without words": lambda c: f"a [](https://github.com/o/r/blob/main/{c}.py) b",
    "link's path": lambda c: f"[a](https://x.example/{c})",
    "link's path in per cents": lambda c: f"[a](https://x.example/{''.join(f'%{ord(letter):02X}' for letter in c)})",
    "link's query": lambda c: f"[a](https://x.example/?q={quote(c)})",
    "link's fragment": lambda c: f"[a](https://x.example/#{c})",
    "link's user": lambda c: f"[a](https://{c}:{c}@x.example/)",
    "link to a heading": lambda c: f"[a](#{c})",
    "link to a mailbox": lambda c: f"[a](mailto:{c}@x.example?subject={c})",
    "link that runs": lambda c: f"[a](javascript:{c})",
    "link of data": lambda c: f"[a](data:text/plain;base64,{base64.b64encode(c.encode()).decode()})",
    "link inside the project": lambda c: f"[a](../{c})",
    "link to a place of the repository, query": lambda c: f"[a](https://github.com/o/r/blob/main/a.py?{c}#{c})",
}  # fmt: skip
_FORMULAS = {
    "a phantom": r"x\phantom{@}y",
    "a phantom after a break": r"x\\\phantom{@}y",
    "a phantom in a text": r"\text{a $b$ \phantom{@}}",
    "a phantom around formulas": r"\phantom{\text{a $b$ @ $c$}}",
    "a phantom beside a dollar sign": r"x\$ \phantom{@ \$}y",
    "a comment": "x % @\ny",
    "a comment after a break": "x \\\\% @\ny",
    "a name": r"x\label{@}",
    "an option": r"\begin{array}{@}x\end{array}",
    "a column of text": r"\begin{array}{c!{\text{@}}c}x\end{array}",
    "a definition": r"\newenvironment{e}{@}{}x",
    "a moved box": r"\raise 999em {\text{@}}x",
    "spaces": "x" + "~" * 999 + "@",
    "steps back": "@" + r"\!" * 99 + "some other words",
}
FORMS: dict[str, Callable[[str], str]] = {
    "in a line": lambda tex: f"a ${tex.replace(chr(10), ' ')}$ b",
    "display": lambda tex: f"a\n\n$$\n{tex}\n$$",
    "in code marks": lambda tex: f"a $`{tex}`$ b",
    "in a fence": lambda tex: f"```math\n{tex}\n```",
}
"""Ways to write a formula on GitHub."""
DRAWN: dict[str, Channel] = {
    "diagram's comment": lambda c: f"```mermaid\ngraph TD\n%% {c}\nA-->B\n```",
    "diagram's node": lambda c: f"```mermaid\ngraph TD\n{c}[Start]-->B\n```",
    "map's property": lambda c: f'```geojson\n{{"type":"Point","coordinates":[0,0],"properties":{{"a":"{c}"}}}}\n```',
    "solid's name": lambda c: f"```stl\nsolid {c}\nendsolid {c}\n```",
    "drawn blocks on a page of very many tags": lambda c: (
        "- a\n" * 16_000 + f"\n$x\\ref{{{c}}}$\n\n```math\nx\\ref{{{c}}}\n```\n\n```Mermaid\ngraph TD\n{c}-->b\n```"
    ),
    "phantom of code in a formula": lambda c: f"a $x\\phantom{{`{c}`}}y$ b",
    "display formula around a formula": lambda c: rf"a $$\text{{$x$}} \phantom{{{c}}}$$ b",
    **{f"formula with {name}, {form}": _where(FORMS[form](tex)) for name, tex in _FORMULAS.items() for form in FORMS},
}  # fmt: skip
"""GitHub draws these blocks and formulas: a drawing shows no comments, names and phantoms."""
_LETTERS: dict[str, Channel] = {
    "tags": lambda c: f"a{_as_tags(c)}b",
    "tags after a flag": lambda c: f"\U0001f3f4{_as_tags(c)}\U000e007f",
    "tags as entities": lambda c: f"a{_entities(_as_tags(c))}b",
    "tags in a heading": lambda c: f"# a{_as_tags(c)}b",
    "tags in code": lambda c: f"`a{_as_tags(c)}b`\n\n```\na{_as_tags(c)}\n```",
    "tags in raw code, as entities": lambda c: f"<pre>a{_entities(_as_tags(c))}</pre> <code>b{_entities(_as_tags(c))}</code>",
    "tags in a link": lambda c: f"[a](https://github.com/o/r/blob/main/a{_as_tags(c)}.py)",
    "selectors": lambda c: f"a{_as_selectors(c)}b",
    "selectors after an emoji": lambda c: f"\U0001f600{_as_selectors(c)}b",
    "selectors after a letter that takes one": lambda c: f"葛{_as_selectors(c)}",
    **{
        f"bits of {name}": _in_two(zero, one)
        for name, (zero, one) in {
            "zero width": ("\u200b", "\u200c"), "joiners": ("\u200d", "\u2060"), "byte order marks": ("\ufeff", "\u200b"), "fillers": ("\u3164", "\uffa0"), "jamo fillers": ("\u115f", "\u1160"),
            "invisible operators": ("\u2061", "\u2063"), "soft hyphens": ("\u00ad", "\u034f"), "directions": ("\u202a", "\u2066"), "direction marks": ("\u200e", "\u061c"),
            "old formats": ("\u206a", "\u206f"), "annotations": ("\ufff9", "\ufffb"), "music": ("\U0001d173", "\U0001d17a"), "Mongolian selectors": ("\u180b", "\u180e"), "Khmer vowels": ("\u17b4", "\u17b5"),
            "text selectors": ("\ufe00", "\ufe0f"), "controls": ("\x01", "\x02"), "later controls": ("\x86", "\x9f"), "no characters": ("\ufdd0", "\U0001fffe"), "halves of a pair": ("\ud800", "\udfff"),
            "shorthand": ("\U0001bca0", "\U0001bca3"), "deletions": ("\x7f", "\x08"),
        }.items()
    },
    "bits as entities": lambda c: f"a{_entities(_bits(c, chr(0x200B), chr(0x200C)))}b",
    "bits as names": lambda c: f"a{_bits(c, '&ZeroWidthSpace;', '&zwnj;')}b",
    "selectors after coloured emoji": lambda c: "".join(f"\U0001f600{gap}" for gap in _signs(c, "", "\ufe0f")),
    "one space or two": lambda c: _between_words(c, " ", "  "),
    "a space or a tab": lambda c: _between_words(c, " ", "\t"),
    "a space or a wide one": lambda c: _between_words(c, " ", "\u2002"),
    "a space or a fixed one": lambda c: _between_words(c, " ", "\u00a0"),
    "a space or an empty braille cell": lambda c: _between_words(c, " ", "\u2800"),
    "spaces at the lines' ends": lambda c: "\n".join(f"w{end}" for end in _signs(c, "", " ")),
    "spaces at the ends of code": lambda c: "```\n" + "\n".join(f"w{end}" for end in _signs(c, " ", "\t")) + "\n```",
}  # fmt: skip
CHANNELS: dict[str, Channel] = {**_IN_HTML, **_IN_MARKDOWN, **DRAWN, **_LETTERS}


def contains_canary(text: str, canary: str) -> bool:
    """Whether the text contains the canary, in letters or in any of the alphabets above."""
    folded = text.casefold()
    if canary.casefold() in folded or canary.encode().hex() in folded.replace("%", ""):
        return True
    if base64.b64encode(canary.encode()).decode().rstrip("=") in text:
        return True
    low = "".join(chr(ord(letter) & 0x7F) for letter in text if ord(letter) >= _TAGS)
    upper = "".join(chr(ord(letter) - _SELECTORS) for letter in text if ord(letter) >= _SELECTORS)
    return canary in low or canary in upper or _in_bits(text, canary)


def _in_bits(text: str, canary: str) -> bool:
    """Whether two signs, or a sign and its absence, alternate like the bits of the canary."""
    wanted = _bits(canary, "0", "1")
    unseen = [letter for letter in text if is_invisible(letter) and letter != "\n"]
    gaps = _gaps(text)
    for signs in (unseen, gaps):
        kinds = list(dict.fromkeys(signs))
        for one in kinds:
            bits = "".join("1" if sign == one else "0" for sign in signs)
            if wanted in bits or wanted in bits.translate({48: 49, 49: 48}):
                return True
    return False


def _gaps(text: str) -> list[str]:
    """The text between the visible letters `w` and emoji, which carry the channels above."""
    gaps: list[str] = []
    current: str | None = None
    for letter in text:
        if letter in "w\U0001f600":
            if current is not None:
                gaps.append(current)
            current = ""
        elif current is not None:
            current += letter
    return gaps if current is None else [*gaps, current]
