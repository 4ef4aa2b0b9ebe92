"""Inputs reach the doors that they are meant for."""

from pathlib import Path

from tests.fakes import FakeJournal
from tests.index.chroma_server import serving
from triage import wiring
from triage.index.chroma import server
from triage.settings import Settings

SLUG = "acme/wired"


def vectors_of(settings: Settings, root: Path) -> int:
    facts = wiring.services(settings, FakeJournal(), root, SLUG).codebase.index()
    assert facts.notes == []
    return facts.vectors


def test_the_vectors_are_on_the_server_only_where_one_is_given(tmp_path: Path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    with serving(tmp_path / "chroma") as url:
        assert vectors_of(Settings(), tmp_path / "code") == 1
        assert list(server(url).list_collections()) == []
        assert vectors_of(Settings(chroma_url=url), tmp_path / "code") == 1
        (stored,) = server(url).list_collections()
        assert (stored.metadata or {})["repository"] == SLUG
        held = stored.get()
    assert held["metadatas"] == [{"path": "cart.py", "start": 1, "end": 2, "symbol": "total"}]
    assert not any(held["documents"] or []), "no text leaves"
