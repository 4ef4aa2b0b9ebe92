"""Unusual networks: Enterprise servers, a proxy with a private authority, silent servers."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from urllib.parse import urlsplit

from testing.environments.environment import Check, Environment, EnvironmentSetup, no_checks
from testing.runs import sample_bug
from testing.runs.action_run import JobResult
from testing.servers.tcp_servers import (
    BASIC_AUTH,
    LOGIN,
    PASSWORD,
    CertificateAuthority,
    Proxy,
    serve_proxy,
    serve_silence,
    serve_slowly,
    serve_tls,
)
from testing.servers.telemetry_collector import serve_collector

ENTERPRISE = "ghe.corp.example"
MODEL, SEARCH, COLLECTOR = "models.corp.example", "search.corp.example", "otel.corp.example"
PUBLIC = "//github.com", "api.github.com", "www.github.com"


def _check_links(setup: EnvironmentSetup) -> Check:
    """Returns a check that neither comment nor page link to github.com."""

    def check(done: JobResult) -> dict[str, bool]:
        text = "\n".join([*setup.comments, done.summary, *done.outputs.values()])
        return {
            "a link to github.com": any(word in text for word in PUBLIC),
            "no link to the code": f"{setup.github.pages}/octo/shop/blob/" not in "".join(setup.comments),
            "no link to the run": f"{setup.github.pages}/octo/shop/actions/runs/1" not in text,
        }

    return check


def _set_urls(setup: EnvironmentSetup, pages: str, api: str) -> None:
    setup.github.pages, setup.github.prefix = pages.rstrip("/"), urlsplit(api).path.rstrip("/")
    setup.github.add_issue(title=sample_bug.TITLE, body=sample_bug.BODY)
    setup.job.variables |= {"GITHUB_SERVER_URL": pages, "GITHUB_API_URL": api}
    setup.job.write_event()


@contextmanager
def _enterprise(setup: EnvironmentSetup) -> Iterator[Check]:
    """With a port, a path, and slashes at the end."""
    _set_urls(setup, f"{setup.github.url}/git/", f"{setup.github.url}/git/api/v3/")
    yield _check_links(setup)


@contextmanager
def _behind_proxy(setup: EnvironmentSetup) -> Iterator[Check]:
    """All servers are behind a proxy with a login, with certificates of a private authority."""
    pages = f"https://{ENTERPRISE}"
    with ExitStack() as stack:
        authority = CertificateAuthority(setup.job.folder / "temp" / "authority")
        collector = stack.enter_context(serve_collector())
        _set_urls(setup, pages, f"{pages}/api/v3")
        inner = {ENTERPRISE: setup.github.url, COLLECTOR: collector.url}
        inner |= dict.fromkeys((MODEL, SEARCH), setup.services)
        ports = {
            host: stack.enter_context(serve_tls(urlsplit(url).port or 0, authority.issue_certificate(host)))
            for host, url in inner.items()
        }
        proxy = stack.enter_context(serve_proxy(Proxy(BASIC_AUTH, ports=ports)))
        setup.job.inputs["model-base-url"] = f"https://{MODEL}/v1"
        setup.job.variables |= {
            "SSL_CERT_FILE": str(authority.file),
            "https_proxy": f"http://{LOGIN}@127.0.0.1:{proxy.port}",
            "TAVILY_BASE_URL": f"https://{SEARCH}",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"https://{COLLECTOR}:4318",
        }
        check_links = _check_links(setup)

        def check(done: JobResult) -> dict[str, bool]:
            text = "\n".join(line for line in done.log.splitlines() if not line.startswith("::add-mask::"))
            return {
                **check_links(done),
                f"hosts {sorted(proxy.hosts)}": proxy.hosts != set(inner),
                "no spans at the collector": not collector.spans,
                "the proxy's login": any(word in text + done.summary for word in (PASSWORD, LOGIN, BASIC_AUTH)),
            }

        yield check


def _replace_server(
    what: str, server: Callable[[], AbstractContextManager[int]]
) -> Callable[[EnvironmentSetup], AbstractContextManager[Check]]:
    """Replaces one of our servers: `what` is the variable or input with its URL."""

    @contextmanager
    def around(setup: EnvironmentSetup) -> Iterator[Check]:
        with server() as port:
            place = setup.job.variables if what.isupper() else setup.job.inputs
            place[what] = f"http://127.0.0.1:{port}"
            yield no_checks

    return around


SHORT_TIMEOUTS = {"timeout-seconds": "8"}

NETWORKS: dict[str, Environment] = {
    "an Enterprise Server with a port, a path and slashes": Environment(arrange=_enterprise),
    "an Enterprise Server behind a proxy with a login": Environment(arrange=_behind_proxy, with_model=True),
    "a GitHub that says nothing": Environment(
        arrange=_replace_server("GITHUB_API_URL", serve_silence), inputs=SHORT_TIMEOUTS, comments=0, status="degraded"
    ),
    "a GitHub that drips": Environment(
        arrange=_replace_server("GITHUB_API_URL", serve_slowly), inputs=SHORT_TIMEOUTS, comments=0, status="degraded"
    ),
    "a model that drips": Environment(
        arrange=_replace_server("model-base-url", serve_slowly),
        inputs=SHORT_TIMEOUTS,
        with_model=True,
        status="degraded",
    ),
}
