"""Roles of files, by the names that each ecosystem uses."""

import pytest

from testing.cost_growth import measure_cost_ratio
from testing.each_row import each_row
from triage.find.files.file_roles import classify_file

LIKELY = """
src/app/store.py
app/test/client.py
lib/pkg/testing/compare.py
pylint/testutils/decorator.py
app/core/management/commands/test.py
packages/vitest/src/integrations/mock/timers.ts
src/main/java/com/acme/Contest.java
src/main/java/org/junit/StoreTest.java
rules/src/main/kotlin/rules/documentation/UndocumentedClass.kt
spring-test/src/main/java/org/web/test/Client.java
doc/man_docs.go
src/complete/engine.py
crates/core/flags/doc/version.rs
src/protest.c
googletest/src/gtest-death-test.cc
lib/sidekiq/testing.rb
src/Runner/PhptTestCase.php
Decompiler/Documentation/XmlDocLoader.cs
"""
TESTS = """
pylint/unittest_reporting.py
app/tests/helpers.py
testing/test_x.py
pkg/store_test.go
src/__tests__/store.ts
codemods/__testfixtures__/input.ts
src/store.test.tsx
test-tsd/types.test-d.ts
src/test/java/com/acme/StoreTest.java
okhttp-tests/src/main/java/okhttp3/Recorder.java
plugin/src/testFixtures/kotlin/Runner.kt
src/it/java/org/acme/Support.java
src/commonTest/kotlin/Login.kt
spec/models/user_spec.rb
t/t0001-init.sh
regress/keys.sh
App.Tests/StoreTests.cs
src/UnitTests/NullBehavior.cs
src/Test/L0/Worker.cs
src/StoreTest.php
Tests/RulesTests+Redundancy.swift
Snapshots/Layout/Layout.swift
unittests/Support/Foo.cpp
src/store_unittest.cc
fuzzers/config_file_fuzzer.c
src/testdata/input.go
"""
ASIDE = """
docs/conf.py
examples/basic/main.go
watchOS Example/App.swift
src/xdocs-examples/resources/Example1.java
Sources/App.docc/Snippet.swift
benchmarks/run.py
src/jmh/java/Bench.java
documentation-website/snippets/a.kt
scripts/release.js
ci/report.py
crates/core/flags/complete/rg.zsh
.github/scripts/label.py
dist/index.js
"""
NO_CODE = """
README.md
LICENSE
Makefile
"""


def cases(block: str) -> list[str]:
    return block.split("\n")[1:-1]


@each_row("path", cases(LIKELY))
def test_likely_sources(path: str):
    kind = classify_file(path)
    assert kind.is_product_code
    assert kind.prior == 1.0


@each_row("path", cases(TESTS))
def test_test_files(path: str):
    assert classify_file(path).is_test


@each_row("path", cases(ASIDE))
def test_documentation_examples_and_build_output(path: str):
    assert classify_file(path).is_auxiliary


@pytest.mark.parametrize("path", cases(NO_CODE))
def test_prose_and_configuration(path: str):
    kind = classify_file(path)
    assert not kind.is_code
    assert kind.prior == 0.4


def test_factors_multiply():
    assert classify_file("docs/tests/data.json").prior == pytest.approx(0.3 * 0.4 * 0.4)


@each_row("shape", ["a/", "-", "test_", "Tests", "src/main/", "_tests", ".Tests", " Example", "docs/", "aTest"])
def test_the_cost_of_hostile_paths_is_linear(shape: str):
    def classify(size: int) -> None:
        path = shape * (size // len(shape))
        classify_file(path)
        classify_file(path + ".java")

    assert measure_cost_ratio(classify, 16_384) < 10
