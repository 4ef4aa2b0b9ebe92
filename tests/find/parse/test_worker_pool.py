"""Worker processes: a grammar that crashes costs the syntax trees of a few files, and nothing else."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from triage.find.parse import extract as extract_module
from triage.find.parse import worker_pool
from triage.find.parse.extract import ExtractedFiles, SourceFile
from triage.find.parse.worker_pool import WorkerPool, extract_batch

ROOT = Path(__file__).parents[3]
KILLER = SourceFile("A.java", ("class A { " + ("a=>" * 100 + "\n") * 80).encode())
"""Java's grammar needs memory without bound for this, and ends its process (tree-sitter-java 0.23.5)."""
GOOD = SourceFile("B.java", b"class B { void m() {} }")


def python(name: str) -> SourceFile:
    return SourceFile(f"{name}.py", f"def {name}(): pass\n".encode())


def names(extracted: ExtractedFiles) -> list[str]:
    return [name for *_, name in extracted.definitions]


def extract(pool: WorkerPool, *files: SourceFile) -> ExtractedFiles:
    ((_, extracted),) = pool.extract_all(iter([files]))
    return extracted


# What workers do in place of `extract_batch`. They import this module.


def end_at_g(files: Sequence[SourceFile]) -> ExtractedFiles:
    if files[0].path == "g.py":
        os._exit(1)
    return extract_batch(files)


def fail(files: Sequence[SourceFile]) -> ExtractedFiles:
    raise MemoryError


def read_slowly(files: Sequence[SourceFile]) -> ExtractedFiles:
    worker_pool.MAX_FILE_SECONDS = 1
    extract_module.find_definitions = lambda *_: time.sleep(60)  # type: ignore[assignment,attr-defined]
    return extract_batch(files)


def tell_variables(files: Sequence[SourceFile]) -> ExtractedFiles:
    return ExtractedFiles(list(os.environ))


def test_nothing_to_do():
    with WorkerPool() as pool:
        assert list(pool.extract_all(iter([]))) == []


def test_after_a_grammar_that_crashes_others_go_on_in_new_processes():
    with WorkerPool(workers=1) as pool:
        extracted = extract(pool, GOOD, KILLER, python("f"))
        assert (names(extracted), pool.files_without_trees) == ([], 3)
        assert [chunk[0] for chunk in extracted.chunks] == [0, 1, 2]
        assert names(extract(pool, GOOD)) == ["B", "B.m"]


def test_a_crash_costs_no_other_batch_its_trees(monkeypatch: pytest.MonkeyPatch):
    """Whatever is in progress, and in the pipe: Python 3.11.2 waits for ever until somebody reads that."""
    monkeypatch.setattr(worker_pool, "extract_batch", end_at_g)
    long = SourceFile("long.py", b"# x\n" * 20_000)
    batches = [[python(name), *[long] * 4] for name in ["e", "f", "g", *(f"h{number}" for number in range(17))]]
    with WorkerPool(workers=2) as pool:
        found = [names(extracted) for _, extracted in pool.extract_all(iter(batches))]
    assert found == [["e"], ["f"], [], *([f"h{number}"] for number in range(17))]
    assert pool.files_without_trees == 5


def test_after_a_second_crash_files_are_split_by_lines(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_pool, "extract_batch", end_at_g)
    with WorkerPool(workers=1) as pool:
        assert [names(extract(pool, python(name))) for name in "fgfgff"] == [["f"], [], ["f"], [], [], []]


def test_a_worker_that_only_fails_goes_on(monkeypatch: pytest.MonkeyPatch):
    with WorkerPool(workers=1) as pool:
        for _ in range(3):
            monkeypatch.setattr(worker_pool, "extract_batch", fail)
            assert names(extract(pool, python("f"))) == []
            monkeypatch.setattr(worker_pool, "extract_batch", extract_batch)
            assert names(extract(pool, python("f"))) == ["f"]


def test_a_file_that_takes_too_long_is_split_by_lines(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_pool, "extract_batch", read_slowly)
    with WorkerPool(workers=1) as pool:
        assert names(extract(pool, python("f"))) == []


def test_a_worker_has_no_variables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setattr(worker_pool, "extract_batch", tell_variables)
    with WorkerPool(workers=1) as pool:
        assert extract(pool, python("f")).terms == ["OPENBLAS_NUM_THREADS"]


def test_workers_end_when_the_block_is_left_early():
    with WorkerPool(workers=2) as pool:
        next(pool.extract_all(iter([[python(f"f{number}")] for number in range(20)])))
        assert pool._executor is not None
        processes = list(pool._executor._processes.values())
    assert processes
    assert all(process.exitcode is not None for process in processes)


def test_no_worker_can_be_started(monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("multiprocessing.util.spawnv_passfds", refuse)
    with WorkerPool(workers=1) as pool:
        extracted = extract(pool, python("f"))
        assert pool.files_without_trees == 1
    assert names(extracted) == []
    assert extracted.chunks == [(0, 1, 1, -1)]


def test_odd_text_reaches_the_worker():
    text = "# \udcff é 日本 \x00\r\ndef f(): pass\n".encode("utf-8", "surrogatepass")
    with WorkerPool(workers=1) as pool:
        assert names(extract(pool, SourceFile("a.py", b"# x\n" * 3_000 + text))) == ["f"]


def test_nothing_is_loaded_from_the_folder_that_the_command_is_called_in(tmp_path: Path):
    from testing.checkouts.git_repositories import commit  # which needs PATH: no worker can import it

    hostile = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    files = dict.fromkeys(["triage/__init__.py", "json.py", "multiprocessing.py", "numpy/__init__.py"], hostile)
    commit(tmp_path, files | {"a.py": "def f(): pass\n"})
    code = f"import sys; sys.path[0] = {str(ROOT)!r}; from triage.__main__ import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "locate", "."],
        input='# f fails\n\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n',
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout.splitlines()[0], done.stderr) == ("a.py", "")
    assert not (tmp_path / "ran").exists()


ENDED = """
import sys, threading, time
from tests.find.parse.test_worker_pool import WorkerPool, python, read_slowly, worker_pool
worker_pool.extract_batch = read_slowly
if __name__ == "__main__":
    pool = WorkerPool(workers=2)
    threading.Thread(target=lambda: list(pool.extract_all(iter([[python("f")]] * 4))), daemon=True).start()
    while not (pool._executor and pool._executor._processes): pass
    print(*pool._executor._processes, flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not Path("/proc").exists(), reason="processes are seen in /proc")
def test_workers_end_with_a_process_that_is_killed(tmp_path: Path):
    script = tmp_path / "script.py"
    script.write_text(ENDED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, env=environment)
    assert process.stdout is not None
    workers = [Path(f"/proc/{number}/cmdline") for number in process.stdout.readline().decode().split()]
    assert workers
    process.send_signal(signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 20
    while any(worker.exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [worker for worker in workers if worker.exists()]


def test_a_worker_imports_only_what_it_needs_to_parse():
    code = "import sys, triage.find.parse.worker_pool; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"pydantic", "pathspec", "requests"} & set(done.stdout.split()) == set(), "half a second of processor time"
