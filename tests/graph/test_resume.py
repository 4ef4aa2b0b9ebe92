"""An interrupted run goes on where it stood, and a kept state that cannot be used costs nothing but that."""

import asyncio
import sqlite3
import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from testing import factories
from testing.fakes import FakeCodebase, FakeModel, FakeProgressLog, fake_services
from triage.domain.issue import IssueComment
from triage.domain.report import RunReport
from triage.domain.run import Limits, Status, Usage
from triage.errors import ModelUnavailable
from triage.graph.resume import MOST_THREADS, Saver, checkpoints, kept_types, thread_of
from triage.graph.run_graph import run_graph
from triage.ports import Services

ORDER = ["InvestigatorFinding", "CodebaseFinding", "CritiqueFinding", "TriageReport"]


class Killed(BaseException):
    """The process is gone: nothing catches it, nothing is tidied up."""


def killed(_: Any) -> Any:
    raise Killed


def given(path: Path, answers: dict[str, Any] | None = None, **changes: Any) -> Services:
    model = FakeModel(answers or factories.answers())
    codebase = FakeCodebase(factories.FILES)
    return fake_services(
        **{"codebase": codebase, "model": model, "checkpoints": str(path), "fingerprint": "v1"} | changes
    )


async def run(given: Services, **changes: Any) -> RunReport:
    return await run_graph(factories.issue(**changes), factories.repository(), given, asyncio.Event())


def asked(given: Services) -> list[str]:
    assert isinstance(given.model, FakeModel)
    return [name for name, _ in given.model.asked]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "state.sqlite"


@pytest.mark.parametrize("schema", ORDER)
async def test_a_killed_run_goes_on_where_it_stood(path: Path, schema: str):
    first = given(path, factories.answers(**{schema: killed}))
    with pytest.raises(Killed):
        await run(first)
    second = given(path)
    report = await run(second)

    before = ORDER[: ORDER.index(schema)]
    assert not set(before) & set(asked(second)), "what was answered is not asked again"
    assert schema in asked(second)
    assert report.resumed
    assert report.status is Status.COMPLETE
    assert report.verdict == "CONFIRMED"
    assert [step.step for step in report.steps] == ["prepare", "investigator", "codebase_search", "critic", "writer"]
    assert report.usage == sum((step.usage for step in report.steps), Usage()), "what was spent is counted once"
    assert report.suspects[0].path == "src/parse.py", "citations are looked up in an index made anew"


async def test_a_run_that_ended_leaves_nothing_to_go_on_with(path: Path):
    await run(given(path))
    second = given(path)
    report = await run(second)
    assert not report.resumed
    assert "InvestigatorFinding" in asked(second)


async def test_a_cancelled_run_goes_on(path: Path):
    cancelled = asyncio.Event()

    async def stop(_: Any) -> Any:
        cancelled.set()
        await asyncio.sleep(60)

    first = given(path, factories.answers(CritiqueFinding=stop))
    partial = await asyncio.wait_for(run_graph(factories.issue(), factories.repository(), first, cancelled), 5)
    assert partial.notes[0] == "The run was cancelled."
    report = await run(given(path))
    assert report.resumed
    assert report.status is Status.COMPLETE


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"fingerprint": "v2"}, {}),
        ({}, {"body": "Something else happened."}),
        ({}, {"number": 8}),
    ],
    ids=["other settings", "other text", "other issue"],
)
async def test_a_run_goes_on_only_for_the_same_question(path: Path, changes: dict[str, Any], text: dict[str, Any]):
    with pytest.raises(Killed):
        await run(given(path, factories.answers(CritiqueFinding=killed)))
    report = await run(given(path, **changes), **text)
    assert not report.resumed


def test_a_thread_is_named_after_repository_and_issue():
    name = thread_of(factories.issue(number=7), "c0ffee", "o/r", fake_services())
    assert name.startswith("o/r#7:")
    assert name == thread_of(factories.issue(number=7), "c0ffee", "o/r", fake_services())
    assert name != thread_of(factories.issue(number=7), "decade", "o/r", fake_services())


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_damaged_file_is_put_aside_and_said(path: Path, content: bytes):
    path.parent.mkdir()
    path.write_bytes(content)
    with_file = given(path)
    report = asyncio.run(run(with_file))
    assert report.status is Status.COMPLETE
    assert isinstance(with_file.progress, FakeProgressLog)
    told = [line for line in with_file.progress.lines if "put aside" in line]
    assert len(told) == (1 if content else 0)
    assert path.with_suffix(".unreadable").exists() == bool(content)


@pytest.mark.parametrize("part", ["CREATE VIEW v AS SELECT 1", "CREATE TABLE other (x)", "a rollback journal"])
async def test_a_database_of_somebody_else_is_put_aside(path: Path, part: str):
    await run(given(path))
    if part == "a rollback journal":
        path.with_name(f"{path.name}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
    else:
        with sqlite3.connect(path) as database:
            database.execute(part)
    second = given(path)
    assert (await run(second)).status is Status.COMPLETE
    assert isinstance(second.progress, FakeProgressLog)
    assert any("put aside" in line for line in second.progress.lines)


async def test_a_checkpoint_that_is_none_of_ours_is_not_believed(path: Path):
    """Bytes of another make, and a class that must not be built."""
    with pytest.raises(Killed):
        await run(given(path, factories.answers(CritiqueFinding=killed)))
    with sqlite3.connect(path) as database:
        database.execute("UPDATE checkpoints SET checkpoint = ?", (b"\xc1garbage",))
    second = given(path)
    report = await run(second)
    assert not report.resumed
    assert report.status is Status.COMPLETE
    assert isinstance(second.progress, FakeProgressLog)
    assert any("starts anew" in line for line in second.progress.lines)


@pytest.mark.parametrize("obstacle", ["a folder", "a file for a folder", "a link into nowhere"])
async def test_a_place_that_cannot_be_written_costs_the_resume_only(tmp_path: Path, obstacle: str):
    path = tmp_path / "runs" / "state.sqlite"
    if obstacle == "a folder":
        path.mkdir(parents=True)
    elif obstacle == "a file for a folder":
        path.parent.write_text("")
    else:
        path.parent.symlink_to(tmp_path / "nowhere" / "deep")
    without = given(path)
    report = await run(without)
    assert report.status is Status.COMPLETE
    assert isinstance(without.progress, FakeProgressLog)
    assert any("cannot be kept" in line for line in without.progress.lines)


async def test_a_disk_that_fills_up_meanwhile_costs_the_resume_only(path: Path):
    def fill(_: Any) -> Any:
        with sqlite3.connect(path) as database:
            database.execute("DROP TABLE writes")
            database.execute("DROP TABLE checkpoints")
        return factories.investigation()

    full = given(path, factories.answers(InvestigatorFinding=fill))
    report = await run(full)
    assert report.status is Status.COMPLETE
    assert isinstance(full.progress, FakeProgressLog)
    assert len([line for line in full.progress.lines if "cannot be kept" in line]) == 1


def test_the_file_is_bounded(path: Path):
    with checkpoints(str(path), FakeProgressLog()) as saver:
        assert saver is not None
        with saver.cursor() as cursor:
            for number in range(MOST_THREADS + 5):
                cursor.execute(
                    "INSERT INTO checkpoints (thread_id, checkpoint_id) VALUES (?, ?)", (f"t{number}", f"{number:04}")
                )
    with checkpoints(str(path), FakeProgressLog()) as saver:
        assert saver is not None
        with saver.cursor() as cursor:
            kept = cursor.execute("SELECT thread_id FROM checkpoints").fetchall()
    assert len(kept) == MOST_THREADS
    assert ("t0",) not in kept


def test_only_our_own_values_are_rebuilt():
    assert {kind.__module__.partition(".")[0] for kind in kept_types()} == {"triage"}


async def test_a_degraded_run_that_ended_is_tried_anew(path: Path):
    await run(given(path, factories.answers(CritiqueFinding=ModelUnavailable("rate limited (429)"))))
    report = await run(given(path))
    assert report.status is Status.COMPLETE
    assert not report.resumed


@pytest.mark.parametrize("number", range(2, 11))
async def test_killed_before_any_checkpoint_is_written_it_goes_on(
    path: Path, number: int, monkeypatch: pytest.MonkeyPatch
):
    """What a node wrote stands in the file already; only the sum of the superstep is missing."""
    put, calls = Saver.aput, count()

    async def killed_once(self: Saver, *given: Any) -> Any:
        if next(calls) == number:
            raise Killed
        return await put(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(Saver, "aput", killed_once)
        with pytest.raises(Killed):
            await run(given(path))
    report = await run(given(path))
    assert report.resumed
    assert report.status is Status.COMPLETE
    assert report.usage == sum((step.usage for step in report.steps), Usage())
    assert report.usage.calls == 6


async def test_our_own_partial_comment_does_not_make_it_another_question(path: Path):
    with pytest.raises(Killed):
        await run(given(path, factories.answers(CritiqueFinding=killed)))
    ours = IssueComment(author="github-actions[bot]", body="partial", by_bot=True, ours=True)
    assert (await run(given(path), thread=[ours])).resumed


@pytest.mark.parametrize("fails", ["slow", "broken"])
async def test_without_its_index_it_starts_anew(path: Path, fails: str):
    with pytest.raises(Killed):
        await run(given(path, factories.answers(CritiqueFinding=killed)))

    def indexing() -> None:
        if fails == "broken":
            raise OSError("disk")
        time.sleep(2)

    limits = Limits(run_seconds=2 if fails == "slow" else 300)
    report = await run(given(path, codebase=FakeCodebase(factories.FILES, on_index=indexing), limits=limits))
    assert not report.resumed
    assert report.status is Status.DEGRADED
    assert any("was not indexed" in note for note in report.notes)


def test_known_dollars_stay_known_beside_unknown_ones():
    half = Usage(input_tokens=1, calls=1, usd=0.2) + Usage(input_tokens=1, calls=1, usd=None)
    assert (half.usd, half.priced_usd) == (None, 0.2)
    assert (half + half).priced_usd == pytest.approx(0.4)
