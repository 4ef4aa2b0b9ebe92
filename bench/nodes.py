"""Prints the syntax tree of a file and the definitions found in it, to complete a language's row."""

import importlib
import sys
from pathlib import Path

from tree_sitter import Language, Node, Parser

from triage.find.files.languages import detect_language
from triage.find.parse.definitions import find_definitions


def main() -> None:
    path = Path(sys.argv[1])
    language = detect_language(path.name)
    if language is None or not language.grammar:
        sys.exit("no grammar is known for this name: add a row with `grammar` first")
    module, _, function = language.grammar.partition(":")
    grammar = Language(getattr(importlib.import_module(module), function or "language")())
    text = path.read_bytes()
    show(Parser(grammar).parse(text).root_node, None, 0)
    print("\ndefinitions")
    for one in find_definitions(text.decode(errors="replace"), language):
        print(f"{'  ' * one.depth}{one.name} {one.start}-{one.end}")


def show(node: Node, field: str | None, depth: int) -> None:
    if node.is_named:
        text = repr((node.text or b"").decode(errors="replace")[:60]) if not node.named_child_count else ""
        print("  " * depth + (f"{field}: " if field else "") + node.type, text)
    for number, child in enumerate(node.children):
        show(child, node.field_name_for_child(number), depth + 1)


if __name__ == "__main__":
    main()
