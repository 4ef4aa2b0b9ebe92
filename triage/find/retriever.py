"""A LangChain retriever over the repository: returns passages with numbered lines for a text."""

from collections.abc import Callable, Sequence

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from triage.base.threads import in_thread
from triage.domain.code import PromptPassages, SearchQuery
from triage.domain.issue import Issue
from triage.read.read_issue import read_issue

ChoosePassages = Callable[[SearchQuery, int], PromptPassages]
"""Returns passages of at most so many characters together."""


class CodebaseRetriever(BaseRetriever):
    """Returns the passages that a fix most likely edits, as many as fit.

    A file of which nothing fits is a document without text.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    choose: ChoosePassages
    chars: int
    """Of all documents together."""
    keywords: Sequence[str] = ()
    """What is defined by these names comes first."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:  # noqa: ARG002
        search = make_search_query(query).model_copy(update={"keywords": list(self.keywords)})
        chosen = self.choose(search, self.chars)
        shown = [
            Document(passage.text, metadata={**passage.span.model_dump(), "symbol": passage.symbol or ""})
            for passage in chosen.passages
        ]
        return [*shown, *(Document("", metadata={"path": path}) for path in chosen.other_files)]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        # LangChain would use an executor, and Python waits for its threads at exit.
        return await in_thread(lambda: self._get_relevant_documents(query, run_manager=run_manager.get_sync()))


def make_search_query(text: str) -> SearchQuery:
    """Return a search for a text that is read like an issue: its first line is the title."""
    title, _, body = text.strip().partition("\n")
    return SearchQuery(parsed=read_issue(Issue(title=title, body=body)))
