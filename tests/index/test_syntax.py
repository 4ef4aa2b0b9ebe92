"""Worker processes: what a grammar does to one file stays with that file."""

import os
import signal
import subprocess
import time

import pytest

from triage.index.languages import LANGUAGES, Language
from triage.index.syntax import Syntax, _Worker

PYTHON = next(language for language in LANGUAGES if language.name == "Python")
JAVA = next(language for language in LANGUAGES if language.name == "Java")
KILLER = "class A { " + "a=>" * 8_000
"""Java's grammar needs memory without bound for this, and ends its process (tree-sitter-java 0.23.5)."""


def names(text: str, language: Language, syntax: Syntax) -> list[str]:
    return [one.name for one in syntax.submit(text, language).result(timeout=60)]


def test_many_files_come_back_in_order():
    with Syntax(workers=2) as syntax:
        coming = [syntax.submit(f"def f{number}(): pass\n", PYTHON) for number in range(40)]
        assert [[one.name for one in each.result()] for each in coming] == [[f"f{number}"] for number in range(40)]


def test_a_file_that_kills_the_grammar_has_no_definitions_and_others_have():
    with Syntax(workers=1) as syntax:
        assert names(KILLER, JAVA, syntax) == []
        assert names("class B { void m() {} }", JAVA, syntax) == ["B", "m"]


def test_a_worker_that_was_lost_is_replaced_and_not_for_ever():
    with Syntax(workers=1) as syntax:
        worker = syntax._idle.get()
        syntax._idle.put(worker)
        answers = []
        for _ in range(30):
            answers.append(names("def f(): pass\n", PYTHON, syntax))
            if worker._process is not None:
                os.kill(worker._process.pid, signal.SIGKILL)
                worker._process.wait()
        assert answers[:4] == [["f"], [], ["f"], []]
        assert answers[-4:] == [[], [], [], []]
        assert worker._process is None


def test_a_worker_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("triage.index.syntax._ANSWER_SECONDS", 0.2)
    monkeypatch.setattr("triage.index.syntax._START", "import time; time.sleep(60)")
    started = time.monotonic()
    with Syntax(workers=1) as syntax:
        assert names("def f(): pass\n", PYTHON, syntax) == []
    assert time.monotonic() - started < 5


def test_workers_end_with_the_block():
    with Syntax(workers=1) as syntax:
        names("def f(): pass\n", PYTHON, syntax)
        worker: _Worker = syntax._idle.get()
        process = worker._process
        syntax._idle.put(worker)
        assert process is not None
    assert process.returncode is not None


def test_a_worker_loads_nothing_from_the_folder_it_is_started_in(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "triage").mkdir()
    (tmp_path / "triage/__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Syntax(workers=1) as syntax:
        assert names("def f(): pass\n", PYTHON, syntax) == ["f"]
    assert not (tmp_path / "ran").exists()


def test_no_worker_can_be_started(monkeypatch: pytest.MonkeyPatch):
    def refuse(*words, **more):
        raise PermissionError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with Syntax(workers=1) as syntax:
        assert names("def f(): pass\n", PYTHON, syntax) == []


def test_odd_text_goes_through_the_pipe():
    text = "# \udcff é 日本 \x00\r\ndef f(): pass\n"
    with Syntax(workers=1) as syntax:
        assert names(text, PYTHON, syntax) == ["f"]
