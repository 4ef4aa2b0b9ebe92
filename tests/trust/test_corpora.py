"""The strings that the harness tries."""

import json
from pathlib import Path

import pytest

from trust import corpora
from trust.corpora import injection_templates, injections, markdown
from trust.measures.hidden_text import POINTS


def test_the_corpora_are_large_enough():
    assert len(injections()) >= 1_500
    assert len(markdown()) >= 1_420
    assert len({case.text for case in injections()}) == len(injections())
    assert len(POINTS) > 4_000


def test_every_goal_is_found_in_every_wrapping():
    lost = [text for text in injection_templates.build_injections() if not injection_templates.find_goals(text)]
    assert lost == []


def test_further_collections_are_read_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "a.txt").write_text("x\ny\n")
    (tmp_path / "one" / "b.txt").write_text("p\nq\n%%%\nr")
    (tmp_path / "one" / "c.json").write_text(json.dumps({"a": ["s", {"b": "t"}]}))
    (tmp_path / "one" / "d.jsonl").write_text('"u"\n{"text": "v"}\n')
    monkeypatch.setenv("TRUST_CORPORA", str(tmp_path))
    corpora.injections.cache_clear()
    try:
        read = [case.text for case in injections() if case.corpus == "one"]
    finally:
        corpora.injections.cache_clear()
    assert read == ["x", "y", "p\nq", "r", "s", "t", "u", "v"]
