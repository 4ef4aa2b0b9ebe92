"""What somebody else has put into the cache: it may mislead a search, and nothing more."""

import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from testing.checkouts.git_repositories import commit, git
from tests.code.caches import QUERIES, Arrays, Lists, Tampering, collect_answers, index_file, open_codebase, tamper
from tests.code.project import DATES, PROJECT
from triage.code.files.file_filter import MAX_CODE_BYTES, load_text
from triage.code.indexing.cache_folder import CacheFolder
from triage.code.indexing.cached_index import BLOB_TEXT, LEFT_OUT, REASONS
from triage.code.words.corpus import compress_text, decompress_text

KEY = "TOKEN = 'ghp_" + "a" * 36 + "'\n"
FILES = {**PROJECT, "src/keys.py": KEY}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    commit(folder, FILES)
    return folder


@pytest.fixture
def cache(project: Path, tmp_path: Path) -> Path:
    open_codebase(project, tmp_path).index()
    return tmp_path


def put_text(path: str, data: bytes) -> Tampering:
    """Another text in a file's place."""

    def change(lists: Lists, arrays: Arrays) -> None:
        number = lists["paths"].index(path)
        ends = np.cumsum(arrays["text sizes"])
        start, end = int(ends[number]) - int(arrays["text sizes"][number]), int(ends[number])
        whole = arrays["texts"].tobytes()
        arrays["texts"] = np.frombuffer(whole[:start] + data + whole[end:], dtype="|u1")
        arrays["text sizes"][number] = len(data)
        arrays["states"][number] = BLOB_TEXT

    return change


def put_lists(**values: Any) -> Tampering:
    return lambda lists, arrays: lists.update(values)


DATES_PATH = "src/calendar_tool/dates.py"
LIE = DATES.replace("year % 4 == 0", "True")


@pytest.mark.parametrize(
    "data",
    [
        compress_text(LIE),
        compress_text(""),
        b"no stream",
        b"",
        zlib.compress(bytes(50_000_000)),
        compress_text(DATES)[:-8],
    ],
    ids=["another text", "nothing", "nonsense", "no bytes", "fifty megabytes", "half"],
)
def test_a_text_that_is_not_the_commits_is_no_text(project: Path, cache: Path, data: bytes):
    tamper(cache, put_text(DATES_PATH, data))
    codebase = open_codebase(project, cache)
    assert codebase.index().reused == len(FILES)
    assert codebase.read_lines(DATES_PATH) is None
    assert DATES_PATH in codebase.list_paths()
    hits = [hit for query in QUERIES for hit in codebase.search(query, 20)]
    assert not any(passage.text for hit in hits if hit.path == DATES_PATH for passage in hit.passages)
    assert codebase.read_lines("src/calendar_tool/queue.py") == PROJECT["src/calendar_tool/queue.py"].splitlines()


def test_a_key_is_not_shown_although_its_blob_is_there(project: Path, cache: Path):
    tamper(cache, put_text("src/keys.py", compress_text(KEY)))
    codebase = open_codebase(project, cache)
    codebase.index()
    assert codebase.read_lines("src/keys.py") is None


def test_a_path_that_the_commit_lacks_is_none(project: Path, cache: Path):
    def invent(lists: Lists, arrays: Arrays) -> None:
        lists["paths"][lists["paths"].index("README.md")] = "src/invented.py"

    tamper(cache, invent)
    codebase = open_codebase(project, cache)
    assert codebase.index().reused == len(FILES) - 1
    assert sorted(codebase.list_paths()) == sorted(FILES)


def test_a_text_of_another_commit_is_not_taken(project: Path, cache: Path):
    blob = git(project, "rev-parse", "HEAD:README.md")

    def exchange(lists: Lists, arrays: Arrays) -> None:
        lists["blob_ids"][lists["paths"].index("README.md")] = "0" * 40

    tamper(cache, exchange)
    codebase = open_codebase(project, cache)
    assert codebase.index().reused == len(FILES) - 1
    assert codebase.read_lines("README.md") == ["# Calendar tool"]
    assert len(blob) == 40


@pytest.mark.parametrize(
    "change",
    [
        put_lists(paths=[]),
        put_lists(paths=7),
        put_lists(paths=["a.py"] * len(FILES)),
        put_lists(paths=[1] * len(FILES)),
        put_lists(names={}),
        put_lists(names=["\ud800"] * 99),
        put_lists(terms=["x"]),
        put_lists(terms=None),
        lambda lists, arrays: lists.pop("blob_ids"),
        lambda lists, arrays: arrays.pop("chunks"),
        lambda lists, arrays: arrays.update(definitions=arrays["definitions"].ravel()),
        lambda lists, arrays: arrays.update({"chunk documents": arrays["chunk documents"].astype("<f4")}),
        lambda lists, arrays: arrays.update({"chunk counts": arrays["chunk counts"] * 0}),
        lambda lists, arrays: arrays.update(chunks=arrays["chunks"][:, ::-1]),
        lambda lists, arrays: arrays["chunks"].__setitem__((3, 0), len(lists["names"])),
        lambda lists, arrays: arrays["definitions"].__setitem__((3, 0), -1),
        lambda lists, arrays: arrays["definitions"].__setitem__((1, 0), 0),
        lambda lists, arrays: arrays["definitions"].__setitem__((2, 0), 1 << 30),
        lambda lists, arrays: arrays["text sizes"].__setitem__(0, -1),
        lambda lists, arrays: arrays["states"].__setitem__(0, 200),
    ],
)
def test_what_cannot_be_an_index_is_rebuilt(project: Path, cache: Path, change: Tampering):
    tamper(cache, change)
    codebase, fresh = open_codebase(project, cache), open_codebase(project, None)
    facts = codebase.index()
    fresh.index()
    assert (facts.reused, facts.cache) == (0, "The index cache was damaged and is rebuilt.")
    assert collect_answers(codebase) == collect_answers(fresh)
    assert open_codebase(project, cache).index().reused == len(FILES)


NAMES = ("chunk", "file", "path")
ARRAYS = ["states", "texts", "text sizes", "definitions", "chunks"] + [
    f"{name} {part}" for name in NAMES for part in ("frequencies", "documents", "counts")
]


@pytest.fixture(scope="module")
def template(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    open_codebase(project, folder).index()
    return folder


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(ARRAYS),
            st.integers(0, 10_000),
            st.sampled_from([0, 1, -1, 2, 7, 255, 1 << 19, 2**31 - 1, -(2**31)]) | st.integers(-50, 50),
        ),
        min_size=1,
        max_size=4,
    ),
    st.booleans(),
)
def test_whatever_numbers_stand_there_a_search_answers_and_lies_about_no_line(
    tmp_path_factory: pytest.TempPathFactory,
    project: Path,
    template: Path,
    changes: list[tuple[str, int, int]],
    moved_on: bool,
):
    folder = tmp_path_factory.mktemp("fuzzed")
    name = index_file(template).name
    (folder / name).write_bytes(index_file(template).read_bytes())

    def change(lists: Lists, arrays: Arrays) -> None:
        for name, at, value in changes:
            numbers = arrays[name].reshape(-1)
            numbers[at % len(numbers)] = value % 2 ** (8 * numbers.itemsize) if numbers.dtype.kind == "u" else value
        if moved_on:  # so that the rest is taken over in parts
            lists["blob_ids"][len(FILES) // 2] = "0" * 40

    tamper(folder, change)
    codebase = open_codebase(project, folder)
    facts = codebase.index()
    assert set(facts.left_out) <= set(REASONS)
    assert facts.notes == [] or facts.notes[0].endswith("known by path alone; likely sources were read first.")
    hits, lines, _ = collect_answers(codebase)
    json.dumps([hit.model_dump() for found in hits for hit in found]).encode()
    for path, found in lines.items():
        assert found in (None, [], codebase_lines(path)), path
    for hit in (hit for found in hits for hit in found):
        for passage in hit.passages:
            own = codebase_lines(hit.path)[passage.span.start - 1 : passage.span.end]
            assert passage.text in ("", "\n".join(own))


def codebase_lines(path: str) -> list[str]:
    return ["TOKEN = '[masked secret]'"] if path == "src/keys.py" else FILES[path].splitlines()


def test_a_few_bytes_do_not_become_gigabytes():
    found = decompress_text(zlib.compress(bytes(50_000_000)))
    assert found is not None
    assert len(found) == MAX_CODE_BYTES
    assert decompress_text(b"nonsense") is None


def test_every_reason_for_leaving_out_has_a_state():
    samples = [
        b"version https://git-lfs.github.com/spec/v1\n",
        b"\0",
        b"var a=1;" * 2_000,
        b"// Code generated by x. DO NOT EDIT.\n",
    ]
    assert tuple(load_text(data)[1] for data in samples) == REASONS
    assert LEFT_OUT + len(REASONS) < 256


def test_folders_of_the_cache_are_not_made_by_reading(tmp_path: Path):
    assert CacheFolder(tmp_path / "none").read("index-" + "0" * 32 + ".npy") is None
    assert not (tmp_path / "none").exists()
