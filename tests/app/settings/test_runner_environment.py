"""Where GitHub's pages and its API are, as the runner tells it; an address that no token may be sent to is refused."""

import io
from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.each_row import each_row
from triage.app.open_app import open_job_output
from triage.app.settings.runner_environment import RunnerEnvironment
from triage.base.errors import BadInput

PUBLIC = ("https://github.com", "https://api.github.com")
SERVERS: dict[str, tuple[dict[str, str], tuple[str, str]]] = {
    "nothing": ({}, PUBLIC),
    "public": ({"SERVER": PUBLIC[0], "API": PUBLIC[1]}, PUBLIC),
    "public pages": ({"SERVER": "https://github.com/"}, PUBLIC),
    "Enterprise": (
        {"SERVER": "https://ghe.corp.example", "API": "https://ghe.corp.example/api/v3"},
        ("https://ghe.corp.example", "https://ghe.corp.example/api/v3"),
    ),
    "port, path and slashes": (
        {"SERVER": " https://ghe.corp.example:8443/git// ", "API": "https://ghe.corp.example:8443/git/api/v3/"},
        ("https://ghe.corp.example:8443/git", "https://ghe.corp.example:8443/git/api/v3"),
    ),
    "Enterprise pages": ({"SERVER": "https://ghe.x:8443"}, ("https://ghe.x:8443", "https://ghe.x:8443/api/v3")),
    "Enterprise API": ({"API": "https://ghe.x/git/api/v3"}, ("https://ghe.x/git", "https://ghe.x/git/api/v3")),
    "GHE.com pages": ({"SERVER": "https://tenant.ghe.com"}, ("https://tenant.ghe.com", "https://api.tenant.ghe.com")),
    "GHE.com API": ({"API": "https://api.tenant.ghe.com/"}, ("https://tenant.ghe.com", "https://api.tenant.ghe.com")),
    "blank": ({"SERVER": " ", "API": ""}, PUBLIC),
    "loopback": ({"SERVER": "http://[::1]:80", "API": "http://[::1]:80"}, ("http://[::1]:80", "http://[::1]:80")),
}


def read(server: str = "", api: str = "") -> RunnerEnvironment:
    return RunnerEnvironment.read(
        {"GITHUB_SERVER_URL": server, "GITHUB_API_URL": api, "GITHUB_REPOSITORY": "o/n", "GITHUB_RUN_ID": "7"}
    )


@each_row(("told", "found"), SERVERS.values())
def test_where_github_is(told: dict[str, str], found: tuple[str, str]):
    place = read(told.get("SERVER", ""), told.get("API", ""))
    assert (place.server_url, place.api_url) == found
    assert place.run_url in ("", f"{found[0]}/o/n/actions/runs/7/attempts/1")


FOREIGN = [
    "http://ghe.corp.example/api/v3",
    "http://127.0.0.1@evil.example",
    "http://evil.example#@127.0.0.1",
    "http://evil.example\\@127.0.0.1",
    "https://ghe.example\\.evil.example",
    "http://localhost.evil.example",
    "http://127.0.0.1.nip.io",
    "http://2130706433",
    "http://0x7f.1",
    "http://[::ffff:8.8.8.8]",
    "http://[2001:0:808:808::1]",
    "http://[64:ff9b::808:808]",
    "http://[2002:808:808::]",
    "http://[fe80::1%25eth0]",
    "http://169.254.169.254/latest/meta-data",
    "http://192.0.2.7",
    "http://0.0.0.0",
    "http://ⓛocalhost",
    "file:///etc/passwd",
    "gopher://127.0.0.1",
    "javascript:alert(1)",
    "ghe.example",
    "https://",
    "https://ghe.example:99999",
    "https://ghe.example\r\nX: y",
    "https://user:s3cret@ghe.example",
    "https://ghe.example/?token=s3cret",
    "https://ghe.example/#s3cret",
    "https://ghe.example/ v1",
    "https://[::1/v1",
]


@each_row(("name", "url"), list(product(("server", "api"), FOREIGN)))
def test_an_address_that_no_token_may_be_sent_to_is_refused(name: str, url: str):
    with pytest.raises(BadInput) as refused:
        read(**{name: url})
    said = str(refused.value)
    assert said.startswith(f"GITHUB_{name.upper()}_URL: ")
    assert "\n" not in said
    assert "s3cret" not in said


@pytest.mark.parametrize("url", ["http://ollama.ai.svc.cluster.local:11434", "http://172.31.0.9", "http://127.8.9.1"])
def test_private_hosts_need_no_tls(url: str):
    assert read(api=url).api_url == url


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60), st.sampled_from(["", "http://", "https://"]))
def test_any_url_is_accepted_or_refused(text: str, scheme: str):
    with suppress(BadInput):
        assert read(api=f"{scheme}{text}").api_url.startswith(("https://", "http://"))


def test_output_paths_are_read_even_if_other_variables_are_invalid():
    places = {"GITHUB_STEP_SUMMARY": "/page", "GITHUB_OUTPUT": "/out", "GITHUB_WORKSPACE": "/work"}
    output = open_job_output({**places, "GITHUB_API_URL": "nonsense", "ALL_PROXY": "socks5://x"}, io.StringIO())
    assert [str(path) for path in (output.summary_path, output.output_path, output.workspace)] == [*places.values()]
