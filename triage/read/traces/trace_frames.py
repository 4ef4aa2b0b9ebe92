"""What the format of a stack trace consists of, and how its frames and errors are found in lines of text.

Most frames fit a pattern. Functions find those of several lines, those that look like another language's, and those of
native code: GDB, LLDB, sanitizers, Valgrind and crash reports of macOS.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class FrameLine:
    """A frame as written. Some formats state the error in the same line."""

    path: str
    """`UNKNOWN_FILE` where only the function is named."""
    line: int | None = None
    function: str | None = None
    exception: str | None = None
    message: str | None = None
    code: str | None = None
    """The line of code that the trace shows for it."""


@dataclass(frozen=True)
class RaisedError:
    exception: str | None = None
    message: str | None = None
    line: int | None = None
    """0-based number of the line that states the error."""
    frame: FrameLine | None = None


FindFrame = Callable[[Sequence[str], int], FrameLine | None]
"""Takes lines and the number of one; returns the frame in that line."""
FindError = Callable[[Sequence[str], range], RaisedError | None]
"""Takes lines and the range from the first to the last frame; returns the error."""


@dataclass(frozen=True)
class TraceFormat:
    language: str
    needles: tuple[str, ...]
    """Every line with a frame contains one of them, which is cheaper to check than the pattern."""
    find_frame: FindFrame
    find_error: FindError | None = None
    """None when the line of the frame states the error."""
    innermost_first: bool = False
    gap: int = 2
    """Maximum number of lines without a frame between two frames."""
    starts: re.Pattern[str] | None = None
    ends: re.Pattern[str] | None = None
    single: bool = False
    """Whether every frame is a trace of its own."""
    min_frames: float = 1
    """Fewest frames of a trace without an error: prose looks like fewer."""


def frame_by_pattern(*patterns: str | re.Pattern[str], height: int = 1) -> FindFrame:
    """Finds a frame in so many lines by `path` and other groups, which are named as the fields of `FrameLine`.

    The first pattern that fits counts.
    """
    compiled = [re.compile(pattern) for pattern in patterns]

    def find_frame(lines: Sequence[str], number: int) -> FrameLine | None:
        text = "\n".join(lines[number : number + height])
        match = next((found for pattern in compiled if (found := pattern.match(text))), None)
        return frame_from_groups(match.groupdict()) if match else None

    return find_frame


def error_near(pattern: str, *, above: int = 0, below: int = 0) -> FindError:
    """Finds the error in the nearest matching line, so many lines above the first frame or below the last one."""
    compiled = re.compile(pattern)

    def find_error(lines: Sequence[str], frames: range) -> RaisedError | None:
        upwards = range(frames.start - 1, max(-1, frames.start - 1 - above), -1)
        downwards = range(frames.stop, min(len(lines), frames.stop + below))
        return search_error(compiled, lines, upwards if above else downwards)

    return find_error


def error_around(*patterns: str, above: int) -> FindError:
    """Finds the error between the frames, at most `above` lines above them, or at most 3 below; pattern by pattern."""
    compiled = [re.compile(pattern) for pattern in patterns]

    def find_error(lines: Sequence[str], frames: range) -> RaisedError | None:
        numbers = range(max(0, frames.start - above), min(len(lines), frames.stop + 3))
        return next((found for pattern in compiled if (found := search_error(pattern, lines, numbers))), None)

    return find_error


def error_by_any(*ways: FindError) -> FindError:
    """Finds the error in the first way that finds one."""

    def find_error(lines: Sequence[str], frames: range) -> RaisedError | None:
        return next((found for way in ways if (found := way(lines, frames))), None)

    return find_error


def search_error(pattern: re.Pattern[str], lines: Sequence[str], numbers: range) -> RaisedError | None:
    """Return the error in the first of the numbered lines that the pattern matches; None if it matches none."""
    for number in numbers:
        match = pattern.match(lines[number])
        if match:
            groups = match.groupdict()
            return RaisedError(
                exception=groups.get("exception"),
                message=(groups.get("message") or "").strip() or None,
                line=number,
                frame=frame_from_groups(groups) if groups.get("path") else None,
            )
    return None


def frame_from_groups(groups: dict[str, str | None]) -> FrameLine:
    line = groups.get("line")
    folder = f"gems/{groups['gem']}-{groups['version']}/" if groups.get("gem") else ""
    return FrameLine(
        path=folder + (groups.get("path") or groups.get("module") or "").strip(),
        line=int(line) if line else None,
        function=(groups.get("function") or "").strip() or None,
        exception=groups.get("exception"),
        message=(groups.get("message") or "").strip().removeprefix(f"{groups.get('exception')}: ") or None,
        code=(groups.get("code") or "").strip() or None,
    )


UNKNOWN_FILE = "<unknown>"
NAME = r"[A-Za-z_$][\w.$:]{0,120}"
RAISED_NAME = (
    r"(?:[A-Za-z_][\w.:$]{0,120})?"
    r"(?:Error|Exception|Warning|Interrupt|Exit|Failure|Fault|Panic|Timeout|Abort|Throwable|DoesNotExist)\w{0,20}"
)


def find_rust_panic(lines: Sequence[str], frames: range) -> RaisedError | None:
    """Return the error of a panic. Newer compilers write the message on the line after the panic's location."""
    found = search_error(PANIC, lines, range(frames.start, max(-1, frames.start - 12), -1))
    if found is None or found.message is not None or found.line is None or found.line + 1 >= len(lines):
        return found
    message = lines[found.line + 1].strip()
    return replace(found, message=None if message.startswith(("stack backtrace", "note: ")) else message)


def find_jvm_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """`at org.shop.Cart.add(Cart.java:12)`: the package gives the folder. Maven writes a space before the file."""
    match = _JVM.match(lines[number])
    if match is None:
        return None
    parts = match["function"].split(".")
    folder = "/".join(parts[:-2])
    path = f"{folder}/{match['file']}" if folder else match["file"]
    return FrameLine(path, int(match["line"]) if match["line"] else None, match["function"])


def frame_below_call(location: re.Pattern[str], call: re.Pattern[str]) -> FindFrame:
    """Return a frame whose function is on the line above its location."""

    def find_frame(lines: Sequence[str], number: int) -> FrameLine | None:
        match = location.match(lines[number])
        if match is None:
            return None
        above = call.match(lines[number - 1]) if number else None
        return FrameLine(match["path"], int(match["line"]), above["function"].strip() if above else None)

    return find_frame


def find_notebook_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """IPython: a line with file and function, then code with an arrow at the current line."""
    cell = _CELL.match(lines[number])
    if cell is not None:
        return FrameLine(cell["cell"], int(cell["line"]), cell["function"])
    match = _NOTEBOOK.match(lines[number])
    if match is None:
        return None
    line = match["line"]
    for following in lines[number + 1 : number + 12]:
        if line or not following.strip():
            break
        arrow = _ARROW.match(following)
        line = arrow[1] if arrow else None
    return FrameLine(match["path"] or match["cell"], int(line) if line else None, match["function"])


def find_python_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """Return a frame of Python, whose line a terminal of 80 columns may break in two."""
    line = lines[number]
    if ", line " not in line and number + 1 < len(lines):
        line += lines[number + 1]
    match = _PYTHON.match(line) or _PYTHON.match(" ".join(lines[number : number + 2]))
    if match is None:
        return None
    frame = frame_from_groups(match.groupdict())
    return frame if frame.path else replace(frame, path=UNKNOWN_FILE)  # `<stdin>` without a fence is taken for HTML


def find_lisp_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """Emacs' debugger: below the error a call in each line, without its file."""
    call = _LISP_CALL.match(lines[number])
    if call is None or not any(LISP_ERROR in line for line in lines[max(0, number - _MAX_LISP_LINES) : number]):
        return None
    return FrameLine(UNKNOWN_FILE, None, call["function"])


def find_rust_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """Return a frame of Rust: without debugging information, only its function with its modules is known."""
    if located := _find_located_frame(lines, number):
        return located
    location_follows = number + 1 < len(lines) and RUST_LOCATION.match(lines[number + 1])
    match = None if location_follows else _RUST_FUNCTION.match(lines[number])
    return FrameLine(UNKNOWN_FILE, None, match["function"]) if match else None


def find_script_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """Return a frame of JavaScript. GDB, Java and Rust write `at file:line` as well, with files of other languages."""
    match = _SCRIPT.match(lines[number])
    if match is None or _NO_SCRIPT.search(match["path"]) or re.fullmatch(r"[^./\\:]*\s[^./\\:]*", match["path"]):
        return None
    return frame_from_groups(match.groupdict())


def find_dotnet_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """`at Shop.Cart.Total(Int32 count) in C:/Cart.cs:line 12`. Without the file, it is the one named like the type."""
    match = _DOTNET.match(lines[number])
    if match is None or "." not in match["name"] or match["name"].startswith(("System.", "Microsoft.")):
        return None
    if match["path"] and not match["path"].startswith("<"):
        return FrameLine(match["path"], int(match["line"]), match["function"])
    name = _TYPE_ARGUMENTS.sub("", match["name"])
    generated = _GENERATED.search(name)
    owner = name[: generated.start()] if generated else name.rpartition(".")[0]
    type_name = owner.rstrip(".").rpartition(".")[2].partition("`")[0]
    return FrameLine(f"{type_name}.cs", None, match["function"]) if type_name else None


LISP_ERROR = "Lisp error: ("
_LISP_CALL = re.compile(r"\s{1,4}(?P<function>[a-z][^\s()\"'#;]{2,100})\(")
_MAX_LISP_LINES = 50
"""A line may have a whole buffer as an argument."""
_JVM = re.compile(
    r"\s*(?:at )?(?:[\w.\-$@]{1,200}/{1,2}){0,3}(?P<function>[\w$<>]{1,200}\.[\w$.<>]{1,300}) ?"
    r"\((?P<file>[\w$.-]{1,120}\.(?:java|kt|kts|scala|groovy|clj))(?::(?P<line>\d{1,7}))?\)"
)
PANIC = re.compile(
    r".{0,200}?panicked at (?:'(?P<message>.{0,600}?)', )?(?P<path>(?:[A-Za-z]:)?[^\s:,']{1,300}\.rs):(?P<line>\d{1,7})"
)
GO_LOCATION = re.compile(
    r"\s*(?P<path>(?:[A-Za-z]:)?[^\s:]{1,400}\.go):(?P<line>\d{1,7})(?: \+?\(?0x[0-9a-f]+\)?)?"
    r"(?: [fsp][pc]=0x[0-9a-f]+){0,3}\s*$"
)
GO_CALL = re.compile(
    r"\s*(?:created by )?(?P<function>[\w./*()\-\[\]{}$%]{1,300}?)(?:\([^()]*\)| in goroutine \d+)?\s*$"
)
RUST_LOCATION = re.compile(r"\s+at (?P<path>(?:[A-Za-z]:)?[^\s:]{1,400}\.rs):(?P<line>\d{1,7})(?::\d{1,7})?\s*$")
RUST_CALL = re.compile(r"\s*\d{1,5}:\s+(?:0x[0-9a-f]+ - )?(?P<function>\S.{0,300})$")
_find_located_frame = frame_below_call(RUST_LOCATION, RUST_CALL)
_RUST_FUNCTION = re.compile(
    r"\s*\d{1,5}:\s+(?:0x[0-9a-f]+ - )?"
    r"(?P<function>(?:<[^\n]{1,200}>|[\w{}#]{1,100})(?:::[\w{}#<>,]{1,100}){1,20})\s*$"
)
_NOTEBOOK = re.compile(
    r"(?:(?:File )?\[?(?P<path>(?:[A-Za-z]:)?[^\s:\"<>*?|\[\]]{1,400}\.pyx?|<ipython-input-[\w-]{1,60}>)"
    r"(?::(?P<line>\d{1,7})(?=[\],]),?)?(?:\]?(?<!\() ?\([^\s()]{1,600}\))?,?"
    r"|(?P<cell>(?:(?:Cell|Input) )?In ?\[\d{1,6}\]),?) in (?P<function>[\w<>.]{1,200}|<[\w :]{1,60}>)"
    r"(?:\(.{0,600})?\s*$"
)
"""Colab and Visual Studio Code link each file to their editor."""
_CELL = re.compile(
    r"(?P<cell>Cell In ?\[\d{1,6}\]), line (?P<line>\d{1,7})(?:, in (?P<function>[\w<>.]{1,200}).{0,600})?\s*$"
)
_ARROW = re.compile(r"-{1,8}> ?(\d{1,7})\b")
_PATH = r"(?P<path>(?:[A-Za-z]:[\\/])?[^\s:()\"'`<>|*?]{1,300}\.[A-Za-z]\w{0,8})"
DIAGNOSTICS = (
    re.compile(
        r".*\btemplate: (?P<path>[^\s:]{1,200}/templates/[^\s:]{1,200}\.(?:ya?ml|tpl|txt)):(?P<line>\d{1,6})"
        r"(?::\d{1,5})?: (?P<message>(?:executing|parse error|function|error)\b.{0,600})"
    ),
    re.compile(
        rf"\s*(?:\x1b)?{_PATH}:(?P<line>\d{{1,7}})(?::\d{{1,7}})?(?::| -) ?"
        rf"(?P<message>(?:fatal |runtime |internal compiler |syntax |parse )?(?:error|warning|fatal|panic)\b.{{0,600}}"
        rf"|(?:[EFCWR]\d{{3,4}}|[A-Z]{{1,4}}\d{{3,5}}):? .{{0,600}}"
        rf"|(?P<exception>{RAISED_NAME})(?::.{{0,600}}|$)"
        r"|Fatal error:.{0,600}|undefined:.{0,600}|undefined reference.{0,600}|cannot (?:use|find|convert).{0,600})",
        re.I,
    ),
    re.compile(
        rf"\s*{_PATH}\((?P<line>\d{{1,7}})(?:,\d{{1,7}})?\):? ?:? "
        r"(?P<message>(?:fatal )?(?:error|warning)\b.{0,600})",
        re.I,
    ),
    re.compile(rf"\s*e: (?:file://)?{_PATH}:(?: ?\()?(?P<line>\d{{1,7}})[\d,: ]{{0,9}}\)?:? (?P<message>\S.{{0,600}})"),
    re.compile(
        r"\s*(?P<path>[^\s:]{1,300}\.(?:java|kt|scala|groovy)):\[(?P<line>\d{1,7}),\d{1,7}\] "
        r"(?P<message>[^\s\[].{0,600})"
    ),
)
"""Helm's, those of compilers, Kotlin's, and javac's by Maven, whose warnings begin with their kind in brackets."""
_PYTHON = re.compile(
    r"[\s|+]{0,40}(?:E\s{1,8})?File \"(?P<path>[^\"]{0,400})\", line (?P<line>\d{1,9})(?:, in "
    r"?(?P<function>.{0,200}))?"
)
_SCRIPT = re.compile(
    r"\s*at (?:async )?(?:(?P<function>(?:new )?[^\s(][^()]{0,200}?)(?: \[as [^\]]{1,80}\])? \()?"
    r"(?:file:/{2,3})?(?P<path>(?:[A-Za-z]:[\\/])?(?:[a-z-]{2,20}:/{0,3})?[^\s:()][^:()]{0,400}(?::\d{2,5}/[^:()]{1,300})?):"
    r"(?P<line>\d{1,7})(?::\d{1,7})?\)?(?: \{)?\s*$"
)
_NO_SCRIPT = re.compile(
    r"(?i)\.(?:java|kts?|scala|groovy|clj|[ch]|cc|hh|[ch]pp|[ch]xx|tcc|inl|cu|mm?|rs|go|py|rb|php|cs|swift|S)$"
)
_DOTNET = re.compile(
    r"\s*(?:at|[^\W\d_]{1,6}:?(?=.{1,900}\.(?:cs|vb|fs):[^\W\d_]{1,8} \d)) "
    r"(?P<function>(?P<name>[A-Za-z_](?:\[\[[^\]\n]{1,300}\]\]|[\w.`+<>\[\],|$]){1,300}) ?"
    r"\((?!native|Native Method|Unknown Source|Compiled Code|<anonymous>|\S{1,120}\.\w{2,6}\)|[^()]{0,300}:\d)"
    r"[^()\n]{0,400}\))"
    r"(?: \[0x[0-9a-f]+\])?(?: [^\W\d_]{1,6} (?P<path>.{1,400}?):(?:[^\W\d_]{1,8} )?(?P<line>\d{1,7}))?\.?\s*$"
)
"""With types of parameters, and the place where there are symbols; Mono writes an offset before it.

`at`, `in` and `line` are in the language of the system, such as `bei ... in ...:Zeile 12.`.
"""
_TYPE_ARGUMENTS = re.compile(r"\[\[.*?\]\]")
_GENERATED = re.compile(r"[<+]|\.\.")
"""What follows is a method that the compiler made, a nested type, or a constructor."""


def find_native_frame(lines: Sequence[str], number: int) -> FrameLine | None:
    """Return a frame of a native debugger, whose location may be on one of the next lines."""
    if whole := _ON_ONE_LINE(lines, number):
        return whole
    call = _NATIVE_CALL.match(lines[number])
    for following in lines[number + 1 : number + 4] if call else ():
        location = _NATIVE_LOCATION.match(following)
        if location is not None:
            return FrameLine(location["path"], int(location["line"]), call["function"].strip() if call else None)
        if _NATIVE_CALL.match(following):
            break
    return None


_SOURCE = (
    r"(?P<path>(?:[A-Za-z]:)?[^\s:()]{1,300}\.(?:cc|cpp|cxx|c|hpp|hh|h|tcc|m|mm|swift|inl|S|cu)):(?P<line>\d{1,7})"
)
_NATIVE = re.compile(
    r"\s*#\d{1,4}\s+(?:0x[0-9a-fA-F]{1,16} )?(?:in )?(?P<function>[^\s(][^\n]{0,300}?) (?:\(.{0,500}\) "
    rf")?(?:at |from )?{_SOURCE}(?::\d{{1,7}})?"
)
_NATIVE_CALL = re.compile(r"\s*#\d{1,4}\s+(?:0x[0-9a-fA-F]{1,16} )?(?:in )?(?P<function>[^\s(].{0,300}?) \(")
_NATIVE_LOCATION = re.compile(rf"\s+at {_SOURCE}(?::\d{{1,7}})?\s*$")
_ON_ONE_LINE = frame_by_pattern(
    _NATIVE,
    re.compile(
        rf"\s*\*?\s*frame #\d{{1,4}}: 0x[0-9a-fA-F]{{1,16}} [^\s`]{{1,100}}`(?P<function>\S.{{0,300}}?) at {_SOURCE}"
    ),
    re.compile(rf"==\d{{1,9}}==\s{{1,8}}(?:at|by) 0x[0-9A-F]{{1,16}}: (?P<function>\S.{{0,300}}?) \({_SOURCE}\)"),
    re.compile(
        rf"\s*\d{{1,4}}\s{{1,8}}\S.{{0,60}}?\s0x[0-9a-fA-F]{{1,16}} (?P<function>\S.{{0,300}}?)(?: \+ \d{{1,9}})? "
        rf"\({_SOURCE}\)"
    ),
)
MODULES = (
    re.compile(
        r"\s*#\d{1,4}\s+0x[0-9a-fA-F]{1,16} (?:in )?(?P<function>\S.{0,600}?) "
        r"(?:\((?P<path>[^\s()+]{1,300})(?:\+0x[0-9a-f]{1,16})?\)|\(\) from (?P<module>\S{1,300}))"
        r"(?: \(BuildId.{0,80}\))?\s*$"
    ),
    re.compile(
        r"\s*(?:#?\d{1,3}:?\s{1,4})?(?P<path>[^\s()\[\]]{1,300})\((?P<function>[^\s()]{0,300}?)"
        r"(?:\+0x[0-9a-f]{1,16})?\) ?\[0x[0-9a-f]{1,16}\]\s*$"
    ),
)
"""Of a program without debugging information, where the library takes the place of the source; the second is what
glibc gives a program that prints its own backtrace."""
