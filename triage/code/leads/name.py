"""Name: what the report names and one or two files define, or are called."""

from collections import Counter

from triage.code.leads.lead import Lead
from triage.code.rank.query_scores import QueryScores
from triage.code.words.corpus import DefinitionLocation

MIN_MENTION = 0.5
"""Score of a name or path: no more than two files have it."""


def find_name_lead(query_scores: QueryScores, file: int) -> Lead | None:
    """Return the file if it is of the product, and the report names it, or what it defines."""
    if not query_scores.corpus.files[file].role.is_product_code:
        return None
    mentions = query_scores.mentions
    scores = (mentions.path_scores, mentions.module_scores, mentions.definition_scores)
    if max(score.get(file, 0.0) for score in scores) < MIN_MENTION:
        return None
    named = _choose_definition(query_scores, file)
    return Lead(
        "name",
        file,
        text=_name_as_mentioned(query_scores, named) if named else "",
        span=(named.start, named.end) if named else None,
        symbol=named.name if named else None,
    )


def _choose_definition(query_scores: QueryScores, file: int) -> DefinitionLocation | None:
    """Return the mentioned definition of a file, rather one whose name no other definition there has."""
    mentioned = [one for one in query_scores.mentions.definitions.get(file, ()) if one[0] >= MIN_MENTION]
    names = Counter(location.name.rpartition(".")[2] for _, location in mentioned)

    def rate(one: tuple[float, DefinitionLocation]) -> tuple[bool, float, int]:
        score, location = one
        owner, _, name = location.name.rpartition(".")
        is_clear = names[name] == 1 or _is_mentioned(query_scores, owner)
        return is_clear, score, location.start

    return max(mentioned, key=rate, default=(0.0, None))[1]


def _name_as_mentioned(query_scores: QueryScores, location: DefinitionLocation) -> str:
    owner, _, name = location.name.rpartition(".")
    return location.name if _is_mentioned(query_scores, owner) else name


def _is_mentioned(query_scores: QueryScores, owner: str) -> bool:
    return owner.rpartition(".")[2] in query_scores.query.all_words
