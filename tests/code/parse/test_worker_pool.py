"""Worker processes: a grammar that crashes affects one file only."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from testing.checkouts.git_repositories import commit
from triage.code.parse.extract import ExtractedFiles, SourceFile
from triage.code.parse.worker_pool import WorkerDied, WorkerPool, WorkerProcess

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


def test_results_come_in_the_order_of_the_batches():
    def batches() -> Iterator[list[SourceFile]]:
        for number in range(40):
            yield [python(f"f{number}"), python(f"g{number}")]

    with WorkerPool(workers=2) as pool:
        results = [(batch[0].path, names(extracted)) for batch, extracted in pool.extract_all(batches())]
    assert results == [(f"f{number}.py", [f"f{number}", f"g{number}"]) for number in range(40)]


def test_nothing_to_do():
    with WorkerPool() as pool:
        assert list(pool.extract_all(iter([]))) == []


def test_only_the_file_that_crashes_its_grammar_is_split_by_lines():
    with WorkerPool(workers=1) as pool:
        extracted = extract(pool, GOOD, KILLER, python("f"))
        assert names(extracted) == ["B", "B.m", "f"]
        assert [chunk[0] for chunk in extracted.chunks] == [0, 1, 2]
        assert names(extract(pool, GOOD)) == ["B", "B.m"]


def test_a_file_that_crashes_without_a_grammar_is_indexed_by_path(monkeypatch: pytest.MonkeyPatch):
    start = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.path.extend(sys.argv[2:-1]);"
        "import os; import triage.code.parse.extract as e; real = e.load_text\n"
        "e.load_text = lambda data, path: os._exit(1) if data.startswith(b'die') else real(data, path)\n"
        "from triage.code.parse.extract_worker import main; main()"
    )
    monkeypatch.setattr("triage.code.parse.worker_pool._START_CODE", start)
    with WorkerPool(workers=1) as pool:
        extracted = extract(pool, python("f"), SourceFile("bad.py", b"die"), python("g"))
    assert [packed is None for packed in extracted.compressed_texts] == [False, True, False]
    assert names(extracted) == ["f", "g"]
    assert len(extracted.by_path.sizes) == 3


def test_workers_that_die_are_replaced_up_to_a_limit():
    with WorkerPool(workers=1) as pool:
        answers = []
        for _ in range(15):
            answers.append(names(extract(pool, python("f"))))
            for process in pool._idle:
                assert process._process is not None
                os.kill(process._process.pid, signal.SIGKILL)
                process._process.wait()
        assert pool.has_given_up
        assert answers[:12] == [["f"]] * 12
        assert answers[-1] == []


def test_a_file_that_takes_too_long_is_split_by_lines(monkeypatch: pytest.MonkeyPatch):
    start = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.path.extend(sys.argv[2:-1]);"
        "import time; import triage.code.parse.extract as e; e.find_definitions = lambda *words: time.sleep(60)\n"
        "import triage.code.parse.extract_worker as w; w.MAX_FILE_SECONDS = 1; w.main()"
    )
    monkeypatch.setattr("triage.code.parse.worker_pool._START_CODE", start)
    with WorkerPool(workers=1) as pool:
        assert names(extract(pool, python("f"))) == []
        assert not pool.has_given_up


@pytest.mark.parametrize("output", [b"x\n", b"\x03\0\0\0{}\n", b"\xff\xff\xff\xff{}", b"x" * 3_000_000, b""])
def test_a_worker_that_sends_an_invalid_response_is_replaced(monkeypatch: pytest.MonkeyPatch, output: bytes):
    monkeypatch.setattr("triage.code.parse.worker_pool._MAX_DEATHS", 2)
    start = (
        f"import sys; sys.stdin.buffer.read(9); sys.stdout.buffer.write({output[:10]!r} * {max(1, len(output) // 10)})"
    )
    monkeypatch.setattr("triage.code.parse.worker_pool._START_CODE", start)
    with WorkerPool(workers=1) as pool:
        assert names(extract(pool, python("f"))) == []
        assert pool.has_given_up


def test_workers_end_with_the_block():
    with WorkerPool(workers=1) as pool:
        extract(pool, python("f"))
        process = pool._idle[0]._process
        assert process is not None
    assert process.returncode is not None


def test_workers_end_when_the_block_is_left_early():
    with WorkerPool(workers=2) as pool:
        next(pool.extract_all(iter([[python(f"f{number}")] for number in range(20)])))
        processes = [each._process for each in (*pool._idle, *pool._busy)]
    assert processes
    assert all(process is not None and process.returncode is not None for process in processes)


def test_a_worker_loads_nothing_from_the_folder_it_is_started_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "triage").mkdir()
    (tmp_path / "triage/__init__.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    (tmp_path / "json.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with WorkerPool(workers=1) as pool:
        assert names(extract(pool, python("f"))) == ["f"]
    assert not (tmp_path / "ran").exists()


def test_no_worker_can_be_started(monkeypatch: pytest.MonkeyPatch):
    def refuse(*words: object, **more: object) -> None:
        raise PermissionError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with WorkerPool(workers=1) as pool:
        extracted = extract(pool, python("f"))
        assert pool.has_given_up
    assert names(extracted) == []
    assert extracted.chunks == [(0, 1, 1, -1)]


def test_odd_text_reaches_the_worker():
    text = "# \udcff é 日本 \x00\r\ndef f(): pass\n".encode("utf-8", "surrogatepass")
    with WorkerPool(workers=1) as pool:
        assert names(extract(pool, SourceFile("a.py", b"# x\n" * 3_000 + text))) == ["f"]


def test_a_process_that_was_never_asked_can_be_stopped():
    assert WorkerProcess().stop() is None


def test_a_process_that_died_is_noticed():
    process = WorkerProcess()
    process.send([python("f")])
    assert process._process is not None
    process._process.kill()
    process._process.wait()
    with pytest.raises(WorkerDied):
        process.receive()
    process.stop()


SLOW = "import time, triage.code.parse.extract as e; e.find_definitions = lambda *words: time.sleep(600)\n"
ENDED = """
import signal, sys, threading
from pathlib import Path
import triage.code.parse.worker_pool as process
process._START_CODE = process._START_CODE.replace("from triage", {slow!r} + "from triage", 1)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
from triage.code.codebase import GitCodebase
indexing = threading.Thread(target=GitCodebase(Path({folder!r}), "acme/slow").index, daemon=True)
indexing.start()
import time; time.sleep(1.5)
print("now", flush=True)
time.sleep(60)
"""


def test_a_signal_ends_the_process_while_it_indexes(tmp_path: Path):
    for number in range(4):
        (tmp_path / f"m{number}.py").write_text("def f(): pass\n")
    commit(tmp_path)
    script = ENDED.format(slow=SLOW, folder=str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=Path(__file__).parents[3])
    assert process.stdout is not None
    assert process.stdout.readline() == b"now\n"
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = children.read_text().split() if children.exists() else []
    process.terminate()
    assert process.wait(timeout=30) == 5
    process.stdout.close()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{worker}/cmdline").exists() for worker in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not [worker for worker in workers if Path(f"/proc/{worker}/cmdline").exists()]


def test_a_worker_imports_only_what_it_needs_to_parse():
    code = "import sys, triage.code.parse.extract_worker; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"pydantic", "pathspec", "requests"} & set(done.stdout.split()) == set(), "half a second of processor time"
