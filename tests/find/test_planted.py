"""Keys of every rule, planted in files of every kind, and what of them can be got at: nothing."""

from itertools import islice

import pytest

from testing.checkouts.git_repositories import commit, git
from tests.find.indexes import make_query
from tests.safety.secrets.secret_samples import generate_secrets
from triage.find.codebase import Codebase
from triage.safety.secrets.likely_secrets import RULES

NAMES = """
src/app.py src/app.js src/app.ts src/app.go src/App.java src/app.rb src/app.rs src/app.php src/app.c src/app.cpp src/App.cs
src/app.kt src/app.swift src/app.scala src/app.sh src/app.lua Dockerfile Makefile docs/setup.md docs/setup.rst notes.txt
config/app.yml config/app.yaml config/app.json config/app.toml config/app.ini app.properties main.tf web/page.html data.csv
nuget.config .github/workflows/ci.yml .env.example
"""
ANYWHERE = [rule for rule in RULES if not rule.path]
"""Five forms mean something in certain files only."""
UTF16 = "src/wide.txt"
OWNERS, FORM = ".github/CODEOWNERS", ".github/ISSUE_TEMPLATE/bug.md"


@pytest.fixture(scope="module")
def planted() -> dict[str, str]:
    """Secret to the text that holds it."""
    return {secret: text for rule in ANYWHERE for text, secret in islice(generate_secrets(rule, seed=7), 1)}


@pytest.fixture(scope="module")
def codebase(tmp_path_factory: pytest.TempPathFactory, planted: dict[str, str]) -> Codebase:
    folder = tmp_path_factory.mktemp("planted")
    names, texts = NAMES.split(), list(planted.values())
    pieces = [f"frobnicate {rule.keywords[0]}\n{text}\n" for text, rule in zip(texts, ANYWHERE, strict=True)]
    everything = "".join(pieces)
    files: dict[str, str | bytes] = {name: "".join(pieces[number :: len(names)]) for number, name in enumerate(names)}
    files |= {
        "src/all.txt": everything,
        UTF16: everything.encode("utf-16"),
        FORM: everything,
        "deploy/.env": everything,
    }
    files |= {OWNERS: f"* @acme/{texts[0]}\n"}
    commit(folder, files)
    git(folder, "commit", "-q", "--allow-empty", "-m", f"Frobnicate {texts[0]}")
    (folder / "src/app.py").write_text("frobnicate\n")
    git(folder, "commit", "-q", "-a", "-m", f"Frobnicate {next(text for text in texts if 'ghp_' in text)}")
    made = Codebase(folder, "acme/planted")
    made.index()
    return made


def test_none_is_in_what_can_be_read(codebase: Codebase, planted: dict[str, str]):
    for path in ("src/all.txt", UTF16):
        told = "\n".join(codebase.read_lines(path) or [])
        assert told.count("[masked secret]") >= 0.95 * len(planted), "some stand in each other's way"
        assert [secret for secret in planted if secret in told] == []


def test_none_is_found(codebase: Codebase, planted: dict[str, str]):
    query = make_query("frobnicate fails", " ".join(NAMES.split()))
    hits = [passage.text for hit in codebase.search(query, 50) for passage in hit.passages]
    passages = codebase.get_retriever("acme/planted", 20_000).invoke("frobnicate fails")
    told = "\n".join([*hits, *(passage.page_content for passage in passages)])
    assert "frobnicate" in told
    assert [secret for secret in planted if len(secret) > 9 and secret in told] == []


def test_none_is_in_history_owners_forms_and_files_of_secrets(codebase: Codebase, planted: dict[str, str]):
    told = [change.subject for change in codebase.read_history("src/app.py", 9).changes]
    assert any("[masked secret]" in subject for subject in told)
    told += [*codebase.project.forms, *codebase.project.owners.find_owners("src/app.py")]
    assert [secret for secret in planted if any(secret in text for text in told)] == []
    assert codebase.read_lines("deploy/.env") is None
    assert "deploy/.env" not in codebase.list_paths()
