"""What a run of the report's example says about the files."""

from triage.code.rank.query_scores import QueryScores, Scores

EXECUTED_WEIGHT, BY_LAST_WEIGHT, FAILED_WEIGHT = 1.0, 1.0, 1.0


def score_executed_files(query_scores: QueryScores) -> Scores:
    """Return how much likelier each file is, as logits: nothing without a run."""
    scores = query_scores.zeros()
    executed, numbers = query_scores.executed, query_scores.corpus.file_numbers
    if executed is None:
        return scores
    functions = [one for one in executed.functions if one.path in numbers]
    scores[[numbers[one.path] for one in functions]] = EXECUTED_WEIGHT
    scores[[numbers[one.path] for one in functions if one.is_by_last]] = EXECUTED_WEIGHT + BY_LAST_WEIGHT
    if executed.place and executed.place.path in numbers:
        scores[numbers[executed.place.path]] += FAILED_WEIGHT
    return scores
