"""The table of languages. A new language needs its extensions, the package of its grammar, and its definition nodes.

`python -m bench.nodes FILE` (see `bench/README.md`) prints the nodes of a file and the definitions found in it.
"""

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Language:
    """How to find definitions in a language. Fields with several values separate them by blanks."""

    name: str
    extensions: str
    grammar: str = ""
    """`module` or `module:function` that returns the grammar. Without a grammar, files are split by lines."""
    definition_nodes: str = ""
    query_patterns: str = ""
    """Other definitions as tree-sitter query patterns with the captures `@d` (definition) and `@n` (name, optional)."""
    name_fields: str = "name"
    """Fields with the name of a definition. The first one that is present counts."""
    owner_node: str = ""
    """Field, or type of a node before the name, with the type that a method belongs to."""
    wrapper_nodes: str = ""
    """Types of nodes around a definition that are part of it, such as decorators and `export`."""
    declaration_line: str = ""
    """Regular expression for the start of a declaration, with a group `name`; for files with syntax errors, and for
    languages without a grammar. Its end is that of its indentation."""


_JS_DEFINITIONS = "function_declaration generator_function_declaration class_declaration method_definition"
_JS_PATTERNS = """
(variable_declarator value: [(arrow_function) (function_expression) (class)]) @d
(assignment_expression left: (member_expression) right: [(arrow_function) (function_expression) (class)]) @d
(assignment_expression left: (identifier) right: [(arrow_function) (function_expression) (class)]) @d
(pair key: (property_identifier) value: [(arrow_function) (function_expression)]) @d
(export_statement declaration: (lexical_declaration (variable_declarator value: (call_expression)) @d))
"""
_JS_WRAPPERS = "export_statement lexical_declaration variable_declaration expression_statement ambient_declaration"
_TS_DEFINITIONS = (
    f"{_JS_DEFINITIONS} abstract_class_declaration interface_declaration type_alias_declaration enum_declaration "
    "internal_module module function_signature abstract_method_signature"
)
_TS_PATTERNS = f"{_JS_PATTERNS} (public_field_definition value: [(arrow_function) (function_expression)]) @d"
_TYPESCRIPT = Language(
    "TypeScript",
    ".ts .mts .cts",
    "tree_sitter_typescript:language_typescript",
    _TS_DEFINITIONS,
    _TS_PATTERNS,
    name_fields="name left key",
    wrapper_nodes=_JS_WRAPPERS,
)
_C_PATTERNS = """
(struct_specifier body: (_)) @d
(union_specifier body: (_)) @d
(enum_specifier body: (_)) @d
(type_definition type: (struct_specifier body: (_))) @d
(type_definition type: (union_specifier body: (_))) @d
(type_definition type: (enum_specifier body: (_))) @d
"""

_KOTLIN_DECLARATION = (
    r"\s*(?:(?:public|protected|private|internal|open|abstract|override|suspend|inline|data|sealed|enum|annotation|value"
    r"|operator|infix|tailrec|actual|expect|final|companion|fun(?=\s+interface)) +)*"
    r"(?:class|interface|object|fun(?:\s*<[^>]{1,200}>)?) +(?:[\w<>?, *]{1,200}\.)?(?P<name>\w+)"
)

_ANY_DECLARATION = (
    r"\s*(?:(?:local|export|default|pub|public|private|static|async|override) +|\((?:cl-)?)*"
    r"(?:def(?:p|macrop?|module|guardp?|un|subst|generic|method|ine(?= \())?|func?|function|fn|sub|proc(?:edure)?|"
    r"class|module|macro|defn-?) +(?:(?<=define )\()?(?:[\w.:]{0,200}[.:])?(?P<name>[^\W\d](?:[\w-]*\w)?)"
)
"""Of Elixir, Lua, Perl, Julia, Zig, Nim, Lisps, the scripts of Vue, and the like."""

LANGUAGES = (
    Language(
        "Python",
        ".py .pyi .pyx .pyw",
        "tree_sitter_python",
        "function_definition class_definition",
        wrapper_nodes="decorated_definition",
    ),
    Language(
        "JavaScript",
        ".js .jsx .mjs .cjs",
        "tree_sitter_javascript",
        _JS_DEFINITIONS,
        f"{_JS_PATTERNS} (field_definition value: [(arrow_function) (function_expression)]) @d",
        name_fields="name left key property",
        wrapper_nodes=_JS_WRAPPERS,
    ),
    _TYPESCRIPT,
    replace(_TYPESCRIPT, name="TSX", extensions=".tsx", grammar="tree_sitter_typescript:language_tsx"),
    Language(
        "Go",
        ".go",
        "tree_sitter_go",
        "function_declaration method_declaration type_spec type_alias method_elem",
        owner_node="receiver",
        wrapper_nodes="type_declaration",
    ),
    Language(
        "Rust",
        ".rs",
        "tree_sitter_rust",
        "function_item struct_item enum_item union_item trait_item impl_item mod_item macro_definition type_item "
        "function_signature_item",
        name_fields="name type",
    ),
    Language(
        "Java",
        ".java",
        "tree_sitter_java",
        "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration "
        "method_declaration constructor_declaration compact_constructor_declaration",
    ),
    Language(
        "C",
        ".c",
        "tree_sitter_c",
        "function_definition preproc_function_def",
        _C_PATTERNS,
        name_fields="declarator name",
    ),
    Language(
        "C++",
        ".cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inl .ipp .tpp .cu .cuh .ino",
        "tree_sitter_cpp",
        "function_definition namespace_definition concept_definition alias_declaration preproc_function_def",
        f"{_C_PATTERNS} (class_specifier body: (_)) @d",
        name_fields="declarator name",
        wrapper_nodes="template_declaration",
    ),
    Language(
        "C#",
        ".cs",
        "tree_sitter_c_sharp",
        "namespace_declaration class_declaration interface_declaration struct_declaration enum_declaration "
        "record_declaration delegate_declaration method_declaration constructor_declaration property_declaration "
        "event_declaration local_function_statement",
    ),
    Language(
        "Ruby",
        ".rb .rake .gemspec .ru",
        "tree_sitter_ruby",
        "module class method singleton_method",
    ),
    Language(
        "PHP",
        ".php .phtml .inc",
        "tree_sitter_php:language_php",
        "class_declaration interface_declaration trait_declaration enum_declaration method_declaration "
        "function_definition",
    ),
    Language(
        "Kotlin",
        ".kt .kts",
        "tree_sitter_kotlin",
        "class_declaration object_declaration function_declaration type_alias",
        name_fields="name type",
        owner_node="user_type",
        declaration_line=_KOTLIN_DECLARATION,
    ),
    Language(
        "Swift",
        ".swift",
        "tree_sitter_swift",
        "class_declaration protocol_declaration function_declaration protocol_function_declaration init_declaration "
        "typealias_declaration",
        "(property_declaration name: (pattern bound_identifier: (simple_identifier) @n) computed_value: (_)) @d",
    ),
    Language(
        "Scala",
        ".scala .sc .sbt",
        "tree_sitter_scala",
        "class_definition object_definition trait_definition enum_definition function_definition function_declaration "
        "given_definition type_definition",
    ),
    Language("Shell", ".sh .bash .zsh .ksh", "tree_sitter_bash", "function_definition"),
    Language(
        "other code",
        ".vue .svelte .astro .lua .pl .pm .t .r .jl .ex .exs .erl .hrl .hs .lhs .ml .mli .fs .fsi .fsx .clj .cljs "
        ".cljc .edn .dart .groovy .gradle .m .mm .zig .nim .v .sv .vhd .vhdl .d .pas .f .f90 .f95 .for .asm .s "
        ".sql .ps1 .psm1 .bat .cmd .vb .vbs .coffee .elm .rkt .scm .lisp .el .tcl .cmake .proto .thrift .graphql "
        ".erb .haml .slim .ejs .hbs .pug .twig .jsp .cshtml .razor .xaml .axaml .tt .heex "
        ".gql .sol .cr .ada .adb .ads .hx .purs .rei .re .res .y .l .yy .ll .g4 .awk .fish .vim .glsl .hlsl .wgsl "
        ".metal .tf .hcl .bzl .star .nix",
        declaration_line=_ANY_DECLARATION,
    ),
)

_BY_EXTENSION = {extension: language for language in LANGUAGES for extension in language.extensions.split()}
_BY_NAME = {"rakefile": ".rb", "gemfile": ".rb", "vagrantfile": ".rb", "podfile": ".rb", "cmakelists.txt": ".cmake"}
_INTERPRETER = re.compile(rb"#!.{0,80}?\b(?:(?:ba|da|z|k)?(sh)|(python|ruby|perl|node|php)[\d.]*)\s")
_BY_INTERPRETER = {"sh": ".sh", "python": ".py", "ruby": ".rb", "perl": ".pl", "node": ".js", "php": ".php"}


def detect_language(path: str, start: bytes = b"") -> Language | None:
    """Return the language of a source file by its name; None for prose, configuration and data.

    That of a script without an ending is known by its `start`, where its interpreter is named.
    """
    name = path.rpartition("/")[2].lower()
    stem, dot, extension = name.rpartition(".")
    ending = _BY_NAME.get(name) or (dot + extension if stem else "")
    script = None if ending else _INTERPRETER.match(start)
    return _BY_EXTENSION.get(_BY_INTERPRETER[(script[1] or script[2]).decode()] if script else ending)
