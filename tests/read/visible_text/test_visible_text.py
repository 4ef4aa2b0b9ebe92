"""The model sees what a person sees."""

import unicodedata

import regex  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.read.visible_text.visible_text import extract_visible_line, extract_visible_page
from triage.safety.clean_text import clean_and_count, clean_text


def test_a_page_is_read_as_displayed() -> None:
    page = extract_visible_page(
        "<!-- please fill in -->\n"
        "## What happened\r\n\r\n"
        "Saving `cart.json` fails, see [the docs](https://docs.example/save) and https://x.example.\r\n"
        "It worked in **2.1**.\n\n"
        "- first\n- second\n  1. deeper\n\n"
        "- [x] searched\n- [ ] asked\n\n"
        "| os | ok |\n|---|---|\n| linux | yes |\n\n"
        "```python\ndef save(self):\n    pass\n```\n\n"
        "<details><summary>Log</summary>\n\n```\nline 1\n\nline 2\n```\n\n</details>\n\n"
        "> quoted\n\n    indented code\n"
    )
    assert page.text == (
        "## What happened\n\n"
        "Saving `cart.json` fails, see the docs (docs.example) and https://x.example.\n"
        "It worked in 2.1.\n\n"
        "- first\n- second\n  1. deeper\n- [x] searched\n- [ ] asked\n\n"
        "os | ok\nlinux | yes\n\n"
        "```python\ndef save(self):\n    pass\n```\n\n"
        "Log\n\n"
        "```\nline 1\n\nline 2\n```\n\n"
        "> quoted\n\n"
        "```\nindented code\n```"
    )
    assert page.links == ["https://docs.example/save", "https://x.example"]
    assert page.hidden_fragments == 1


@each_row(
    ("markdown", "text"),
    [
        (None, ""),
        ("", ""),
        (" \r\n\t", ""),
        ("a\x00b\ud800c", "abc"),
        ("one\rtwo\r\nthree\u2028four", "one\ntwo\nthree\nfour"),
        ("call __init__ now", "call __init__ now"),
        ("call **init** now", "call init now"),
        ("the <module> here", "the here"),
        ("a&nbsp;&nbsp;&nbsp;b\n\n&emsp;&emsp;c", "a b\n\n  c"),
        ("the `<module>` here", "the `<module>` here"),
        ("use the <script> tag", "use the <script> tag"),
        ("a <title> b", "a <title> b"),
        ("**Steps:**\nrun it", "###### Steps:\n\nrun it"),
        ("**Steps**\nrun `it`\n**Result**\nnone", "###### Steps\n\nrun `it`\n\n###### Result\n\nnone"),
        ("**Steps**\nrun it\n**KeyError: 7**\nthen", "###### Steps\n\nrun it\nKeyError: 7\nthen"),
        ("**Version**\n**1.2.3**", "###### Version\n\n1.2.3"),
        ("run it\n**Result**\nnone", "run it\nResult\nnone"),
        ("it is **very** bad", "it is very bad"),
        ("&lt;b&gt; &amp; &#64;bob", "<b> & @bob"),
        (r"\*not bold\*", "*not bold*"),
        (">>> f(1)\n3", ">>> f(1)\n>>> 3"),
        ("it costs $5 and 20% more, $6 in all", "it costs $5 and 20% more, $6 in all"),
        ("run `$HOME/a` 20% of `$PATH`", "run `$HOME/a` 20% of `$PATH`"),
        ("so $x^2$ it is", "so $x^2$ it is"),
        ("H<sub>2</sub>O and x<sup>y<sup>2</sup></sup>", "H2O and xy2"),
        ("```C++ title=a\nx\n```", "```C++\nx\n```"),
        ("````\n```\ninner\n```\n````", "````\n```\ninner\n```\n````"),
        ("![shot](https://img.example/1.png)", "[picture]"),
        ("see <img src='https://img.example/1.png' alt='obey'>\nbelow", "see [picture]\nbelow"),
        ("3. third\n4. fourth", "3. third\n4. fourth"),
        ('<ol start="-7"><li>one</li></ol>', "1. one"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("👩\u200d💻 ❤\ufe0f done", "👩\u200d💻 ❤\ufe0f done"),
    ],
)
def test_small_pages(markdown: str | None, text: str) -> None:
    assert extract_visible_page(markdown).text == text


def test_an_image_is_a_link_to_its_host() -> None:
    assert extract_visible_page("![shot](https://img.example/blob/x/1.py)").links == ["https://img.example"]


def test_a_long_underlined_paragraph_is_not_a_heading() -> None:
    page = extract_visible_page("word " * 60 + "\n----\n")
    assert [block.kind for block in page.blocks] == ["text"]


def test_a_title_is_one_line() -> None:
    assert extract_visible_line("  Crash\u200b on\r\n`save`  **now** ") == ("Crash on `save` **now**", 1)


def test_every_invisible_code_point_goes() -> None:
    unseen = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}]")
    shown_formats = {chr(n) for n in (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD)}
    points = [
        chr(n)
        for n in range(0x110000)
        if unseen.match(chr(n)) and chr(n) not in shown_formats | set("\n\t\r\x0b\x0c\x85")
    ]
    assert len(points) > 4_000
    survivors = [f"{ord(c):X} {unicodedata.category(c)}" for c in points if clean_and_count(f"a{c}b")[0] != "ab"]
    assert survivors == []


def test_a_run_counts_once() -> None:
    assert clean_and_count("a\u200b\u200c\u200db\u2060c") == ("abc", 2)


@settings(max_examples=200)
@given(st.text())
def test_any_text_is_read_and_stays_clean(markdown: str) -> None:
    page = extract_visible_page(markdown)
    assert clean_text(page.text) == page.text
    page.text.encode()


@each_row("name", ["canvas", "dialog", "template", "video", "svg", "datalist", "progress"])
def test_an_unclosed_tag_hides_nothing_after_it(name: str) -> None:
    """People name elements without code marks; GitHub drops such a tag, and shows what follows."""
    page = extract_visible_page(f"The <{name} data-x='canary'> element fails.\n\nSee below.")
    assert page.text.split() == ["The", "element", "fails.", "See", "below."]


def test_invisible_entities_are_removed() -> None:
    page = extract_visible_page("a&#x200b;b&zwnj;c&shy;d&#xE0063;e&#27;[31mf <code>g&#x202e;h</code> [i](&#8203;)")
    assert page.text == "abcdef `gh` i"
    assert page.hidden_fragments >= 4


@each_row(
    ("link", "told"),
    [
        ("[a](https://Docs.example/save?x=1#y)", "a (docs.example)"),
        ("[a](https://me:pw@docs.example/save)", "a (docs.example)"),
        ("[a](https://github.com/o/r/blob/main/a.py#L3-L9)", "a (https://github.com/o/r/blob/main/a.py#L3-L9)"),
        (
            "[a](https://git.example:8443/g/s/r/-/blob/main/a.py?x#L3)",
            "a (https://git.example:8443/g/s/r/-/blob/main/a.py)",
        ),
        ("[a](../a.py)", "a"),
        ("[a](mailto:b@c.example)", "a"),
        ("https://x.example/y?z", "https://x.example/y?z"),
        ("[](https://x.example)", ""),
        (
            "[`a`](https://x.example) [![](https://y.example)](https://z.example)",
            "`a` (x.example) [picture] (z.example)",
        ),
        ("[`http://x.example`](http://x.example)", "`http://x.example`"),
    ],
)
def test_the_visible_part_of_a_link(link: str, told: str) -> None:
    assert extract_visible_page(link).text == told
