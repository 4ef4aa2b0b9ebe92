"""Formulas that hide a text, each with the reason why MathJax does not show it."""

from collections.abc import Callable

FORMS: dict[str, Callable[[str], str]] = {
    "in a line": lambda tex: f"a ${tex.replace(chr(10), ' ')}$ b",
    "display": lambda tex: f"a\n\n$$\n{tex}\n$$",
    "in code marks": lambda tex: f"a $`{tex}`$ b",
    "in a fence": lambda tex: f"```math\n{tex}\n```",
}
"""Ways to write a formula on GitHub."""

_DEFINES = "Defines something and draws nothing."
_NAMES = "Takes a name, which is not drawn."
_MOVES = "Moves the text off the page, or other text onto it."
_OPTION = "Takes an option, which is not drawn."
HIDING_TEX: dict[str, tuple[str, str]] = {
    "phantom": (r"x\phantom{@}y", "Takes space and is not painted."),
    "phantom of height": (r"x\vphantom{@}y", "As the phantom."),
    "phantom after a break": (r"x\\\phantom{@}y", "As the phantom."),
    "phantom in a text": (r"\text{a $b$ \phantom{@}}", "As the phantom."),
    "phantom beside a dollar sign": (r"x\$ \phantom{@ \$}y", "As the phantom."),
    "comment": ("x % @\ny", "TeX ends a line at a per cent sign."),
    "comment after a break": ("x \\\\% @\ny", "As the comment: the backslashes belong together."),
    "colour": (r"\color{white}{@}", "White on white."),
    "reference": (r"x\ref{@}", "Shows question marks for a label that does not exist."),
    "reference to an equation": (r"x\eqref{@}", "As the reference."),
    "label": (r"x\label{@}", _NAMES),
    "name of an element": (r"\cssId{@}{x}", _NAMES),
    "class": (r"\class{@}{x}", _NAMES),
    "colour's name": (r"\definecolor{@}{RGB}{1,2,3}x", _NAMES),
    "package": (r"\require{@}x", _NAMES),
    "link": (r"\href{https://x.example/@}{x}", _NAMES),
    "array's columns": (r"\begin{array}{@}x\end{array}", _OPTION),
    "array's column of text": (r"\begin{array}{c!{\text{@}}c}x\end{array}", _OPTION),
    "environment's option": (r"\begin{aligned}[@]x\end{aligned}", _OPTION),
    "box's option": (r"\bbox[@]{x}", _OPTION),
    "character's font": (r"\unicode[@]{x41}", _OPTION),
    "tip": (r"\mathtip{x}{@}", "Shown when the mouse is over it."),
    "environment": (r"\newenvironment{e}{@}{}x", _DEFINES),
    "operator": (r"\DeclareMathOperator{\e}{@}x", _DEFINES),
    "tag's form": (r"\newtagform{e}{@}{)}x", _DEFINES),
    "delimiters": (r"\DeclarePairedDelimiters{\e}{@}{)}x", _DEFINES),
    "column type": (r"\newcolumntype{e}{@}x", _DEFINES),
    "moved box": (r"\moveleft 999em {\text{@}}x", _MOVES),
    "raised box": (r"\raise 999em {\text{@}}x", _MOVES),
    "wide space": (r"x\mspace{9999mu}\text{@}", _MOVES),
    "wide space before it": (r"x\hspace{-99em}\text{@}", _MOVES),
    "high line": (r"x\\[999em]\text{@}", _MOVES),
    "many spaces": ("x" + r"\quad" * 99 + r"\text{@}", _MOVES),
    "spaces without commands": ("x" + "~" * 999 + r"\text{@}", _MOVES),
    "steps back": (r"\text{@}" + r"\!" * 99 + r"\text{some other words}", _MOVES),
    "box of no width": (r"\rlap{\text{@}}\text{some other words}", _MOVES),
    "choice of sizes": (r"\mathchoice{x}{x}{@}{@}", "Draws one of four."),
}
