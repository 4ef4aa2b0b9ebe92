"""Counts the tokens of whole runs whose model looks things up a given number of times, then answers at length.

Reads the same records as `bench.accuracy`. The model is a server on loopback that knows the file of the fix. A token is
four characters of what is sent, schemas and tools included.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testing import factories
from testing.checkouts.git_repositories import commit
from testing.servers.scripted_server import ReceivedRequest, ScriptedReply, chat_completion, serve_script
from triage.domain.findings import CitedPlace

CHARS_PER_TOKEN = 4
REPOSITORY = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path, help="JSON lines")
    parser.add_argument("--mirror", type=Path, required=True, help="folder of bare repositories")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--turns", type=int, nargs="*", default=[0, 1, 2], help="turns of look-ups in each round")
    parser.add_argument("--rounds", type=int, default=1, help="rounds before the critic confirms")
    options = parser.parse_args()
    for line in options.set.read_text().splitlines()[: options.limit]:
        record = json.loads(line)
        with tempfile.TemporaryDirectory() as folder:
            check_out(record, options.mirror, Path(folder))
            for turns in options.turns:
                report = triage(Path(folder), make_model(record["gold_files"][0], turns, options.rounds))
                usage = report["usage"]
                tokens = usage["input_tokens"] + usage["output_tokens"]
                rounds = max(step["round"] for step in report["steps"])
                name = record.get("instance_id", record["repo"])
                print(f"{name}: {turns} turns, {rounds} rounds: {tokens:,} tokens, {usage['calls']} calls", flush=True)


def check_out(record: dict[str, Any], mirror: Path, folder: Path) -> None:
    repository = mirror / record.get("mirror", record["repo"].replace("/", "+")) / "repo"
    archive = subprocess.run(
        ["git", "-C", repository, "archive", record["base_commit"]], capture_output=True, check=True
    )
    subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
    title, _, body = record["problem_statement"].partition("\n")
    (folder / "issue.md").write_text(f"# {title}\n\n{body}")
    commit(folder)


def triage(folder: Path, model: Callable[[ReceivedRequest], ScriptedReply]) -> dict[str, Any]:
    with serve_script(model) as server:
        names = dict.fromkeys(("TRIAGE_MODEL", "TRIAGE_FAST_MODEL", "TRIAGE_FALLBACK_MODEL"), "made-up")
        environment = os.environ | names | {"TRIAGE_MODEL_API_KEY": "none", "TRIAGE_MODEL_BASE_URL": f"{server.url}/v1"}
        command = [sys.executable, "-m", "triage", "run", "--repo", str(folder)]
        command += ["--issue", str(folder / "issue.md"), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY, env=environment, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def make_model(path: str, turns: int, rounds: int) -> Callable[[ReceivedRequest], ScriptedReply]:
    """Return a model that suspects what it is shown first, and confirms it in the last round.

    It is sure of itself in a single round: then no critic is asked.
    """
    judged = 0
    finding = factories.codebase(
        places=[CitedPlace(cite="1", reason="The value is not checked.")],
        reasoning="The value comes from the caller and is not checked. " * 6,
        why=f"The value that `{path}` gets is not checked [1]. " * 8,
        confidence=0.9 if rounds == 1 else 0.6,
    ).model_dump_json()

    def choose(body: dict[str, Any]) -> ScriptedReply:
        nonlocal judged
        looked = sum(message["role"] == "assistant" for message in body["messages"])
        if "tools" in body:
            start = 1 + 150 * looked
            calls = [
                ("read_lines", json.dumps({"path": path, "start": start, "end": start + 120})),
                ("grep", json.dumps({"text": f"error{looked}"})),
            ]
            is_last = looked >= turns
            return chat_completion(tool_calls=[("CodebaseFinding", finding)] if is_last else calls)
        schema = body.get("response_format", {}).get("json_schema", {}).get("name", "")
        if schema == "CritiqueFinding":
            judged += 1
            gaps = ["Is `check_value` called?"]
            critique = factories.critique() if judged >= rounds else factories.critique("UNCERTAIN", gaps=gaps)
            return chat_completion(critique.model_dump_json())
        answers = {
            "InvestigatorFinding": factories.investigation(),
            "TicketDraft": factories.ticket(),
        }
        return chat_completion(answers[schema].model_dump_json() if schema in answers else finding)

    return lambda request: count_tokens(choose(request.body), request.body)


def count_tokens(reply: ScriptedReply, body: dict[str, Any]) -> ScriptedReply:
    sent = [body.get(name) for name in ("messages", "tools", "response_format") if name in body]
    counts = [len(json.dumps(part, ensure_ascii=False)) // CHARS_PER_TOKEN for part in (sent, reply.body["choices"])]
    reply.body["usage"] = {
        "prompt_tokens": counts[0],
        "completion_tokens": counts[1],
        "total_tokens": sum(counts),
    }
    return reply


if __name__ == "__main__":
    main()
