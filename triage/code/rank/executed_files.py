"""What a run of the report's example says about the files."""

from triage.code.rank.query_scores import QueryScores, Scores

EXECUTED_WEIGHT = 1.0
"""As a logit, chosen by hand. Of 73 Python examples that ran at the base commit, a file of the fix is first in 62 %
(59 % without), among three in 85 % (79 %). More weight, or some for the file that raises, is no better."""


def score_executed_files(query_scores: QueryScores) -> Scores:
    """Return how much likelier each file is: nothing without a run."""
    scores = query_scores.zeros()
    if query_scores.executed:
        numbers = query_scores.corpus.file_numbers
        scores[[numbers[one.path] for one in query_scores.executed.functions if one.path in numbers]] = EXECUTED_WEIGHT
    return scores
