"""Text that a person does not see is in no reading, no prompt and no query."""

from html import unescape

import pytest

from testing.cost_growth import assert_grows_linearly
from testing.each_row import each_row
from testing.text.hidden_channels import CHANNELS, contains_canary
from testing.text.rendered_text import visible_words
from triage.domain.issue import Issue, IssueComment
from triage.read.read_issue import read_issue, read_issue_and_thread
from triage.read.visible_text.visible_text import extract_visible_page

CANARY = "zebrafinch"


@each_row("channel", CHANNELS)
def test_a_hidden_text_is_not_read(channel: str) -> None:
    parsed = read_issue(Issue(title="It fails", body=CHANNELS[channel](CANARY)))
    told = parsed.model_dump(exclude={"links"})
    assert not contains_canary("\n".join(_texts(told)), CANARY)


@each_row(
    "markdown",
    [
        *("a <b style='display:none'>@</b>", "a <i hidden>@</i>", "a <b popover>@</b>", "<i aria-hidden=true>@</i>"),
        *("a <font color='white'>@</font>", "a <svg><text>@</text></svg>", "a <template>@</template>"),
        *("a <script>@</script>", "a <title>@</title>", "a <noscript>@</noscript>", "a <canvas>@</canvas>"),
    ],
)
def test_what_the_sanitizer_of_github_shows_is_read(markdown: str) -> None:
    written = markdown.replace("@", CANARY)
    assert CANARY in visible_words(written)
    assert CANARY in extract_visible_page(written).text


@each_row(
    ("markdown", "count"),
    [
        ("a <!-- b --> c <!-- d -->\n\n<!-- e -->", 3),
        ("a\u200b\u200bb\u200bc", 2),
        (r"a $\phantom{b}$ and $`c`$", 2),
        ("```mermaid\ngraph TD\n```", 1),
        ("a [](https://x.example/b) c", 1),
        (f"a{'<sub>' * 9}b", 1),
        ("<b>" * 300 + "a <sub>b", 1),
        ("<pre>a <!-- b --></pre> <code>c<!-- d --><rp>e</rp></code>", 3),
        ("<!DOCTYPE b>\n\na", 1),
        ("a\n\n[x]: https://x.example 'b'", 0),
    ],
)
def test_what_is_hidden_is_counted(markdown: str, count: int) -> None:
    assert extract_visible_page(markdown).hidden_fragments == count


def test_the_canary_is_found_where_it_is_not_hidden() -> None:
    """Whoever looks can see: raw Markdown carries the canary in each channel, and plain words are seen."""
    blind = [name for name, hide in CHANNELS.items() if not contains_canary(unescape(hide(CANARY)), CANARY)]
    assert blind == []
    assert visible_words(f"a {CANARY} `b`") == f"a {CANARY} b"
    assert contains_canary(extract_visible_page(f"a *{CANARY}* `b`").text, CANARY)


@pytest.mark.parametrize("channel", ["comment in a line", "tags"])
def test_comments_of_others_are_read_in_the_same_way(channel: str) -> None:
    hidden = CHANNELS[channel](CANARY)
    thread = [IssueComment(author="mona", body=hidden), IssueComment(author="hubot", body=hidden)]
    parsed, others = read_issue_and_thread(
        Issue(title=f"It\u200b fails {hidden if channel == 'tags' else ''}", body="b", author="mona", thread=thread)
    )
    assert not contains_canary(parsed.text + "".join(said.body for said in others), CANARY)
    assert parsed.hidden_fragments >= 3


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for part in value.values() for text in _texts(part)]
    return [text for part in value for text in _texts(part)] if isinstance(value, list) else []


@each_row("formula", ["so $x^2$ it is", "$$e = mc^2$$", "$a_1 + b$ and $c$"])
def test_a_formula_without_commands_is_read(formula: str) -> None:
    page = extract_visible_page(formula)
    assert (page.text, page.hidden_fragments) == (formula, 0)


@each_row(
    "text",
    [
        r"Set $env:Path = $env:X\bin;C:\tools and $env:Y\library, or $ alone",
        r"run $HOME\bin and $USERPROFILE\tools for US$5\month or $6",
        r"copy from \\server\public$ to \\server\admin$ now",
        r"if ($x) { C:\folder\file } else { $y }",
        r"PS C:\temp> $x.ToString() | % { $_ } | C:\folder\tool $y",
        r"in $x.name\title$y it fails",
        r"between $5 and" + "\n" + r"C:\folder costs 6$",
        r"the $ sign, \folder and the $",
        r"kill $$ and C:\folder",
    ],
)
def test_ordinary_text_with_dollar_signs_is_no_formula(text: str) -> None:
    page = extract_visible_page(text)
    assert (page.text, page.hidden_fragments) == (text.replace(r"\\", "\\"), 0)


@each_row(
    ("markdown", "text", "count"),
    [
        ("with $x$ and `$a` and $\\alpha$, so\nthe $`b`$ rest", "with $x$ and `$a` and , so\nthe rest", 2),
        (r"Let $\alpha$ be it. `f()` fails when $\beta > 0$ holds.", "Let be it. `f()` fails when holds.", 2),
        ("from $\\frac{a}{b}$ on\n$$\n\\gamma\n$$\nand then\n$$\nx\n$$", "from on\n\nand then\n$$\nx\n$$", 2),
        ("the prices $10~20 and 30$ are wrong!", "the prices $10~20 and 30$ are wrong!", 0),
        (r"with $\alpha$ and \phantom{a}, $\beta$ it", "with it", 1),
        (r"with $\phantom{\text{x $a$ and $b}}$ it", "with it", 1),
    ],
)
def test_what_stands_between_formulas_is_read_if_it_is_clear(markdown: str, text: str, count: int) -> None:
    page = extract_visible_page(markdown)
    assert (page.text, page.hidden_fragments) == (text, count)


def test_the_cost_of_open_braces_is_linear() -> None:
    assert_grows_linearly(lambda size: "$x{" * (size // 4) + "}" * (size // 4) + " $y z$", extract_visible_page)
