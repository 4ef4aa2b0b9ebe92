"""Embedding models that answer well, badly, or not at all."""

from langchain_core.embeddings import Embeddings


class LetterCounts(Embeddings):
    """Counts letters: the same letters, the same direction."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0 + text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]


class FailingModel(LetterCounts):
    """Fails with the given error, for documents from the given batch on, or for queries only."""

    def __init__(self, error: Exception, from_batch: int = 0, queries_only: bool = False) -> None:
        super().__init__()
        self.error, self.from_batch, self.queries_only = error, from_batch, queries_only
        self.batches = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.batches += 1
        if not self.queries_only and self.batches > self.from_batch:
            raise self.error
        return [super(FailingModel, self).embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        if self.queries_only:
            raise self.error
        return super().embed_query(text)


class WrongShape(LetterCounts):
    """Answers with something else than one vector of one length for each text."""

    def __init__(self, rows: list[list[float]]) -> None:
        super().__init__()
        self.rows = rows

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return (self.rows * len(texts))[: max(len(self.rows), len(texts))] if self.rows else []
