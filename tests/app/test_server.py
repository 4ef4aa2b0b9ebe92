"""The root that LangGraph Server loads: what it opens for a run."""

from pathlib import Path

import pytest

from triage.app.server import graph
from triage.app.settings.runner_environment import find_checkout_folder
from triage.base.errors import BadInput


def test_a_graph_is_made_without_opening_anything(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TRIAGE_ENGINE", "what a run would refuse")
    assert {"read_and_index", "supervisor", "writer", "finish"} <= set(graph().get_graph().nodes)


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from triage.app import server

    prepared: list[object] = []

    def prepare_network(environ: object) -> list[str]:
        prepared.append(environ)
        return []

    monkeypatch.setattr(server, "prepare_network", prepare_network)
    server._prepare_network.cache_clear()
    open_services = server.open_services
    monkeypatch.setenv("TRIAGE_REPO", str(tmp_path))
    monkeypatch.setenv("TRIAGE_MAX_TOKENS", "4321")
    services = open_services("octo/shop")
    assert services.limits.tokens == 4321
    assert open_services("").identity.request_id != services.identity.request_id
    assert len(prepared) == 1, "the network is the process's"
    server._prepare_network.cache_clear()


def test_one_checkout_or_a_folder_of_them(tmp_path: Path):
    (tmp_path / "octo" / "shop").mkdir(parents=True)
    one = {"TRIAGE_REPO": str(tmp_path)}
    assert find_checkout_folder(one, "") == find_checkout_folder(one, "any/name") == tmp_path
    several = {"TRIAGE_REPO": "/", "TRIAGE_REPOS": str(tmp_path)}
    assert find_checkout_folder(several, "octo/shop") == tmp_path / "octo" / "shop"
    assert find_checkout_folder({}, "") == Path.cwd()


@pytest.mark.parametrize(
    "name",
    ["", "octo", "octo/none", "octo/..", "octo/.", "../octo", "/etc", "octo/shop/..", "octo//shop", "octo/a\n", "ö/x"],
)
def test_nothing_outside_of_the_folder_is_found(tmp_path: Path, name: str):
    (tmp_path / "checkouts" / "octo" / "shop").mkdir(parents=True)
    with pytest.raises(BadInput, match="repository: "):
        find_checkout_folder({"TRIAGE_REPOS": str(tmp_path / "checkouts")}, name)


def test_a_missing_folder_is_an_error():
    with pytest.raises(BadInput, match="TRIAGE_REPO"):
        find_checkout_folder({"TRIAGE_REPO": "/no/such/folder"}, "")
