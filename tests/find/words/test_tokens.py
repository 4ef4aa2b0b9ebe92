"""Words, their terms, and their numbers."""

import re

from hypothesis import given
from hypothesis import strategies as st

from testing.cost_growth import measure_cost_ratio
from testing.each_row import each_row
from triage.find.words.tokens import STOP_WORDS, Vocabulary, find_words, split_into_terms


@each_row(
    ("word", "terms"),
    [
        ("save", ["save"]),
        ("parse_date", ["parse_date", "parse", "date"]),
        ("parseDate", ["parsedate", "parse", "date"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("__init__", ["__init__", "init"]),
        ("E0277", ["e0277"]),
        ("Größe", ["größe", "gr", "öß"]),
        ("日本", ["日本"]),
        ("the", []),
        ("x", []),
        ("a" * 81, []),
    ],
)
def test_terms_of_a_word(word: str, terms: list[str]):
    assert split_into_terms(word) == terms


def test_words_of_a_text():
    assert find_words("Store.save(x1, 'é-f') # 42") == ["Store", "save", "x1", "é", "f"]


@given(
    st.lists(
        st.one_of(st.lists(st.sampled_from("aB_9 1\n\0\t-\x1c"), max_size=40).map("".join), st.text(max_size=30)),
        max_size=4,
    )
)
def test_words_are_numbered_in_order(texts: list[str]):
    vocabulary = Vocabulary()
    known: dict[str, int] = {"\n": 0}
    for text in texts:
        words = re.findall(r"[^\W\d]\w*|\n", text)
        assert vocabulary.encode_words(text).tolist() == [known.setdefault(word, len(known)) for word in words]


def test_terms_are_added_up_to_a_limit():
    vocabulary = Vocabulary()
    assert vocabulary.add_terms(["one", "two", "one", "three", "two"], max_terms=2).tolist() == [0, -1, 0, 1, -1]
    assert vocabulary.add_terms([], max_terms=0).tolist() == []
    assert len(vocabulary) == 2


@given(st.text(max_size=200))
def test_terms_are_lower_case_without_stop_words(text: str):
    for word in find_words(text):
        for term in split_into_terms(word):
            assert term == term.lower()
            assert term not in STOP_WORDS
            assert len(term) > 1


@each_row("shape", ["a", "aA", "a_", "_", "A", "é", "1a", "aB1_"])
def test_the_cost_of_hostile_words_is_linear(shape: str):
    def split(size: int) -> None:
        for word in find_words(f"{shape * 20} " * (size // len(shape))):
            split_into_terms(word)

    assert measure_cost_ratio(split, 2_000) < 10
