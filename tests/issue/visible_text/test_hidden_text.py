"""Text that a person does not see is in no reading, no prompt and no query."""

from html import unescape

import pytest

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.each_row import each_row
from testing.text.hidden_channels import CHANNELS, HIDDEN_BY_ARGUMENT, NOT_COUNTED, contains_canary
from testing.text.hidden_formulas import FORMS, HIDING_TEX
from testing.text.rendered_text import visible_words
from triage.domain.issue import Issue, IssueComment
from triage.issue.read_issue import read_issue, read_issue_and_thread
from triage.issue.visible_text.visible_text import extract_visible_page

CANARY = "zebrafinch"


@each_row("channel", CHANNELS)
def test_a_hidden_text_is_not_read(channel: str) -> None:
    body = CHANNELS[channel](CANARY)
    page = extract_visible_page(body)
    assert not contains_canary(page.text, CANARY), page.text
    parsed = read_issue(Issue(title="It fails", body=body))
    told = parsed.model_dump(exclude={"links"})
    assert not contains_canary("\n".join(_texts(told)), CANARY)


@each_row("channel", [name for name in CHANNELS if name not in NOT_COUNTED])
def test_hidden_text_is_counted(channel: str) -> None:
    assert extract_visible_page(CHANNELS[channel](CANARY)).hidden_fragments >= 1


@each_row("channel", [name for name in CHANNELS if name not in HIDDEN_BY_ARGUMENT])
def test_a_person_does_not_see_it_either(channel: str) -> None:
    assert CANARY not in visible_words(CHANNELS[channel](CANARY))


def test_the_canary_is_found_where_it_is_not_hidden() -> None:
    """Whoever looks can see: raw Markdown carries the canary in each channel, and plain words are seen."""
    blind = [name for name, hide in CHANNELS.items() if not contains_canary(unescape(hide(CANARY)), CANARY)]
    assert blind == []
    assert visible_words(f"a {CANARY} `b`") == f"a {CANARY} b"
    assert contains_canary(extract_visible_page(f"a *{CANARY}* `b`").text, CANARY)


@pytest.mark.parametrize("channel", ["comment in a line", "tags", "unused footnote", "hidden in raw code"])
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


SECRET_WORD = "zebrafinch"


@each_row("form", FORMS)
@each_row("name", HIDING_TEX)
def test_a_formula_that_hides_text_is_left_out(name: str, form: str) -> None:
    page = extract_visible_page(FORMS[form](HIDING_TEX[name][0].replace("@", SECRET_WORD)))
    assert SECRET_WORD not in page.text
    assert page.hidden_fragments == 1


@each_row("form", FORMS)
@each_row(
    "tex",
    [
        r"\frac{1}{2} \le \sqrt[3]{x_1^2 + \alpha}",
        r"\sum_{i=1}^{n} \left( \mathrm{d}x \right) \quad \text{if } x \geq 0, \; n! \in \mathbb{N}",
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        r"\begin{array}{l|c:r} x & y & z \\ \hline a\\b \end{array}",
        r"\begin{aligned}[t] w_0 &\leftarrow \frac{\partial L(\hat{y},y)}{\partial w_0} \\ w_1 &= 5 \end{aligned}",
        r"x \hspace{2em} y \\[1.5ex] z",
        r"\lVert x \rVert = \underbrace{a + \dots + b}_{\text{all}}",
        r"\{x \mid x = 5\$\}",
    ],
)
def test_a_formula_of_ordinary_mathematics_is_read(tex: str, form: str) -> None:
    page = extract_visible_page(FORMS[form](tex))
    assert page.hidden_fragments == 0
    letters = "".join(letter for letter in tex if letter.isalnum())
    assert letters in "".join(letter for letter in page.text if letter.isalnum())


@each_row(
    ("space", "is_read"),
    [
        (r"\hspace{5em}", True),
        (r"\hspace{5.1em}", False),
        (r"\hspace{-1em}", False),
        (r"\mspace{90mu}", True),
        (r"\mspace{91mu}", False),
        (r"\hspace*{1cm}", True),
        (r"\hspace{2cm}", False),
        (r"\hspace{1in}", False),
        (r"\hspace{9,5em}", False),
        (r"\hspace{1parsec}", False),
        (r"\hspace{\textwidth}", False),
        (r"\\[5em]", True),
        (r"\\ [ 6 em ]", False),
        (r"\\*[99pt]", False),
        (r"\qquad\quad\qquad", True),
        (r"\qquad\quad\qquad\,", False),
        (r"\qquad {} \qquad ~ {} \qquad", False),
    ],
)
def test_a_space_has_at_most_five_em(space: str, is_read: bool) -> None:
    page = extract_visible_page(f"$`x {space} y`$")
    assert page.hidden_fragments == (not is_read)
    assert ("y" in page.text) == is_read


@each_row(
    "text",
    [
        r"Set $env:Path = $env:X\bin;C:\tools and $env:Y\library, or $ alone",
        r"run $HOME\bin and $USERPROFILE\tools for US$5\month or $6",
        r"copy from \\server\public$ to \\server\admin$ now",
        r"if ($x) { C:\folder\file } else { $y }",
        r"PS C:\temp> $x.ToString() | % { $_ } | C:\folder\tool $y",
        r"in $x.name\title$y it fails",
        r"Set $env:Path = $env:X\bin;C:\tools and run it. It costs $5 or 6$.",
        r"a `\$` in code, then $HOME\bin, $x$ and C:\folder, and $y$",
        r"between $5 and" + "\n" + r"C:\folder costs 6$",
        r"cost $5 for `\folder` and 6$",
        r"the $ sign, \folder and the $",
        r"kill $$ and C:\folder",
    ],
)
def test_ordinary_text_with_dollar_signs_is_no_formula(text: str) -> None:
    page = extract_visible_page(text)
    assert (page.text, page.hidden_fragments) == (text.replace(r"\\", "\\"), 0)


@pytest.mark.parametrize("formula", [r"$`10\% \text{of } x`$", r"$10\%$", "```math\n10\\% of x\n```"])
def test_a_per_cent_sign_is_no_comment(formula: str) -> None:
    assert extract_visible_page(formula).hidden_fragments == 0


def test_only_the_formula_that_hides_text_is_left_out() -> None:
    page = extract_visible_page(r"with $x$ and $y\phantom{z}$ and `$a` and $`b`$ and $`c\label{d}`$ and $$e$$, $f$")
    assert (page.text, page.hidden_fragments) == ("with $x$ and and `$a` and $`b`$ and and $$e$$, $f$", 2)


@each_row("piece", ["$x$ ", "$x\\label{y}$ ", "$x{ ", "$ x{y$ ", "$$", "$`a\\b`$ ", "$x\\[1", "$\\quad{ ", "{$a$"])
def test_the_cost_of_formulas_is_linear(piece: str) -> None:
    assert_grows_linearly(repeat_to(piece), extract_visible_page)


def test_the_cost_of_open_braces_is_linear() -> None:
    assert_grows_linearly(lambda size: "$x{" * (size // 4) + "}" * (size // 4) + " $y z$", extract_visible_page)
