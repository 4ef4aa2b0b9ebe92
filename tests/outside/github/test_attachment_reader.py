"""Attachments against a server: bounds, redirects, and nothing that identifies us."""

from collections.abc import Callable

from testing.each_row import each_row
from testing.servers.endless_body import EndlessBody
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, ScriptedServer, serve_script
from tests.read.test_attachments import pack
from triage.domain.issue import Attachment, Issue
from triage.outside.github.attachment_reader import AttachmentReader

FILES = "/user-attachments/files"
LOG = ScriptedReply(b"no coins\n", headers={"content-type": "text/plain"})


def to(address: str) -> ScriptedReply:
    return ScriptedReply(b"", 302, {"location": address})


def read(*names: str, reply: Callable[[ReceivedRequest], ScriptedReply]) -> tuple[list[Attachment], ScriptedServer]:
    with serve_script(reply) as server:
        links = [f"[{name}]({server.url}{FILES}/{number}/{name})" for number, name in enumerate(names)]
        issue = Issue(title="It stops", body="\n".join(links))
        return AttachmentReader(server.url, _mask).read(issue), server


def _mask(tree: dict[str, str]) -> dict[str, str]:
    return {name: text.replace("coins", "c***s") for name, text in tree.items()}


def test_a_text_and_an_archive_are_read_without_a_token_and_masked() -> None:
    found, server = read(
        *("a.log", "b.zip"),
        reply=lambda asked: ScriptedReply(pack({"c.txt": b"no coins"})) if asked.path.endswith("zip") else LOG,
    )
    assert [one.text for one in found] == ["no c***s"] * 2
    assert [one.path for one in server.requests] == [f"{FILES}/0/a.log", f"{FILES}/1/b.zip"]
    assert not any({"authorization", "cookie"} & one.headers.keys() for one in server.requests)


def test_three_are_read_and_nothing_that_is_no_text() -> None:
    found, server = read("a.pdf", "b.log", "c.log", "d.log", "e.log", reply=lambda _: LOG)
    assert [one.path for one in server.requests] == [f"{FILES}/1/b.log", f"{FILES}/2/c.log"]
    assert [one.problem for one in found if one.problem] == [
        "it is neither a text nor an archive of texts",
        "at most 3 are, and 2 more are linked",
    ]


@each_row(
    ("reply", "problem"),
    [
        (ScriptedReply(EndlessBody()), "answer larger than 2 MB"),
        (ScriptedReply(b"", 404), "GitHub answered 404"),
        (
            ScriptedReply(b"<html>", headers={"content-type": "text/html; charset=utf-8"}),
            "GitHub shows a page in its place",
        ),
        (ScriptedReply(drop=True), "connection failed"),
        (to("https://evil.example/a.log"), "GitHub refers to another server"),
        (to("http://169.254.169.254/latest/meta-data"), "GitHub refers to another server"),
        (to("file:///etc/passwd"), "GitHub refers to another server"),
        (to("https://objects.githubusercontent.com.evil.example/a"), "GitHub refers to another server"),
        (to("https://objects.githubusercontent.com@evil.example/a"), "GitHub refers to another server"),
        (to("//[evil/a.log"), "connection failed"),
        (to(""), "GitHub refers to ever other addresses"),
    ],
)
def test_what_is_not_read(reply: ScriptedReply, problem: str) -> None:
    found, server = read("a.log", reply=lambda _: reply)
    assert found == [Attachment(problem=problem)]
    assert len(server.requests) <= 3


def test_a_redirect_to_the_servers_own_storage_is_followed() -> None:
    found, server = read("a.log", reply=lambda asked: LOG if asked.path == "/storage/1" else to("/storage/1"))
    assert [one.text for one in found] == ["no c***s"]
    assert [one.path for one in server.requests] == [f"{FILES}/0/a.log", "/storage/1"]


@each_row(
    ("address", "is_storage"),
    [
        ("https://objects.githubusercontent.com/github-production-repository-file-5c1aeb/1/2?X-Amz-Expires=300", True),
        ("https://raw.githubusercontent.com/octo/shop/main/a.log", False),
        ("http://objects.githubusercontent.com/1", False),
        ("https://objects.githubusercontent.com:8443/1", False),
        ("https://github.com/login", False),
    ],
)
def test_github_com_has_a_storage_of_its_own(address: str, is_storage: bool) -> None:
    assert AttachmentReader("https://github.com")._is_storage(address) == is_storage


PNG = ScriptedReply(b"\x89PNG\r\n\x1a\n", headers={"content-type": "image/png"})


@each_row(("takes_pictures", "number"), [(True, 2), (False, 0)])
def test_two_pictures_are_read_for_a_model_that_takes_them(takes_pictures: bool, number: int) -> None:
    with serve_script(lambda _: PNG) as server:
        places = [f"{server.url}/user-attachments/assets/{i}b9c2c5e-4f0e-4d6b-9a7e-3c1d2e4f5a6b" for i in range(3)]
        issue = Issue(title="It stops", body="\n".join(f"![shot]({place})" for place in places))
        found = AttachmentReader(server.url, takes_pictures=takes_pictures).read(issue)
    assert found == [Attachment(picture="image/png;base64,iVBORw0KGgo=")] * number
    assert len(server.requests) == number
