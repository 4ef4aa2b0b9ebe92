"""The part a file plays, by each ecosystem's own names."""

import pytest

from triage.index.kinds import kind_of

LIKELY = """
src/app/store.py
app/test/client.py
lib/pkg/testing/compare.py
app/core/management/commands/test.py
tools/build.py
bin/run.js
packages/core/src/latest.ts
src/main/java/com/acme/Contest.java
src/main/java/com/acme/Attest.java
cmd/server/main.go
pkg/attestation/verify.go
crates/core/src/lib.rs
src/protest.c
lib/rails/railtie.rb
src/Docs.php
Sources/App/Document.swift
src/components/Button.vue
"""
TESTS = """
tests/test_store.py
app/tests/helpers.py
test/runner.js
testing/test_x.py
test_top.py
pkg/store_test.go
conftest.py
src/__tests__/store.ts
src/store.test.tsx
src/store.spec.ts
cypress/e2e/login.cy.ts
src/test/java/com/acme/StoreTest.java
src/main/java/com/acme/StoreTests.java
app/src/androidTest/kotlin/Login.kt
src/commonTest/kotlin/Login.kt
spec/models/user_spec.rb
test/models/user_test.rb
tests/ui/borrowck.rs
App.Tests/StoreTests.cs
src/StoreTest.php
Tests/AppTests/StoreTests.swift
unittests/Support/Foo.cpp
src/testdata/input.go
internal/mocks/store.go
"""
ASIDE = """
docs/conf.py
examples/basic/main.go
samples/app.ts
benchmarks/run.py
benches/search.rs
website/src/pages/index.tsx
scripts/release.js
.github/scripts/label.py
dist/index.js
"""
NO_CODE = """
README.md
package.json
config/settings.yaml
LICENSE
Makefile
"""


def cases(block: str) -> list[str]:
    return block.split("\n")[1:-1]


@pytest.mark.parametrize("path", cases(LIKELY))
def test_likely_sources(path: str):
    kind = kind_of(path)
    assert kind.likely
    assert kind.prior == 1.0


@pytest.mark.parametrize("path", cases(TESTS))
def test_tests(path: str):
    assert kind_of(path).test


@pytest.mark.parametrize("path", cases(ASIDE))
def test_documentation_examples_and_build_output(path: str):
    assert kind_of(path).aside


@pytest.mark.parametrize("path", cases(NO_CODE))
def test_prose_and_configuration(path: str):
    kind = kind_of(path)
    assert not kind.code
    assert kind.prior == 0.4


def test_nothing_is_excluded():
    assert kind_of("docs/tests/data.json").prior == pytest.approx(0.3 * 0.4 * 0.4)
