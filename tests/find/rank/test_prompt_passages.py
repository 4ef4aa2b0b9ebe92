"""Which code a model is shown first, and which comments are left out."""

from pathlib import Path

import pytest

from tests.find.indexes import make_corpus, make_query
from triage.base.text import MAX_LINE_CHARS
from triage.domain.code import ExecutedCode, PromptPassages, SearchQuery
from triage.domain.issue import Frame
from triage.find.rank.prompt_passages import choose_prompt_passages
from triage.find.rank.query import build_query
from triage.find.rank.ranking import rank_files
from triage.find.retriever import make_search_query
from triage.find.words.corpus import Corpus

METHOD = (
    "    def {name}(self, key):\n        value = self.{words}\n"
    + "        self.count += 1\n" * 40
    + "        return value\n\n"
)
STORE = (
    "class Store:\n"
    + METHOD.format(name="save", words="pending.write(key)")
    + METHOD.format(name="load", words="pending.read(key)")
    + METHOD.format(name="flush_queue", words="queue.drain(key)")
)


def choose(corpus: Corpus, asked: SearchQuery, chars: int = 10_000) -> PromptPassages:
    return choose_prompt_passages(rank_files(corpus, build_query(asked), {}, by_embedding=False), chars)


def measure(chosen: PromptPassages) -> int:
    return sum(len(passage.text) + len(passage.span.path) for passage in chosen.passages)


def test_the_likeliest_file_gives_several_passages_before_a_weak_one_gives_any(tmp_path: Path):
    weak = {f"src/other{number}.py": f"def other{number}(key):\n    return key\n" * 9 for number in range(20)}
    corpus = make_corpus(tmp_path, {"src/store.py": STORE, **weak})
    chosen = choose(corpus, make_query("Store loses pending keys: write, read and drain of the queue"), 4_500)
    first = chosen.passages[0]
    assert (first.span.path, first.symbol) == ("src/store.py", "Store")
    assert first.text.startswith("  1| class Store:\n  2|     def save(self, key):\n")
    assert all(words in first.text for words in ("pending.write", "pending.read", "queue.drain"))
    assert not {passage.span.path for passage in chosen.passages} & set(chosen.other_files)


def test_a_definition_that_is_named_comes_first(tmp_path: Path):
    words = "def {name}(data):\n    return compression(data, level, pending, queue)\n\n"
    noise = {f"src/codec{n}.py": "".join(words.format(name=f"pack{n}_{m}") for m in range(30)) for n in range(8)}
    corpus = make_corpus(tmp_path, {"lib/variable.py": "def as_compatible_data(it):\n    return it\n", **noise})
    asked = make_query("compression level of pending queue", keywords=["as_compatible_data"])
    assert "as_compatible_data" in [passage.symbol for passage in choose(corpus, asked, 2_000).passages]
    without = make_query("compression level of pending queue")
    assert "as_compatible_data" not in [passage.symbol for passage in choose(corpus, without, 2_000).passages]


def test_named_definitions_leave_room_for_others(tmp_path: Path):
    names = [f"convert_part_{number}" for number in range(30)]
    body = "".join(f"def {name}(it):\n    return it + {name!r}\n\n\n" for name in names)
    main = "def broken_loop(queue):\n    while queue.pending:\n        queue.flush()\n"
    corpus = make_corpus(tmp_path, {"lib/parts.py": body, "src/loop.py": main})
    chosen = choose(corpus, make_query("pending queue: flush loops", keywords=names), 1_500)
    assert sum("convert_part" in passage.text for passage in chosen.passages) < 25
    assert "broken_loop" in [passage.symbol for passage in chosen.passages]


def test_what_keywords_name_comes_before_what_the_issue_names(tmp_path: Path):
    names = [f"convert_part_{number}" for number in range(60)]
    parts = "".join(f"def {name}(it):\n    return it + {name!r}\n\n\n" for name in names)
    corpus = make_corpus(tmp_path, {"lib/parts.py": parts, "src/flow.py": "def run_all(it):\n    return sorted(it)\n"})
    for keywords, is_shown in ([], False), (["run_all"], True):
        asked = make_query("It fails", f"{' '.join(names)} run_all", keywords=keywords)
        shown = [passage.symbol for passage in choose(corpus, asked, 500).passages]
        assert ("run_all" in shown) is is_shown


def test_of_a_long_definition_that_is_named_the_lines_around_the_other_words_are_shown(tmp_path: Path):
    filling = "".join(f"    step_{number} = prepare({number})\n" for number in range(200))
    text = f"def spawn_pane(pane):\n{filling}    reset_offset(pane, wrap=True)\n{filling}    return pane\n"
    corpus = make_corpus(tmp_path, {"src/spawn.py": text, "src/other.py": "def other():\n    return 1\n"})
    chosen = choose(corpus, make_query("Offset is wrong after wrap in `spawn_pane`", keywords=["spawn_pane"]), 5_000)
    shown = "\n".join(passage.text for passage in chosen.passages)
    assert "def spawn_pane(pane):" in shown
    assert "reset_offset(pane, wrap=True)" in shown
    assert shown.count("prepare(") < 150, "of 400 lines"


def test_the_lines_around_a_stack_frame_come_before_definitions_that_are_named(tmp_path: Path):
    body = "".join(f"    step_{number} = read(it)\n" for number in range(1, 60))
    named = "".join(f"def convert_part_{number}(it):\n    return it\n\n\n" for number in range(30))
    corpus = make_corpus(tmp_path, {"lib/parts.py": named, "src/flow.py": f"def run_all(it):\n{body}"})
    trace = 'Traceback (most recent call last):\n  File "src/flow.py", line 40, in run_all\nKeyError: 1\n'
    keywords = [f"convert_part_{number}" for number in range(30)]
    asked = make_search_query(f"convert fails\n{trace}").model_copy(update={"keywords": keywords})
    [flow] = [one for one in choose(corpus, asked, 1_500).passages if one.span.path == "src/flow.py"]
    assert (flow.span.start, flow.span.end, flow.symbol) == (32, 48, "run_all")
    assert "39| step_38 = read(it)" in flow.text


def test_where_the_example_fails_and_what_it_executes_of_the_candidates_comes_first(tmp_path: Path):
    steps = "".join(f"    step_{number} = read(it)\n" for number in range(1, 60))
    parts = "".join(f"def convert_part_{number}(it):\n    return it\n\n\n" for number in range(30))
    corpus = make_corpus(
        tmp_path, {"lib/parts.py": parts, "src/flow.py": f"def run_all(it):\n{steps}", "a.py": "x = 1\n"}
    )
    asked = make_query("convert the parts", keywords=[f"convert_part_{number}" for number in range(29)])
    place = Frame(path="src/flow.py", line=40, function="run_all")
    executed = ExecutedCode(
        functions=[Frame(path="lib/parts.py", line=117), Frame(path="gone.py", line=1)], place=place
    )
    ranking = rank_files(corpus, build_query(asked), {}, by_embedding=False, executed=executed)
    shown = choose_prompt_passages(ranking, 2_000).passages
    assert "39| step_38 = read(it)" in next(one.text for one in shown if one.span.path == "src/flow.py")
    assert "convert_part_29" in [one.symbol for one in shown]
    assert "convert_part_29" not in [one.symbol for one in choose(corpus, asked, 2_000).passages]


def test_lines_of_a_class_that_stand_together_have_one_heading(tmp_path: Path):
    store = "class Store:\n" + "".join(
        f"    def save_{number}(self):\n        self.pending_{number} = 1\n\n" for number in range(4)
    )
    corpus = make_corpus(tmp_path, {"src/store.py": store})
    asked = make_query("Store", keywords=[f"Store.save_{number}" for number in (3, 1, 0, 2)])
    [passage] = choose(corpus, asked).passages
    assert passage.symbol == "Store"
    assert " 2|     def save_0(self):\n 3|         self.pending_0" in passage.text


def test_a_head_of_licence_and_imports_is_left_out(tmp_path: Path):
    head = "// Copyright the store's authors, who keep the pending queue.\nimport queue.pending.Store;\n" * 3
    code = "class Store {\n    void flush() { queue.pending.drainEverythingThatWaits(); }\n}\n"
    corpus = make_corpus(tmp_path, {"src/Store.java": f"{head}\n{code}", "src/Other.java": head})
    chosen = choose(corpus, make_query("the store keeps its pending queue"))
    assert [passage.symbol for passage in chosen.passages] == ["Store"]
    assert chosen.other_files == ["src/Other.java"]


def test_each_line_is_shown_once_and_under_its_own_number(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"src/store.py": STORE})
    chosen = choose(
        corpus, make_query("Store.save and Store.load lose pending keys", keywords=["Store", "save", "load"])
    )
    lines = STORE.split("\n")
    shown = [line.partition("| ") for passage in chosen.passages for line in passage.text.split("\n")]
    numbers = [int(number) for number, _, _ in shown]
    assert numbers == sorted(set(numbers))
    assert all(lines[int(number) - 1].strip() == text.strip() for number, _, text in shown)


@pytest.mark.parametrize("chars", [0, 1, 50, 300, 2_000])
def test_no_more_characters_than_asked_for(tmp_path: Path, chars: int):
    files = {f"src/store{number}.py": STORE for number in range(5)}
    chosen = choose(make_corpus(tmp_path, files), make_query("Store.flush_queue drains pending"), chars)
    assert measure(chosen) <= chars


def test_an_empty_file_and_an_endless_line(tmp_path: Path):
    corpus = make_corpus(tmp_path, {"src/pending.py": "", "src/long.py": f"pending = '{'x' * 30_000}'\n"})
    chosen = choose(corpus, make_query("pending is wrong in src/pending.py"))
    assert measure(chosen) <= MAX_LINE_CHARS + 100
