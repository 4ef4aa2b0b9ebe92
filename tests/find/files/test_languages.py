"""Definitions of every language: names qualified, lines with the comment, decorator or `export` that belongs to them.

Each source has its definitions beside it, as `name first-last`.
"""

from dataclasses import replace

import pytest

from testing.cost_growth import measure_cost_ratio
from testing.each_row import each_row
from triage.find.files.languages import LANGUAGES, detect_language
from triage.find.parse.definitions import find_declarations, find_definitions, load_grammar
from triage.find.parse.extract import build_scopes, iter_scopes

CASES = {
    "a.py": (
        """import os

# What it is.
@decorated
class Store(Base):
    limit = 3

    @property
    async def save(self):
        def inner():
            pass
        return inner

if os:
    def load(): pass
""",
        "Store 3-12, Store.save 8-12, Store.save.inner 10-11, load 15-15",
    ),
    "a.js": (
        """// Adds.
export function add(a) { return a }
export default class Store extends Base {
  static make = () => new Store()
  save(x) { return x }
  #own() {}
  get size() { return 1 }
}
const load = async (x) => {
  return x
}
module.exports.drop = function () {}
Store.prototype.find = function () {}
const table = { key: function () {}, run() {} }
function* walk() {}
""",
        (
            "add 1-2, Store 3-8, Store.make 4-4, Store.save 5-5, Store.own 6-6, Store.size 7-7, load 9-11, drop 12-12, "
            "Store.find 13-13, key 14-14, run 14-14, walk 15-15"
        ),
    ),
    "a.ts": (
        """export interface Shape { area(): number }
export type Id = string
enum Colour { Red }
export abstract class Store<T> implements Shape {
  private save(x: T): void {}
  abstract load(): T
  find = (x: T) => x
}
namespace Inner {
  export function f() {}
}
declare function g(): void
export const h = <T,>(x: T) => x
export const useStore = create((set) => ({
  n: 1,
}))
const local = create()
""",
        (
            "Shape 1-1, Id 2-2, Colour 3-3, Store 4-8, Store.save 5-5, Store.load 6-6, Store.find 7-7, Inner 9-11, "
            "Inner.f 10-10, g 12-12, h 13-13, useStore 14-16"
        ),
    ),
    "a.tsx": (
        """export const Button = (props: Props) => {
  return <button onClick={() => props.go()}>Go</button>
}
function Page() { return <Button /> }
""",
        "Button 1-3, Page 4-4",
    ),
    "a.go": (
        """package a

// Store keeps.
type Store[T any] struct { x int }

type (
	Small int
	Other = string
)

// Save it.
func (s *Store[T]) Save(x int) error { return nil }
func (Small) Name() string { return "" }
func Load() {}
""",
        "Store 3-4, Small 7-7, Other 8-8, Store.Save 11-12, Small.Name 13-13, Load 14-14",
    ),
    "a.rs": (
        """/// Keeps.
#[derive(Debug)]
pub struct Store<T> { x: T }

impl<T> Store<T> {
    pub fn save(&self) {}
}
impl fmt::Display for Store<u8> {
    fn fmt(&self) {}
}
trait Load { fn load(&self); fn again(&self) {} }
mod inner { pub fn f() {} }
macro_rules! shout { () => {} }
enum Colour { Red }
""",
        (
            "Store 1-3, Store 5-7, Store.save 6-6, Store 8-10, Store.fmt 9-9, Load 11-11, Load.load 11-11, "
            "Load.again 11-11, inner 12-12, inner.f 12-12, shout 13-13, Colour 14-14"
        ),
    ),
    "A.java": (
        """package a.b;

/** Keeps. */
@Entity
public class Store<T> extends Base {
    Store() { }
    @Override
    public void save(T x) { }
    interface Load { void load(); }
    enum Colour { RED { void shine() {} } }
    record Pair(int a) { }
}
""",
        (
            "Store 3-12, Store.Store 6-6, Store.save 7-8, Store.Load 9-9, Store.Load.load 9-9, Store.Colour 10-10, "
            "Store.Colour.shine 10-10, Store.Pair 11-11"
        ),
    ),
    "a.c": (
        """#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
struct store { int x; };
typedef struct { int y; } pair_t;
enum colour { RED };
/* Saves. */
static int *save(struct store *s)
{
    return 0;
}
int load(void);
void (*handler(int x))(int) { return 0; }
#ifdef BIG
int big(void) { return 1; }
#endif
""",
        "MAX 2-2, store 3-3, pair_t 4-4, colour 5-5, save 6-10, handler 12-12, big 14-14",
    ),
    "a.cpp": (
        """namespace app {
template <typename T>
class Store : public Base {
 public:
  ~Store() {}
  int save(int x) const { return x; }
  bool operator==(const Store& other) const { return true; }
};
}
int app::Store::load(int x) { return x; }
std::string& name() { static std::string s; return s; }
enum class Colour { Red };
using Id = int;
""",
        (
            "app 1-9, app.Store 2-8, app.Store.~Store 5-5, app.Store.save 6-6, app.Store.operator== 7-7, "
            "app.Store.load 10-10, name 11-11, Colour 12-12, Id 13-13"
        ),
    ),
    "a.h": ("class Store {\n  void save();\n};\nint twice(int x) { return 2 * x; }\n", "Store 1-3, twice 4-4"),
    "a.cs": (
        """namespace App.Data
{
    /// <summary>Keeps.</summary>
    [Serializable]
    public class Store<T> : Base
    {
        public Store() { }
        public int Size { get; set; }
        public void Save(T x)
        {
            void Inner() { }
        }
    }
    interface ILoad { void Load(); }
    record Pair(int A);
}
""",
        (
            "App.Data 1-16, App.Data.Store 3-13, App.Data.Store.Store 7-7, App.Data.Store.Size 8-8, "
            "App.Data.Store.Save 9-12, App.Data.Store.Save.Inner 11-11, App.Data.ILoad 14-14, App.Data.ILoad.Load 14-14, "
            "App.Data.Pair 15-15"
        ),
    ),
    "a.rb": (
        """module App
  # Keeps.
  class Data::Store < Base
    def save(x)
      x
    end

    def self.make!; end

    class << self
      def other; end
    end
  end
end
""",
        "App 1-14, App.Data.Store 2-13, App.Data.Store.save 4-6, App.Data.Store.make 8-8, App.Data.Store.other 11-11",
    ),
    "a.php": (
        """<html><?php
namespace App\\Data;

/** Keeps. */
abstract class Store extends Base {
    private static function save(): int { return 1; }
}
interface Load { function load(); }
trait Names { function name() {} }
function f() {}
""",
        "Store 4-7, Store.save 6-6, Load 8-8, Load.load 8-8, Names 9-9, Names.name 9-9, f 10-10",
    ),
    "a.kt": (
        """package a

class Store(val x: Int) : Base() {
    fun save(x: Int): Int {
        return x
    }

    companion object {
        fun make() {}
    }
}

object Single {
    fun only() {}
}

interface Load {
    fun load()
}
fun String.twice() = this + this
enum class Colour { RED, GREEN }
""",
        (
            "Store 3-11, Store.save 4-6, Store.make 9-9, Single 13-15, Single.only 14-14, Load 17-19, Load.load 18-18, "
            "String.twice 20-20, Colour 21-21"
        ),
    ),
    "a.swift": (
        """class Store: Base {
    init() {}
    func save(x: Int) -> Int { return x }
}
struct Pair { }
extension Store: Load {
    func load() {}
}
protocol Load { func load() }
enum Colour { case red
    func shine() {} }
""",
        (
            "Store 1-4, Store.init 2-2, Store.save 3-3, Pair 5-5, Store 6-8, Store.load 7-7, Load 9-9, Load.load 9-9, "
            "Colour 10-11, Colour.shine 11-11"
        ),
    ),
    "a.scala": (
        """package a
class Store(x: Int) extends Base {
  def save(x: Int): Int = { x }
}
object Store { def make = 1 }
trait Load { def load: Int }
case class Pair(a: Int)
""",
        "Store 2-4, Store.save 3-3, Store 5-5, Store.make 5-5, Load 6-6, Load.load 6-6, Pair 7-7",
    ),
    "a.sh": ("#!/bin/sh\n# Saves.\nsave() {\n  echo x\n}\nfunction load { echo y; }\n", "save 1-5, load 6-6"),
}


def found_in(path: str, source: str) -> str:
    language = detect_language(path)
    assert language is not None
    scopes = iter_scopes(build_scopes(find_definitions(source, language), source.count("\n")))
    return ", ".join(f"{scope.name} {scope.start}-{scope.end}" for scope in scopes)


@each_row("path", CASES)
def test_definitions(path: str):
    source, expected = CASES[path]
    assert found_in(path, source) == expected


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.go", "package a\ntype Store interface {\n\tSave(x int) error\n}\n", "Store 2-4, Store.Save 3-3"),
        ("a.swift", "extension A {\n    var size: Int { 1 }\n    let x = 1\n}\n", "A 1-4, A.size 2-2"),
        ("a.kt", "val x = 1\nfun List<Int>.second() = this[1]\nfun one(x: Int): Int = x\n", "List.second 2-2, one 3-3"),
        (
            "a.rb",
            "class A\n  def ok?; end\n  def x=(v); end\n  def ==(o); end\nend\n",
            "A 1-5, A.ok 2-2, A.x 3-3, A.== 4-4",
        ),
        ("a.cpp", "A& A::operator=(const A& a) { return *this; }\n", "A.operator= 1-1"),
    ],
)
def test_normalized_names(path: str, source: str, expected: str):
    assert found_in(path, source) == expected


# A condition on a branch (Kotlin 2.1) is unknown to the grammar (tree-sitter-kotlin 1.1.0): it gives up the whole file.
GUARDED = """package a

open class Dialect : Base() {
    override fun format(e: Op<*>): String = when (e) {
        is Literal<*> if e.type is Marker -> when {
            ((current as? Mysql)?.version ?: "0") >= "8" -> "(${super.format(e)})"
            else -> throw Missing(
                "none"
            )
        }
        else -> ""
    }

    override fun delete(table: Table, where: String?): String {
        return "a"
    }

    fun <T> List<T>.second(): T = this[1]
}

internal object Single {
    fun only() {}
}
"""


def test_declarations_are_found_by_line_where_the_grammar_fails():
    assert found_in("a.kt", GUARDED) == (
        "Dialect 3-19, Dialect.format 4-12, Dialect.delete 14-16, Dialect.second 18-18, Single 21-23, Single.only 22-22"
    )
    kotlin = detect_language("a.kt")
    assert kotlin is not None
    assert len(find_definitions(GUARDED, replace(kotlin, declaration_line=""))) < 6, (
        "the grammar reads it: try another snippet"
    )


@pytest.mark.parametrize("line", ["fun a", " " * 50 + "fun a", "}", "(" * 80, ""])
def test_the_cost_of_finding_declarations_by_line_is_linear(line: str):
    def find(lines: int) -> None:
        for text in ("\n".join([line] * lines), "\n".join(" " * (number % 80) + line for number in range(lines))):
            list(find_declarations(text, r"\s*(?:class|fun) (?P<name>\w+)"))

    assert measure_cost_ratio(find, 5_000) < 10


def test_every_grammar_has_a_case():
    tried = {detect_language(path) for path in CASES}
    assert [language.name for language in LANGUAGES if language.grammar and language not in tried] == []


@each_row("language", [language for language in LANGUAGES if language.grammar])
def test_every_row_has_nodes_of_its_grammar(language):
    assert load_grammar(language)


@each_row("path", CASES)
@each_row("broken", ["}}}}((((", "\x00\x01\x02", "def class if ( [ {", "é" * 50, "\n" * 30, ""])
def test_broken_source_never_fails(path: str, broken: str):
    language = detect_language(path)
    assert language is not None
    source = CASES[path][0]
    lines = source.count("\n") + 1 + broken.count("\n")
    for text in (broken + source, source[: len(source) // 2] + broken):
        for definition in find_definitions(text, language):
            assert 1 <= definition.start <= definition.end <= lines


def test_extensions_belong_to_one_language():
    extensions = [extension for language in LANGUAGES for extension in language.extensions.split()]
    assert sorted(extensions) == sorted(set(extensions))


ELIXIR = """defmodule Shop.Cart do
  @doc "Adds."
  def add(cart, item) when is_atom(item) do
    [item | cart]
  end

  defp total!([]), do: 0
end
"""
LUA = """local function show(text)
    -- function of the panel
    return text
end

function Panel:draw(x,
    y)
end
"""


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("cart.ex", ELIXIR, [(1, 8, "Cart", 0), (3, 5, "add", 1), (7, 7, "total", 1)]),
        ("panel.lua", LUA, [(1, 4, "show", 0), (6, 8, "draw", 0)]),
        ("a.pl", "sub save {\n  1;\n}\n", [(1, 3, "save", 0)]),
        ("a.clj", "(x)\n", []),
        ("till.el", "(cl-defun till-open (a)\n  a)\n", [(1, 2, "till-open", 0)]),
        ("till.rkt", "(define (open-till a)\n  a)\n", [(1, 2, "open-till", 0)]),
        ("till.r", "sum <-\nfunction (x, y)\n{\n}\n", []),  # a parameter is no name
    ],
)
def test_without_a_grammar_declarations_are_found_by_line(
    path: str, text: str, expected: list[tuple[int, int, str, int]]
):
    language = detect_language(path)
    assert language is not None
    found = find_definitions(text, language)
    assert [(one.start, one.end, one.name, one.depth) for one in found] == expected


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/b.py", "Python"),
        ("A.PY", "Python"),
        ("Rakefile", "Ruby"),
        ("lib/x.lua", "other code"),
        ("README", None),
        (".py", None),
        ("a.py/readme.txt", None),
    ],
)
def test_language_of_a_path(path: str, name: str | None):
    language = detect_language(path)
    assert (language.name if language else None) == name


@each_row(
    ("path", "start", "name"),
    [
        ("bin/till", b"#!/usr/bin/env -S bash -e\n", "Shell"),
        ("libexec/till", b"#! /opt/node/bin/python3.12\n", "Python"),
        ("till", b"#!/usr/bin/make -f\nsh:\n", None),
        ("till", b"we run #!/bin/sh\n", None),
        ("till.txt", b"#!/bin/sh\n", None),
    ],
)
def test_a_script_without_an_ending_names_its_interpreter(path: str, start: bytes, name: str | None):
    language = detect_language(path, start)
    assert (language.name if language else None) == name
