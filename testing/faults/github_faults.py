"""Faults of GitHub that a run must survive, by name."""

from collections.abc import Mapping
from dataclasses import replace

from testing.faults.service_faults import BY_RULES, EXTERNAL_TEXT, Fault
from testing.runs.in_process_job import InProcessJob
from testing.servers.github_api import ApiFault

ISSUE = "GET /repos/octo/shop/issues/7"
THREAD = f"{ISSUE}/comments"
LABELS = "GET /repos/octo/shop/labels"
POST = "POST /repos/octo/shop/issues/7/comments"
LATER = {"retry-after": "3600"}
UNREADABLE = "GitHub sent an answer that cannot be read"
SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
NESTED = b"[" * 100_000
USED_UP = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "99999999999"}


NOTHING: Mapping[str, str] = {}


def _fault(at: str, status: int, said: str = EXTERNAL_TEXT, headers: Mapping[str, str] = NOTHING) -> ApiFault:
    return ApiFault(f"{at}$", status, {"message": said}, headers)


def _github(name: str, fault: ApiFault, message: str, status: str = "degraded", reported_in: str = "page") -> Fault:
    def inject(harness: InProcessJob) -> None:
        harness.github.faults = [replace(fault)]

    # Reading a long body takes time, and nothing is waited for.
    inputs = {**BY_RULES, "timeout_seconds": "30"} if fault.body == NESTED else BY_RULES
    names_suspect = fault.on in (f"{LABELS}$", f"{POST}$") or status == "degraded"
    return Fault(
        name, inject, message, status, int(status == "failed"), reported_in, names_suspect, inputs, max_requests=0
    )


def _reading(at: str) -> list[Fault]:
    message = "could not be read"
    return [
        _github("a bad token (401)", _fault(at, 401, "Bad credentials"), "Check the input github-token", "failed"),
        _github(
            "no permission (403)",
            _fault(at, 403, "Resource not accessible by integration"),
            "`permissions: contents: read, issues: write`",
            "failed",
        ),
        _github("unknown (404)", _fault(at, 404), "`permissions: issues: write`", "failed"),
        _github("transferred (301)", _fault(at, 301, headers={"location": "/x"}), "was moved", "skipped"),
        _github("rate limited (429)", _fault(at, 429, headers=LATER), "rate limit is used up"),
        _github("rate limited (403)", _fault(at, 403, headers=USED_UP), "rate limit is used up"),
        _github("a secondary limit (403)", _fault(at, 403, SECONDARY), "rate limit is used up"),
        _github("500", _fault(at, 500), message),
        _github("502", _fault(at, 502), message),
        _github("a dropped connection", _fault(at, 0), message),
        _github("other JSON", _fault(at, 200), message),
        _github("nested JSON", ApiFault(f"{at}$", 200, NESTED), f"{message}: {UNREADABLE}"),
    ]


def _add_suffix(where: str, faults: list[Fault]) -> list[Fault]:
    return [replace(fault, name=f"{fault.name}, {where}") for fault in faults]


GITHUB_FAULTS = [
    *_add_suffix("reading the issue", _reading(ISSUE)),
    *_add_suffix("reading its thread", _reading(THREAD)),
    *_add_suffix(
        "reading the labels",
        [
            _github("rate limited (429)", _fault(LABELS, 429, headers=LATER), "", "complete", "comment"),
            _github("500", _fault(LABELS, 500), "", "complete", "comment"),
            _github("nested JSON", ApiFault(f"{LABELS}$", 200, NESTED), "", "complete", "comment"),
            _github("a dropped connection", _fault(LABELS, 0), "", "complete", "comment"),
        ],
    ),
    *_add_suffix(
        "writing the comment",
        [
            _github("a bad token (401)", _fault(POST, 401), "Check the input github-token", "failed"),
            _github(
                "a read-only token (403)",
                _fault(POST, 403, "Resource not accessible by integration"),
                "`permissions: issues: write`",
                "failed",
            ),
            _github("locked (403)", _fault(POST, 403, "Unable to create comment: it is locked"), "is locked"),
            _github("archived (403)", _fault(POST, 403, "Repository was archived so is read-only"), "is archived"),
            _github("deleted (404)", _fault(POST, 404), "deleted meanwhile"),
            _github("deleted (410)", _fault(POST, 410), "deleted meanwhile"),
            _github("transferred (301)", _fault(POST, 301, headers={"location": "/x"}), "transferred meanwhile"),
            _github("too long (422)", _fault(POST, 422, "Body is too long"), "GitHub answered 422"),
            _github("not taken (422)", _fault(POST, 422, "Validation Failed"), "GitHub answered 422"),
            _github("rate limited (429)", _fault(POST, 429, headers=LATER), "rate limit is used up"),
            _github("a secondary limit (403)", _fault(POST, 403, SECONDARY), "rate limit is used up"),
            _github("500", _fault(POST, 500), "GitHub answered 500"),
            _github("nested JSON", ApiFault(f"{POST}$", 201, NESTED), UNREADABLE),
            _github("a dropped connection", _fault(POST, 0), "GitHub did not answer"),
        ],
    ),
]
