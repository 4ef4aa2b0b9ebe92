"""The search of a package's issues against a GitHub on loopback."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.tools import BaseTool, ToolException

from testing.each_row import each_row
from testing.servers.github_api import JOB_TOKEN, SLUG, ApiFault, GitHubApi, serve_github_api
from triage.outside.github.issue_search import IssueSearch
from triage.outside.web.github_search import build_github_search, choose_words

ERROR = "ValueError: operands could not be broadcast together with shapes (2,) (3,) in /home/ann/acme/run.py"
WORDS = "ValueError operands could not be broadcast together with"
NUMPY = {"full_name": "numpy/numpy", "private": False, "stargazers_count": 30_000}
ISSUE = {
    "number": 1234,
    "title": "Broadcast fails",
    "html_url": "https://github.com/numpy/numpy/issues/1234",
    "state": "closed",
    "milestone": {"title": "1.26.1"},
    "body": "operands could not be broadcast together",
}
LIMITED = {"message": "API rate limit exceeded"}
USED_UP = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "4102444800"}
ASKED = {"name": "numpy", "language": "Python", "repository": "", "error": ERROR}


@pytest.fixture
def github() -> Iterator[GitHubApi]:
    with serve_github_api() as api:
        api.found = {"repositories": [NUMPY], "issues": [ISSUE]}
        yield api


async def search(github: GitHubApi, **changes: str) -> Any:
    return (await open_tool(github).ainvoke(ASKED | changes))["results"]


def open_tool(github: GitHubApi) -> BaseTool:
    return build_github_search(IssueSearch(JOB_TOKEN, SLUG, github.url, backoff_seconds=0.0))


async def test_two_requests_find_the_repository_and_its_issue(github: GitHubApi):
    (page,) = await search(github)
    assert page["title"] == "numpy/numpy#1234 (closed, in 1.26.1): Broadcast fails"
    assert page["url"] == ISSUE["html_url"]
    assert github.searches == [
        ("repositories", "numpy in:name language:Python"),
        ("issues", f"repo:numpy/numpy is:public is:issue {WORDS}"),
    ]


async def test_a_path_that_tells_the_repository_saves_a_request(github: GitHubApi):
    await search(github, repository="spf13/cobra", language="Go")
    assert github.searches == [("issues", f"repo:spf13/cobra is:public is:issue {WORDS}")]


async def test_the_project_itself_is_not_searched(github: GitHubApi):
    assert await search(github, repository=SLUG.upper()) == []
    assert github.searches == []


@each_row(
    "repositories",
    [
        [],
        [NUMPY | {"full_name": "other/numpy-tools"}],
        [NUMPY | {"private": True}],
        [NUMPY | {"stargazers_count": 3}],
        [NUMPY | {"full_name": "numpy/numpy is:issue repo:evil/numpy"}],
    ],
)
async def test_another_repository_is_not_searched(repositories: list[Any], github: GitHubApi):
    github.searches.clear()
    github.found["repositories"] = repositories
    assert await search(github) == []
    assert [kind for kind, _ in github.searches] == ["repositories"]


@each_row(
    ("fault", "reason"),
    [
        (ApiFault("", 401, {}), "does not accept the token"),
        (ApiFault("", 429, LIMITED, USED_UP), "rate limited"),
        (ApiFault("", 429, LIMITED, {"retry-after": "2"}), "rate limited"),
        (ApiFault("", 200, b"{"), "cannot be read"),
    ],
)
async def test_a_failure_has_our_own_name_and_is_not_tried_again(fault: ApiFault, reason: str, github: GitHubApi):
    github.faults, github.requests = [fault], []
    with pytest.raises(ToolException, match=reason):
        await search(github)
    assert len(github.requests) == 1


async def test_a_repository_that_cannot_be_searched_has_no_issues(github: GitHubApi):
    github.faults = [ApiFault("/search/issues", 422, {})]
    assert await search(github) == []


@each_row(
    ("error", "words"),
    [
        (ERROR, WORDS),
        ("KeyError: 1", ""),
        ("Error: repo:evil/x is:open user:ann secret AND more OR less", "Error is open secret more less"),
        ("Cannot open https://ann:pw@host.internal/a?token=x for the user", "Cannot open for the user"),
        ("cannot connect to 10.0.0.1:5432 as ann@acme.example today", "cannot connect to as today"),
        ("KeyError: 'acme_total' not in index", "KeyError not in index"),
        ("ValueError: x_1 y_2", ""),
    ],
)
def test_only_plain_words_leave(error: str, words: str):
    assert choose_words(error) == words


async def test_without_words_nothing_is_asked(github: GitHubApi):
    assert await search(github, error="KeyError: 1") == []
    assert github.searches == []
