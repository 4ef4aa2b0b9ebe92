"""Finds what a report says that its example prints, and what it wishes: blocks and lines below the words, or values."""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from triage.base.text import word_set
from triage.domain.issue import CodeBlock, ParsedIssue
from triage.read.versions.versions import PLATFORMS, parse_version
from triage.reproduce.example import python_code
from triage.reproduce.example.sessions import read_session, without_marks, without_traces

WISH = re.compile(
    r"(?i)\b(?:should|shouldn't|expect\w*|instead|ought|would (?:be|like (?:as|to (?:get|have)))|to (?:be|return)|"
    r"better|rather|must|proper|propose|want|suppress\w*|fix(?:ed|es)?|desired|correct\w*|more sense)\b"
)
"""A sentence that says what ought to happen, not what does."""
_SAYS = (
    r"(?:actual\w*|prints?|printed|outputs?|outcomes?|result(?:s|ed)?|returns?|returned|gives?|yields?|shows?|got|"
    r"rec(?:ei|ie)ved|observed|current (?:behaviou?r|output|result|value)s?|(?:I|we|you) (?:would )?(?:get|see))"
)
_PRINTED = re.compile(rf"(?i)\b{_SAYS}\b")
_ACTUAL = re.compile(r"(?i)\b(?:actual\w*|got|rec(?:ei|ie)ved|observed|current|but|I get)\b")
_BUT_THEN = re.compile(r"(?i)\W*instead\b(?! of)")
"""At the start of what happens; later in a sentence, of what ought to."""
_OTHER_TIME = re.compile(
    r"(?i)\b(?:earlier|older|(?<![st] the )old (?:output|value)s?|previous\w*|before|used to|works?|worked|downgrad\w+|"
    r"after (?:\w+ ){0,2}(?:fix|change|patch))\b"
)
_AT_END = re.compile(r"(?i)\binstead\W*$")
_DOCS = re.compile(r"(?i)\b(?:docs?|documentation|readme)\b")
_WORKS = re.compile(
    r"(?i)(?<!should )(?<!not )(?<!n't )\bworks? (?:as (?:expected|intended)|fine|well|correctly|properly)\b"
)
_HEADING = re.compile(r"(?:#{1,6} |\*\*)(.+?)[*:]*$")
_LITERAL = (
    r"(?P<value>`[^`\n]{1,200}`|'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"|[-+]?\d[\d.e+-]{0,40}|"
    r"\{\}|\[\]|\(\)|(?i:true|false|none|null|nan)(?!\w))"
)
_ALONE = re.compile(rf"[-*>\s]*(?:(?P<label>[\w .-]{{0,40}}?\d+(?:\.\d+)+[\w.]*)\W{{0,2}} ?[:=] *)?{_LITERAL}\s*$")
"""Such as `Pint 0.25: 1.0 m`, one line for each version."""
_NUMBER = re.compile(r"(?:\b(?P<name>[A-Za-z][\w.-]*) )?v?(?P<number>\d+(?:\.\d+)+[\w.]*)")
_KIND = r"(?:string|text|value|number|integer|float|boolean|list|array|dict|object|tuple|result|output)"
_VALUE = re.compile(
    rf"(?i)\b(?:{_SAYS}(?: value)?(?: in| is| was| to)?|(?:{_SAYS}|produces?) (?:an?|the) (?:\w+ of|{_KIND}))"
    rf"[\s:]{{0,9}}(?:[=-]>\s?)?{_LITERAL}"
    r"(?=\s*(?:[.,;:!?()\uff0c\u3002]|$|"
    r"\b(?:but|instead|rather|despite|(?:even )?though|although|when (?:it|this) should)\b))",
    re.M,
)
"""At the end of a clause: not `100 %`, and not `3 times`."""
_TAKEN = re.compile(
    rf"(?i)\b(?:{_SAYS}|expect\w*|should \w+)\b(?:[^:=>]*[:=>]+ *\S.*|(?: value| is| was)?\s+{_LITERAL}\W?)(?<!:)\s*$"
)
"""Such as `Output: 3 days`: code below such a line is another example."""
_PLAIN = (
    r"(?P<literal>\[.*\]|\{.*\}|'[^'\n]*'|\"[^\"\n]*\"|-?\d+\.\d+|-?\d\d+|true|false|none|null|undefined|nan)[ \t]*"
)
_COMMENTED = re.compile(
    rf"(?i)(?:(?:^|[\s;)])(?:#|//) *(?:(?P<words>(?:expect\w*|{_SAYS})(?: {_SAYS})?)\b(?P<colon>:?)|[=-]{{1,9}}>) *"
    rf"(?P<value>\S.*|(?:\n[ \t]*(?:$|(?:#|//)(?! *(?:expect\w*|{_SAYS})\b).*))+)"
    rf"|\);?[ \t]*(?:\n[ \t]*)?(?:#|//) *(?:[^\w\s'\"([{{-]{{1,3}} *)?{_PLAIN}"
    rf"|^[ \t]*(?P<text>'[^'\n]*'|\"[^\"\n]*\")[ \t]*(?:#|//) *(?P<label>expect\w*|{_SAYS})[ \t]*)$",
    re.M,
)
"""Such as `f()  # returns 1`, also with the value below; `f() // => 1`; `f() // [1]`, also below; `'a' // Actual`."""
_HEADED = re.compile(
    rf"(?i)\s*(?:#|//) *((?:expect\w*|{_SAYS})\b.*)\n(\s*(?:[\[{{'\"\d-]|(?:true|false|none|null|nan)\b)[^();]*)"
)
"""A block that is a value below a comment such as `// Actual`."""
_SIGN = re.compile(r"^[ \t]*(?:#|//) ?", re.M)
_WISHED_VALUE = re.compile(
    r"(?i)\b(?:instead of|rather than|should \w+|expect(?:ed|s)?|want(?:ed|s)?|to be)\s*:?\s*`(?P<value>[^`\n]{1,200})`"
)
_SENTENCE = re.compile(r"[.;!?](?=\s)|\b(?:but|whereas|while)\b|\n\s*\n|\n(?=[Aa]ctual\b|(?<!:\n)(?:Got|Returned)\b)")
_CODE = re.compile(
    r"^(?:>>>|In ?\[|> ?(?:(?:const|let|var) |[\w$.]+\()|console\.\w+\(|import |from \w+ import |"
    r"(?:const|let|var) [\w${},: ]+=|//|.{0,200}\bpython[\d.]* -c )",
    re.M,
)
_PLAIN_COMMAND = re.compile(r"\S*$|(?:python|node)[\d.]* \S+\s*$")
_ARGUMENTS = re.compile(r"\bargv\b|\bparse_args\(")
"""Code that reads them."""
_TOOL = re.compile(r"(?:pip|npm|yarn|git|conda|cd|ls|cat|uname)\b")
"""A command that is not the example, but may install what the next ones run."""
_DATA = word_set("text txt output log json xml html")
_OUTPUTS = word_set("text txt console output log sh bash shell json xml html pycon python python3 py") | {""}
"""Languages in which output is shown. Of Python, a block that calls nothing."""
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?')
_MAX_BLOCKS = 100
_MAX_CLAUSE_CHARS = 200
_MAX_LABEL_WORDS = 4

Cue = Literal["printed", "named", "wished", "other", ""]


class StatedOutput(NamedTuple):
    """What a report says about the output of its examples."""

    blocks: set[int]
    """Numbers of those in `ParsedIssue.code` that are output."""
    others: set[int]
    """The same of code that another version runs, or that is wished."""
    working: set[int]
    """Those that do what they ought to."""
    shown: list[tuple[int, list[str]]]
    """The lines of each block, run or line that is printed; before them the number of the last code above, or -1."""
    named: list[str]
    """Values of which a sentence says that they are printed, or returned, and blocks without words."""
    wished: list[str]
    """What ought to be printed, or is on another version."""


def read_stated_output(parsed: ParsedIssue, version: str) -> StatedOutput:
    """Return what the report says is printed, of several versions on this one."""
    reader, end = _Reader(parsed, version), 0
    for number, block in enumerate(parsed.code[:_MAX_BLOCKS]):
        at = parsed.body.find(f"\n{block.text}\n", end)
        if at >= 0:
            reader.read_words(parsed.body[end:at])
            reader.read_block(number, block)
            end = at + 1 + len(block.text)
    reader.read_words(parsed.body[end:])
    return reader.stated


def find_commented(code: str) -> dict[Cue, list[str]]:
    """Return what the comments of code say that it prints, or ought to. What may be printed is one output.

    `# got: 2` says so for sure, `# got the wrong total` may be anything. Of `# 2` nobody knows whether it is printed or
    wished: an output with such a value has no cue.
    """
    found: dict[Cue, list[str]] = {"printed": [], "named": [], "wished": []}
    is_bare = False
    for match in _COMMENTED.finditer(code):
        words, value = match["words"] or match["label"] or "", match["value"] or match["literal"] or match["text"]
        is_below = value.startswith("\n")
        value = _SIGN.sub("", value).strip("\n").partition("\n\n")[0].strip("` \n")
        is_sure = (match["colon"] or match["label"]) and _ACTUAL.search(words) and not WISH.search(value)
        is_sure = is_sure and (not is_below or are_plain_values(value.split("\n")))  # else a remark may follow
        cue: Cue = "wished" if WISH.search(words) else "printed" if is_sure else "named"
        found[cue] += [value] if value else []
        is_bare = is_bare or not words
    named = found["named"]
    whole = ["\n".join(named)] if named and not any(map(WISH.search, named)) else []
    return found | {"named": [], "": [], "" if is_bare else "named": whole}


def are_plain_values(lines: Iterable[str]) -> bool:
    """Return whether each is a value, and nothing else."""
    return all(re.fullmatch(f"(?i)(?:{_PLAIN}|{_LITERAL})", line) for line in lines)


def show_as_node(text: str) -> str:
    """Return JSON as Node shows the value, and other text as it is but for numbers as keys."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return re.sub(r"([{,]\s*)(\d+):", r"\1'\2':", text) if text[:1] == "{" else text
    return _STRING.sub(_quote_as_node, text) if text[:1] in "[{" else text


def _quote_as_node(match: re.Match[str]) -> str:
    text, colon = match[1].replace('\\"', '"'), match[2] or ""
    if colon and re.fullmatch(r"[A-Za-z_$][\w$]*", text):
        return f"{text}:"
    quote = next((one for one in "'\"`" if one not in text), "'")
    return f"{quote}{text}{quote}{colon}"


class _Reader:
    def __init__(self, parsed: ParsedIssue, version: str) -> None:
        self._version, self._section, self._said, self._words, self._code = version, "", "", "", -1
        self._is_of_other_version = self._is_taken = False
        """The last code is; a line above code has a value of the code above it."""
        self._takes_arguments = any(map(_ARGUMENTS.search, (block.text for block in parsed.code)))
        wished = [match["value"] for match in _WISHED_VALUE.finditer(parsed.prose)]
        self.stated = StatedOutput(set(), set(), set(), [], [*_find_values(parsed.prose, wished)][:1], wished)

    def read_words(self, words: str) -> None:
        before, self._said, self._words = self._said, "", words
        for line in words.split("\n"):
            if not line.strip() or line.startswith("```"):
                continue
            if heading := _HEADING.match(line):
                self._section = self._said = heading[1]
                continue
            if alone := _ALONE.match(line):
                self._said = alone["label"] or self._said
                self._add(alone["value"].strip("`"), self._find_cue())
            goes_on = re.fullmatch(r"\W*(?:is|was|are)\W*", line)  # the sentence above a block: "The output of CODE is"
            self._said = f"{self._said or before} {line}" if goes_on else line

    def read_block(self, number: int, block: CodeBlock) -> None:
        text, is_data = block.text, block.language.lower() in _DATA
        if headed := _HEADED.fullmatch(text):
            text = headed[2]
            self._said = headed[1] if WISH.search(headed[1]) or not self._find_cue() else self._said
        is_first = self._code < 0 and not is_data
        calls = block.language.lower() not in _OUTPUTS or _CODE.search(text) is not None or _calls(text)
        is_taken = calls and _TAKEN.search(self._said[-_MAX_CLAUSE_CHARS:]) is not None
        cue = "" if is_taken else self._find_cue()
        if is_taken and not self._is_taken:
            self._is_taken, self.stated.named[:] = True, (one for one in self.stated.named if one in self._words)
        if not cue and not calls and (self._code >= 0 or not is_data):  # above all code it is what goes in
            cue = judge_words(self._section) or "named"
        if cue in ("wished", "other") or (not cue and _DOCS.search(self._said)):
            self.stated.others.add(number)
        if _WORKS.search(self._said):
            self.stated.working.add(number)
        if not is_first and (cue == "wished" or (cue == "other" and not calls)):
            self.stated.wished.append(without_marks(text))
        elif cue in ("printed", "named") and not is_first and not _CODE.search(text):
            self.stated.blocks.add(number)
            said = find_commented(text if calls else "")  # the call again, with its value behind it
            values = "\n".join([*said["printed"], *said["named"], *said[""]]).split("\n")
            is_behind = values != [""] and len(values) == sum(map(bool, map(str.strip, text.split("\n"))))
            cue = cue if not is_behind or are_plain_values(values) else "named"
            self._read_output("\n".join(values) if is_behind else text, cue)
        elif is_first or calls:
            self._code, self._is_of_other_version = number, cue == "other" and not _OTHER_TIME.search(self._said)

    def _read_output(self, text: str, cue: Cue) -> None:
        """Read each run of a transcript on its own. What is installed between them is another version."""
        session = read_session(text, "shell")
        for command, output in zip(session.statements, session.outputs, strict=True) if session else [("", text)]:
            if _TOOL.match(command):
                self._said = command
                cue = self._find_cue() or cue
            elif output and _PLAIN_COMMAND.match(command):
                self._add(output, cue)
            elif output and not self._takes_arguments:  # with these, it is not the example as it is run
                self._add(output, "named")

    def _add(self, text: str, cue: Cue) -> None:
        rest = without_traces(text)
        found = [] if "Traceback (most recent call last)" in rest else rest.split("\n")
        lines = [line for line in found if line.strip("-= ")]
        if cue in ("wished", "other") or self._is_of_other_version:
            self.stated.wished.append(without_marks(text))
        elif lines and cue == "named":
            self.stated.named.append("\n".join(lines))
        elif lines and cue == "printed":
            self.stated.shown.append((self._code, lines))

    def _find_cue(self) -> Cue:
        """Return what the line above a value or a block says of it."""
        sentence = _SENTENCE.split(self._said.rstrip(" .:"))[-1]
        labels = [match for match in _NUMBER.finditer(sentence) if (match["name"] or "").lower() not in PLATFORMS]
        is_other = labels and not self._is_named_version(labels[-1]["number"]) and "currently" not in sentence
        if _OTHER_TIME.search(sentence) or is_other:
            return "other"
        is_label = labels and len(sentence.split()) <= _MAX_LABEL_WORDS
        cues = [one for part in reversed(sentence.split(",")) if (one := judge_words(part))]
        cue = cues[0] if cues else "printed" if is_label else ""
        return "wished" if cue == "printed" and WISH.search(self._section) and not _ACTUAL.search(sentence) else cue

    def _is_named_version(self, written: str) -> bool:
        one, other = parse_version(written), parse_version(self._version)
        return one is not None and other is not None and one.numbers == other.numbers


def judge_words(words: str) -> Cue:
    """Return what words above or before a value say of it: that it is printed, or ought to be."""
    if _BUT_THEN.match(words):
        return "printed"
    rest = _AT_END.sub("", words) if _PRINTED.search(words) else words  # "I get this instead"
    return "wished" if WISH.search(rest) else "printed" if _PRINTED.search(rest) else ""


def _calls(text: str) -> bool:
    tree = python_code.parse(text)
    body = [one for one in tree.body if not (isinstance(one, ast.AnnAssign) and one.value is None)] if tree else []
    return any(isinstance(node, ast.Call | ast.Assign) for one in body for node in ast.walk(one))  # not `total: f(1)`


def _find_values(prose: str, wished: list[str]) -> Iterator[str]:
    """Yield the values of which a sentence says that they are printed, and add those that it wishes."""
    for match in _VALUE.finditer(prose):
        before = _SENTENCE.split(prose[max(0, match.start() - _MAX_CLAUSE_CHARS) : match.start("value")])[-1]
        value, at_start = match["value"].strip("`").rstrip("."), _BUT_THEN.match(before)
        if WISH.search(before, at_start.end() if at_start else 0):
            wished.append(value)
        elif not (at_start or _OTHER_TIME.search(before) or _DOCS.search(before) or value in wished):
            yield value
