"""Examples in languages of the project's settings."""

from testing.each_row import each_row
from triage.domain.issue import Issue
from triage.domain.project_config import LanguageConfig
from triage.read.read_issue import read_issue
from triage.reproduce.example.example import Example, NoExample, Project
from triage.reproduce.example.read_example import read_example

LINES = LanguageConfig(file="report", run="./report")
MAIN = "fn main() { my_shop::total(); }"


def read(body: str, package: str = "my-shop") -> Example | NoExample:
    project = Project(language="other", package=package, languages={"rust": LINES, "c#": LINES, "console": LINES})
    return read_example(read_issue(Issue(title="It fails", body=body)), project)


@each_row(
    ("fence", "language"),
    [("rust", "rust"), ("rs", "rust"), ("Rust", "rust"), ("csharp", "c#"), ("sh", "console"), ("console", "console")],
)
def test_a_block_is_found_by_the_names_of_its_language(fence, language):
    found = read(f"```text\n{MAIN}\n```\n\n```{fence}\n{MAIN}\n```\n")
    assert isinstance(found, Example)
    assert (found.language, found.code, found.changed) == (language, f"{MAIN}\n", [])


def test_what_a_shell_printed_is_no_command():
    found = read("```console\n$ my-shop a b\ntotal: 2\n$ my-shop\nerror: no items\n```\n")
    assert isinstance(found, Example)
    assert (found.code, found.shown) == ("my-shop a b\nmy-shop\n", [["total: 2", "error: no items"]])
    assert found.changed == ["Took prompts and shown output away."]


@each_row(
    ("body", "package", "reason"),
    [
        (f"```python\n{MAIN}\n```\n", "my-shop", "no-block"),
        (f"```\n{MAIN}\n```\n", "my-shop", "no-block"),
        (f"```rust\n{MAIN}\n```\n", "shop", "does-not-import-the-project"),
        (f"```rust\n{MAIN}\n```\n", "your-shop", "does-not-import-the-project"),
    ],
)
def test_a_report_without_an_example_says_why(body, package, reason):
    assert read(body, package) == NoExample(reason=reason)


def test_without_a_name_the_first_block_counts():
    assert isinstance(read(f"```rust\n{MAIN}\n```\n", ""), Example)


@each_row(
    ("code", "line"),
    [
        ("total([1])", 'const { total } = require("shop");'),
        ("console.log(total(pay(1)), own(2))", 'const { total, pay } = require("shop");'),
        ('import fs from "fs";\ntotal([1])', 'import { total } from "shop";'),
        ("shop.total([1])", 'const shop = ((it) => it.shop ?? (it.default ?? it))(require("shop"));'),
        ("S.total([S.pay(1)])", 'const S = ((it) => it.S ?? (it.default ?? it))(require("shop"));'),
    ],
)
def test_names_that_a_package_of_node_exports_are_required(code, line):
    shop = Project(language="node", package="shop", modules=["shop"], exports={"total": "shop", "pay": "shop"})
    found = read_example(read_issue(Issue(title="It fails", body=f"```js\n{code}\n```")), shop)
    assert isinstance(found, Example)
    assert line in found.code.splitlines()
    assert f"Added `{line}` before it." in found.changed


@each_row("code", ["S.total(S.other)", "S.total(S)", "S(1)", "T.total(1)"])
def test_one_letter_of_which_more_is_used_than_the_package_exports_may_be_anything(code):
    shop = Project(language="node", package="shop", modules=["shop"], exports={"total": "shop"})
    assert isinstance(read_example(read_issue(Issue(title="It fails", body=f"```js\n{code}\n```")), shop), NoExample)


@each_row(
    ("code", "line"),
    [
        ("let s = require('.'); s.total()", "let s = require('shop'); s.total()"),
        ("let s = require('../..'); s.total()", "let s = require('shop'); s.total()"),
        ("let s = require('../lib/index.js'); s.total()", "let s = require('shop'); s.total()"),
        ("import s from './dist/shop.min.js'; s.total()", "import s from 'shop'; s.total()"),
        ("let s = require('shop@1.2.0-rc.1'); s.total()", "let s = require('shop'); s.total()"),
        ("let s = require('shop'); require('./index').x()", "let s = require('shop'); require('./index').x()"),
    ],
)
def test_a_package_that_is_taken_by_a_path_or_with_a_version_is_taken_by_its_name(code, line):
    shop = Project(language="node", package="shop", modules=["shop"])
    found = read_example(read_issue(Issue(title="It fails", body=f"```js\n{code}\n```")), shop)
    assert isinstance(found, Example)
    assert (found.code, found.changed) == (f"{line}\n", ["Took shop by its name."] if line != code else [])


def test_what_a_bundler_finds_below_a_package_is_required():
    shop = Project(language="node", package="shop", modules=["shop"])
    code = "import total from 'shop/lib/total';\ntotal([])"
    required = "const total = ((it) => it.default ?? it)(require('shop/lib/total'));"

    def read(code: str, words: str) -> str:
        found = read_example(read_issue(Issue(title="It fails", body=f"```js\n{code}\n```\n{words}")), shop)
        assert isinstance(found, Example)
        return found.code.split("\n")[0]

    assert read(code, "It is wrong.") == required
    assert read(code, "Error: Cannot find module 'shop/lib/total'") == "import total from 'shop/lib/total';"
    assert read(f"import fs from 'fs';\n{code}", "It is wrong.") == "import fs from 'fs';"
