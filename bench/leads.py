"""Measures how often the place that an issue leads to is in a file of the fix, by the sign that leads to it."""

from collections import Counter

from bench.accuracy import build_record, parse_arguments
from triage.code.leads.find_leads import find_place, put_reported_first
from triage.code.rank.query import build_query
from triage.code.rank.ranking import rank_files
from triage.code.retriever import make_search_query
from triage.domain.project_config import Thresholds


def main() -> None:
    records, mirror = parse_arguments(__doc__)
    named, right = Counter[str](), Counter[str]()
    for record in records:
        search = make_search_query(record["problem_statement"])
        ranking = rank_files(build_record(record, mirror), build_query(search), {}, by_embedding=False)
        ranking = put_reported_first(ranking, search.parsed, record["repo"])
        if place := find_place(ranking, search.parsed, record["repo"], Thresholds()):
            named[place.sign] += 1
            right[place.sign] += place.span.path in record["gold_files"]
            print(
                record["instance_id"], place.sign, f"{place.probability:.2f}", place.span.path in record["gold_files"]
            )
    for sign in named:
        print(f"{sign}: right in {right[sign]} of {named[sign]}")
    print(f"all: right in {right.total()} of {named.total()}, of {len(records)} issues")


if __name__ == "__main__":
    main()
