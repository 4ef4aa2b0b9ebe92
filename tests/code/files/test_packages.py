"""Packages of a monorepo, by their manifests, and their mentions in a text."""

import pytest

from testing.cost_growth import measure_cost_ratio
from testing.each_row import each_row
from triage.code.files.packages import (
    find_enclosing_package,
    find_mentioned_packages,
    find_packages,
    score_mentioned_packages,
)

TREE = """
package.json
packages/query-core/package.json
packages/query-core/src/query.ts
packages/vue-query/package.json
packages/vue-query/src/index.ts
packages/ui/package.json
packages/ui/client/App.vue
crates/uv_resolver/Cargo.toml
crates/uv_resolver/src/lock/mod.rs
okhttp/build.gradle.kts
okhttp/src/main/java/okhttp3/Cache.java
okhttp-urlconnection/pom.xml
okhttp-urlconnection/src/main/java/okhttp3/Url.java
Acme.Decompiler/Acme.Decompiler.csproj
Acme.Decompiler/IL/Transforms/Inline.cs
gem/acme-auth.gemspec
gem/lib/auth.rb
tools/gen/go.mod
tools/gen/main.go
Sources/Routing/Router.swift
tests/fixtures/left-pad/package.json
examples/basic/package.json
README.md
"""
PATHS = TREE.split()
UNITS = find_packages(PATHS)


def test_manifests_of_every_ecosystem():
    assert {folder: sorted(names) for folder, names in UNITS.items()} == {
        "packages/query-core": ["query-core"],
        "packages/vue-query": ["vue-query"],
        "packages/ui": ["ui"],
        "crates/uv_resolver": ["uv-resolver"],
        "okhttp": ["okhttp"],
        "okhttp-urlconnection": ["okhttp-urlconnection"],
        "Acme.Decompiler": ["acme.decompiler"],
        "gem": ["acme-auth", "gem"],
        "tools/gen": ["gen"],
        "Sources/Routing": ["routing"],
    }


def test_a_repository_that_is_one_package_has_no_packages():
    assert find_packages(["pyproject.toml", "src/app/__init__.py", "tests/data/setup.py", "docs/package.json"]) == {}
    assert score_mentioned_packages(["package.json", "src/index.js"], {}, "index fails", "") == {}


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("packages/query-core/src/query.ts", "packages/query-core"),
        ("packages/query-core/package.json", "packages/query-core"),
        ("crates/uv_resolver/src/lock/mod.rs", "crates/uv_resolver"),
        ("packages/none/src/a.ts", ""),
        ("README.md", ""),
    ],
)
def test_the_innermost_package_around_a_file(path: str, unit: str):
    assert find_enclosing_package(path, UNITS) == unit


@each_row(
    ("text", "expected"),
    [
        ("It breaks in packages/vue-query/src/useQuery.ts", {"packages/vue-query": 1.0}),
        ("since `@tanstack/vue-query` 5.1", {"packages/vue-query": 1.0}),
        ('import x from "@acme/vue-query/legacy"', {"packages/vue-query": 1.0}),
        ("query-core: refetch is ignored", {"packages/query-core": 0.8}),
        ("the uv-resolver crate panics", {"crates/uv_resolver": 0.8}),
        ("at uv_resolver::lock::from_toml", {"crates/uv_resolver": 0.8}),
        ("com.squareup.okhttp3:okhttp-urlconnection:3.10.0", {"okhttp-urlconnection": 0.8}),
        ("at Acme.Decompiler.IL.Transforms.Inline.Run()", {"Acme.Decompiler": 0.8}),
        ("okhttp/src/main/java/okhttp3/Cache.java:12", {"okhttp": 1.0}),
        ("gem install acme-auth", {"gem": 0.8}),
        ("the routing of a request", {"Sources/Routing": 0.3}),
        ("a plain report about nothing here", {}),
        ("/home/me/project/query.ts", {}),
        ("", {}),
    ],
)
def test_packages_that_a_text_mentions(text: str, expected: dict[str, float]):
    assert find_mentioned_packages(text, UNITS) == expected


def test_a_name_of_several_packages_is_shared():
    units = find_packages(["a/auth-kit/package.json", "b/auth-kit/package.json"])
    assert find_mentioned_packages("auth-kit fails", units) == {"a/auth-kit": 0.4, "b/auth-kit": 0.4}


def test_the_score_of_a_package_depends_on_its_share_of_the_repository():
    scores = score_mentioned_packages(
        PATHS, find_packages(PATHS), "vue-query: option is lost", "It works with query-core alone."
    )
    assert {PATHS[number] for number in scores} == {path for path in PATHS if "query" in path}
    vue, core = (scores[PATHS.index(f"packages/{name}/package.json")] for name in ("vue-query", "query-core"))
    assert vue == pytest.approx(1.0 * (1 - 2 / len(PATHS)))
    assert core == pytest.approx(0.8 * (1 - 2 / len(PATHS)))


@pytest.mark.parametrize("shape", ["@", "a/", "a.", "query-core ", "\\", "-a"])
def test_the_cost_of_hostile_text_is_linear(shape: str):
    def find(size: int) -> None:
        find_mentioned_packages(shape * (size // len(shape)), UNITS)

    assert measure_cost_ratio(find, 15_000) < 10
