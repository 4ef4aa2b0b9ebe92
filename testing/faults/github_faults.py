"""The faults of GitHub that a run must survive, by name."""

from dataclasses import replace

from testing.faults.service_faults import BY_RULES, Fault
from testing.runs.in_process_job import Place, Trouble

ISSUE = "GET /repos/octo/shop/issues/7"
THREAD = f"{ISSUE}/comments"
LABELS = "GET /repos/octo/shop/labels"
POST = "POST /repos/octo/shop/issues/7/comments"
LATER = {"retry-after": "3600"}
USED_UP = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999999"}


def _github(name: str, trouble: Trouble, words: str, status: str = "degraded", told: str = "page") -> Fault:
    def provoke(place: Place) -> None:
        place.github.trouble = trouble

    reported = trouble.at in (LABELS, POST) or status == "degraded"
    return Fault(name, provoke, words, status, int(status == "failed"), told, reported, BY_RULES, most_asked=0)


def _reading(at: str) -> list[Fault]:
    said = "could not be read"
    return [
        _github("a bad token (401)", Trouble(at, 401, "Bad credentials"), "check the input github-token", "failed"),
        _github(
            "no permission (403)",
            Trouble(at, 403, "Resource not accessible by integration"),
            "`permissions: contents: read, issues: write`",
            "failed",
        ),
        _github("unknown (404)", Trouble(at, 404), "`permissions: issues: write`", "failed"),
        _github("transferred (301)", Trouble(at, 301, headers={"location": "/x"}), "has moved", "skipped"),
        _github("rate limited (429)", Trouble(at, 429, headers=LATER), "rate limit is used up"),
        _github("rate limited (403)", Trouble(at, 403, headers=USED_UP), "rate limit is used up"),
        _github("a secondary limit (403)", Trouble(at, 403, "a secondary rate limit"), "rate limit is used up"),
        _github("500", Trouble(at, 500), said),
        _github("502", Trouble(at, 502), said),
        _github("a dropped line", Trouble(at, 0), said),
        _github("an answer of another make", Trouble(at, 200), said),
    ]


def _named(where: str, faults: list[Fault]) -> list[Fault]:
    return [replace(fault, name=f"{fault.name}, {where}") for fault in faults]


GITHUB_FAULTS = [
    *_named("reading the issue", _reading(ISSUE)),
    *_named("reading its thread", _reading(THREAD)),
    *_named(
        "reading the labels",
        [
            _github("rate limited (429)", Trouble(LABELS, 429, headers=LATER), "", "complete", "comment"),
            _github("500", Trouble(LABELS, 500), "", "complete", "comment"),
            _github("a dropped line", Trouble(LABELS, 0), "", "complete", "comment"),
        ],
    ),
    *_named(
        "writing the comment",
        [
            _github("a bad token (401)", Trouble(POST, 401), "check the input github-token", "failed"),
            _github(
                "a read-only token (403)",
                Trouble(POST, 403, "Resource not accessible by integration"),
                "`permissions: issues: write`",
                "failed",
            ),
            _github("locked (403)", Trouble(POST, 403, "Unable to create comment: it is locked"), "is locked"),
            _github("archived (403)", Trouble(POST, 403, "Repository was archived so is read-only"), "is archived"),
            _github("deleted (404)", Trouble(POST, 404), "deleted meanwhile"),
            _github("deleted (410)", Trouble(POST, 410), "deleted meanwhile"),
            _github("transferred (301)", Trouble(POST, 301, headers={"location": "/x"}), "transferred meanwhile"),
            _github("too long (422)", Trouble(POST, 422, "Body is too long"), "longer than the 65,536 characters"),
            _github("not taken (422)", Trouble(POST, 422, "Validation Failed"), "it answered 422"),
            _github("rate limited (429)", Trouble(POST, 429, headers=LATER), "rate limit is used up"),
            _github("a secondary limit (403)", Trouble(POST, 403, "a secondary rate limit"), "rate limit is used up"),
            _github("500", Trouble(POST, 500), "it answered 500, also when asked again"),
            _github("a dropped line", Trouble(POST, 0), "it did not answer, also when asked again"),
        ],
    ),
]
