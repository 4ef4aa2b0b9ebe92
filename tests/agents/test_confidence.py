"""How sure the rules are of the first file, over a real index."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.checkouts.git_repositories import commit
from testing.fakes import FakeCodebase
from triage.agents.codebase_rules import MAX_CONFIDENCE, MAX_VAGUE_CONFIDENCE, estimate_confidence
from triage.code.codebase import GitCodebase
from triage.domain.agent_input import AgentInput
from triage.domain.code import Hit, SearchQuery
from triage.domain.issue import Issue, Repository
from triage.issue.read_issue import read_issue

CART = "from shop.tax import rate\n\n\ndef total(prices, country):\n    return sum(prices) * rate(country)\n"
HEAD = "Total fails for Norway\n\nTraceback (most recent call last):\n"
IN_CART = '  File "/srv/app/shop/cart.py", line 5, in total\n    return sum(prices) * rate(country)\n'
IN_MISSING = '  File "/srv/app/shop/rates.py", line 9, in look_up\n    return table[country]\n'
IN_LIBRARY = '  File "/usr/lib/python3/dist-packages/shop/frame.py", line 9, in get\n    return data[key]\n'
ERROR = "KeyError: 'NO'\n"


def confidence(folder: Path, text: str, files: dict[str, str]) -> tuple[float, float]:
    """The confidence, and the probability of the first file."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    commit(folder)
    codebase = GitCodebase(folder, "acme/shop", in_chroma=False)
    codebase.index()
    title, _, body = text.partition("\n")
    parsed = read_issue(Issue(title=title, body=f"```\n{body}```"))
    hits = codebase.search(SearchQuery(parsed=parsed), 5)
    assert hits[0].path == "shop/cart.py"
    repository = Repository(slug="acme/shop")
    agent_input = AgentInput(issue=Issue(title=title), repository=repository, parsed=parsed)
    return estimate_confidence(hits, agent_input, codebase), hits[0].probability


SHOP = {f"shop/module{number}.py": f"def unrelated{number}(value):\n    return value\n" for number in range(30)}


@pytest.mark.parametrize(
    ("frames", "is_capped"),
    [(IN_CART, False), (IN_CART + IN_LIBRARY, False), (IN_CART + IN_MISSING, True), (IN_MISSING + IN_CART, False)],
)
def test_a_trace_that_ends_in_a_file_which_is_not_there(tmp_path: Path, frames: str, is_capped: bool):
    found, probability = confidence(tmp_path, HEAD + frames + ERROR, {"shop/cart.py": CART, **SHOP})
    assert probability > 0.6
    assert found <= min(MAX_VAGUE_CONFIDENCE if is_capped else MAX_CONFIDENCE, probability)
    assert (found > MAX_VAGUE_CONFIDENCE) is not is_capped


def test_a_repository_of_one_file_is_never_sure(tmp_path: Path):
    found, probability = confidence(tmp_path, HEAD + IN_CART + ERROR, {"shop/cart.py": CART})
    assert found <= probability <= 0.5


@given(st.integers(0, 10_000).map(lambda number: number / 10_000))
def test_it_is_never_above_the_measured_probability(probability: float):
    parsed = read_issue(Issue(title="`total` fails", body="`shop.cart.total` raises KeyError: 'NO'"))
    hits = [Hit(path="shop/cart.py", score=1.0, probability=probability, passages=[], reasons=[])]
    agent_input = AgentInput(issue=Issue(title="x"), repository=Repository(slug="acme/shop"), parsed=parsed)
    found = estimate_confidence(hits, agent_input, FakeCodebase({}))
    assert min(probability, MAX_CONFIDENCE) - 0.01 <= found <= min(probability, MAX_CONFIDENCE)
