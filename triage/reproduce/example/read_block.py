"""Finds the example of a report in Node, or in a language of the project's settings: one block, as it stands."""

import re
import textwrap
from collections.abc import Collection, Mapping, Set

from pygments.lexers import find_lexer_class_by_name  # type: ignore[import-untyped]
from pygments.util import ClassNotFound  # type: ignore[import-untyped]

from triage.base.text import count_open, word_set
from triage.domain.issue import CodeBlock
from triage.reproduce.example.example import (
    MAX_EXAMPLE_CHARS,
    REFUSALS,
    Example,
    NoExample,
    Project,
    Refusal,
)
from triage.reproduce.example.sessions import NODE_STARTS, Session, read_session, without_traces

_OBJECT = re.compile(r"(?<![\w.$'\"/-])([A-Za-z_$][\w$]*)(?=[.(])")
_DECLARED = re.compile(r"\b(?:const|let|var|function|class|import)\s(\{[^}]{0,500}|[^=;\n]{0,200})")
_PARAMETERS = re.compile(r"(?<![\w, $])([\w, $]{1,200})\)? *(?:=>|\{)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_CALLED = re.compile(r"(?<![\w.$'\"/-])([A-Za-z_$][\w$]*)\(")
_GIVEN = word_set(
    "Array Date Error JSON Map Math Number Object Promise RegExp Set String Symbol console process require"
)
_IMPORT = re.compile(r"^\s*(?:import[\s{]|export\s)", re.M)
_TAKEN = r"(?:\brequire\(|\bfrom\s|\bimport\s?\(?)\s*['\"]"
_NO_VALUE = re.compile(r"(?:const|let|var|function|class|if|for|while|import|throw|try|console)\b")
_RESULT = re.compile(
    r"(?:(?:const|let|var)\s+)?([A-Za-z_$][\w$]*)\s*=(?![=>]|\s*(?:require\(|async\b|function\b))[^;(=]*\([^;]*"
)
_END = re.compile(r";(?=\s*(?://[^\n]*)?$)")
_SHOWN = re.compile(
    r"^(?=[ \t]*[-=]> ?(?:['\"\d\[-]|\{.*\}|true|false|null|undefined|NaN)|(?:Uncaught )?[A-Z]\w*Error: .*[^\s,{]\s*$)",
    re.M,
)
"""What stands below a line and is no code: the arrow of a value, or an error that is not indented, as in brackets."""
_NODE_LANGUAGES = frozenset({"", "js", "javascript", "jsx", "mjs", "cjs", "node", "ts", "typescript"})
_SHELLS = frozenset({"Bash", "Bash Session"})


def read_block(
    blocks: Mapping[int, CodeBlock], project: Project, missing: Set[str]
) -> tuple[Example | NoExample, dict[int, list[str]]]:
    """Return the first block in such a language that uses the project, or why there is none.

    With it, what is shown below it, and below each block with the same code. `missing` is by the report.
    """
    result: Example | NoExample = NoExample(reason="no-block")
    own, earlier, outputs = "", list[str](), dict[int, list[str]]()
    for number, block in blocks.items():
        language = _find_language(block, project)
        if not language:
            continue
        prompt = "node" if language == "node" else "shell" if _name_lexer(language) in _SHELLS else ""
        text = _name_package(block.text, project, missing) if language == "node" else block.text
        session = read_session(text, prompt) if prompt else None
        is_plain = not session and language == "node" and "`" not in text
        bare = _SHOWN.sub("// ", without_traces(text)) if is_plain else text
        code = session.code if session else textwrap.dedent(bare).strip("\n")
        changed = [f"Took {project.package} by its name."] if text != block.text else []
        changed += ["Left out shown output."] if bare != text else []
        changed += ["Took prompts and shown output away."] if session else []
        changed += ["Left out what stands above the first prompt."] if session and session.above else []
        shown = [one for one in session.outputs if one not in ("", "undefined")] if session else []
        if outputs:
            outputs |= {number: shown} if code == own else {}
            continue
        own = code
        if language == "node" and len(code) <= MAX_EXAMPLE_CHARS:
            code, added = _complete(code, session, project)
            changed += added
            if needed := [
                one for one in earlier if _find_defined(one) & ({*_NAME.findall(code)} - _find_defined(code))
            ]:
                code = "\n\n".join([*needed, code])
                changed.append(f"Joined {len(needed) + 1} blocks that continue each other.")
            earlier.append(own)
        found = _find_refusal(code, project)
        if found is None:
            result = Example(language=language, code=code + "\n", changed=changed)
            outputs[number] = shown
        elif isinstance(result, NoExample):
            result = NoExample(reason=max(result.reason, found, key=REFUSALS.index))
    return result, outputs


def _name_package(text: str, project: Project, missing: Set[str]) -> str:
    """Return code that takes the package by its name.

    Who works on it takes it by a path to its folder, its entry or a file of its name, and RunKit with a version. What a
    bundler finds below it without an ending, Node finds only by `require`.
    """
    name = re.escape(project.package)
    above = r"\.\.(?:/\.\.)*(?:/(?:dist|lib))?(?:/index(?:\.[cm]?js)?)?/?"
    path = rf"(?:\./?|{above}|\.{{1,2}}(?:/[\w.-]+)*/{name}(?:\.min)?(?:\.[cm]?js)?)"
    if re.search(rf"{_TAKEN}{name}(?![\w@-])", text):
        deep = rf"^import (\w+) from (['\"]{name}(?:/[\w-]+)+['\"]);?$"
        required = re.sub(deep, r"const \1 = ((it) => it.default ?? it)(require(\2));", text, flags=re.M)
        return text if missing or _IMPORT.search(required) else required
    return re.sub(rf"({_TAKEN})(?:{path}|{name}@[\w.-]+)(?=['\"])", rf"\g<1>{project.package}", text)


def _complete(code: str, session: Session | None, project: Project) -> tuple[str, list[str]]:
    """Return code for Node in which the package's names are defined and values are printed, and what was added.

    Values are those that the prompt printed; without one, of calls of the package on lines of their own, and of what
    the code defines if it prints nothing. If that is nothing at all, the last result's.
    """
    package = project.package
    plain, changed = re.sub(r"\W|_", "", package.rpartition("/")[2]).lower(), list[str]()
    defined = _find_defined(code)
    is_taken = re.search(rf"['\"]{re.escape(package)}['\"/]", code)
    readme = [one for one in _OBJECT.findall(code) if one in project.readme and one not in defined and not is_taken]
    name = _find_name(code, plain, defined, project.exports) or next(iter(readme), "")
    exported = [one for one in dict.fromkeys(_CALLED.findall(code)) if one in project.exports and one not in defined]
    statements = session.statements if session else _split_statements(code)
    if session and any(session.outputs):
        outputs = [output not in ("", "undefined") for output in session.outputs]
    else:
        own = [] if "console." in code else sorted(defined)
        names = [*map(re.escape, [name] if name else exported)]
        used = "|".join([rf"require\(['\"]{re.escape(package)}['\"]\)", *names, *own])
        value = rf"(?:new )?(?:{used})[.(](?:.*\)|[^=]*\)[.\w\[\]]*)"
        value += rf"|(?:{'|'.join(own or names) or '(?!)'})(?:\.\w+|\[\w+\])*"
        call = re.compile(rf"(?:{value});?\s*(?://.*)?$", re.S)
        outputs = [call.match(one) is not None for one in statements]
    written = [_display(one) if has_value else one for one, has_value in zip(statements, outputs, strict=True)]
    last = next(filter(None, reversed(statements)), "")
    if written != statements:
        changed.append("The values of bare expressions are printed, as at a prompt.")
    elif "console." not in code and (match := _RESULT.fullmatch(last.rstrip().removesuffix(";"))):
        written.append(f"console.dir({match[1]})")
        changed.append(f"Added `{written[-1]}` below it.")
    if (name and name not in defined) or (exported and not name):
        # Versions differ in whether they export what the package is for under its name, as the default or as all.
        taken, bound = f"it.{name} ?? (it.default ?? it){project.readme.get(name, '')}", f"{{ {', '.join(exported)} }}"
        is_module = _IMPORT.search(code) is not None
        if name and is_module:
            line = f'import * as it from "{package}"; const {name} = {taken};'
        elif name:
            line = f'const {name} = ((it) => {taken})(require("{package}"));'
        else:
            line = f'import {bound} from "{package}";' if is_module else f'const {bound} = require("{package}");'
        written.insert(0, line)
        changed.append(f"Added `{line}` before it.")
    return "\n".join(written), changed


def _split_statements(code: str) -> list[str]:
    """Return the lines of code, those together that a bracket holds together."""
    found, depth = list[str](), 0
    for line in code.split("\n"):
        if depth > 0:
            found[-1] += f"\n{line}"
        else:
            found.append(line)
        depth = max(0, depth) + count_open(line, "//")
    return found if depth <= 0 else code.split("\n")  # else one stands in a string


def _find_name(code: str, plain: str, defined: Set[str], exports: Collection[str]) -> str:
    """Return the package's name in code: its own, or the one free one short for it; a letter if only exports follow."""
    short = re.compile(plain[:1] + "".join(f"{letter}?" for letter in plain[1:]), re.I)
    used = [one for one in dict.fromkeys(_OBJECT.findall(code)) if short.fullmatch(one) and one not in _GIVEN]
    behind = {one: re.findall(rf"(?<![\w.$]){one}\b(?:\.(\w+))?", code) for one in used if len(one) == 1}
    free = [one for one in used if one not in defined and all(name in exports for name in behind.get(one, ()))]
    return next((one for one in used if one.lower() == plain), free[0] if len(free) == 1 else "")


def _find_defined(code: str) -> set[str]:
    """Return the names that code declares, or takes as parameters."""
    places = [match[1] for pattern in (_DECLARED, _PARAMETERS) for match in pattern.finditer(code)]
    return {name for place in places for name in _NAME.findall(place)}


def _display(statement: str) -> str:
    value = _END.sub("", statement)
    comment_end = "\n" if "//" in value else ""
    return statement if _NO_VALUE.match(statement) else f"console.dir({value}{comment_end})"


def _find_language(block: CodeBlock, project: Project) -> str:
    """Return the project's name of the language that a block is in; empty for another one."""
    fence = block.language.lower()
    lexer = _name_lexer(fence)
    if project.language == "node":
        is_prompt = lexer in _SHELLS and NODE_STARTS.search(block.text) and read_session(block.text, "node") is not None
        return "node" if fence in _NODE_LANGUAGES or is_prompt else ""
    same = (one for one in project.languages if _name_lexer(one) == lexer or {_name_lexer(one), lexer} <= _SHELLS)
    return fence if fence in project.languages else next(same, "")


def _name_lexer(language: str) -> str:
    """Return the one name of a language that a fence calls `rs`, `rust` or `Rust`."""
    try:
        return str(find_lexer_class_by_name(language).name)
    except ClassNotFound:
        return language


def _find_refusal(code: str, project: Project) -> Refusal | None:
    name = re.escape(project.package)
    if project.language == "node":
        uses = rf"""{_TAKEN}{name}(?:/[\w./-]+)?['"]"""
    else:
        uses = rf"(?i)(?<!\w){name}(?!\w)".replace(r"\-", "[-_]") if name else ""
    if not re.search(uses, code) or len(code) > MAX_EXAMPLE_CHARS:
        return "does-not-import-the-project"
    is_idle = project.language == "node" and "(" not in re.sub(r"\brequire\(|\bimport\(", "", code)
    return "calls-nothing" if is_idle else None
