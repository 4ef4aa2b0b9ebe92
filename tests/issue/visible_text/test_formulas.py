"""Formulas of ordinary mathematics are read; others are left out and counted."""

import pytest

from testing.cost_growth import assert_grows_linearly, repeat_to
from testing.text.hidden_formulas import FORMS, HIDING_TEX
from triage.issue.visible_text.visible_text import extract_visible_page

CANARY = "zebrafinch"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HIDING_TEX)
def test_a_formula_that_hides_text_is_left_out(name: str, form: str) -> None:
    page = extract_visible_page(FORMS[form](HIDING_TEX[name][0].replace("@", CANARY)))
    assert CANARY not in page.text
    assert page.hidden_fragments == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    "piece", ["$x$ ", "$x\\label{y}$ ", "$x{ ", "$ x{y$ ", "$$", "$`a\\b`$ ", "$x\\[1", "$\\quad{ ", "{$a$"]
)
def test_the_cost_of_formulas_is_linear(piece: str) -> None:
    assert_grows_linearly(repeat_to(piece), extract_visible_page)


def test_the_cost_of_open_braces_is_linear() -> None:
    assert_grows_linearly(lambda size: "$x{" * (size // 4) + "}" * (size // 4) + " $y z$", extract_visible_page)
