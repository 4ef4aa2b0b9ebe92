"""A limit on what is read of an endpoint's answers. The SDK reads each of them to its end."""

from collections.abc import AsyncIterator, Iterator

import httpx2

from triage.base.errors import AnswerTooLarge


class BoundedTransport(httpx2.BaseTransport):
    """Passes responses on without their compression.

    Reading more than `max_bytes` raises an `httpx2.ReadError`, which the SDK expects, because of an AnswerTooLarge. The
    limit counts decoded bytes, since a few compressed ones may unpack to gigabytes.
    """

    def __init__(self, inner: httpx2.BaseTransport, max_bytes: int) -> None:
        self._inner, self._max_bytes = inner, max_bytes

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        response = self._inner.handle_request(request)
        return _with_stream(response, _BoundedStream(response, self._max_bytes))

    def close(self) -> None:
        self._inner.close()


class AsyncBoundedTransport(httpx2.AsyncBaseTransport):
    """As `BoundedTransport`."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, max_bytes: int) -> None:
        self._inner, self._max_bytes = inner, max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        return _with_stream(response, _AsyncBoundedStream(response, self._max_bytes))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, response: httpx2.Response, max_bytes: int) -> None:
        self._response, self._max_bytes = response, max_bytes

    def __iter__(self) -> Iterator[bytes]:
        total = 0
        for piece in self._response.iter_bytes():
            total += len(piece)
            if total > self._max_bytes:
                raise httpx2.ReadError("too large") from AnswerTooLarge(self._max_bytes)
            yield piece

    def close(self) -> None:
        self._response.close()


class _AsyncBoundedStream(httpx2.AsyncByteStream):
    def __init__(self, response: httpx2.Response, max_bytes: int) -> None:
        self._response, self._max_bytes = response, max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for piece in self._response.aiter_bytes():
            total += len(piece)
            if total > self._max_bytes:
                raise httpx2.ReadError("too large") from AnswerTooLarge(self._max_bytes)
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


def _with_stream(response: httpx2.Response, stream: httpx2.SyncByteStream | httpx2.AsyncByteStream) -> httpx2.Response:
    of_encoded_body = (b"content-encoding", b"content-length")
    headers = [(name, value) for name, value in response.headers.raw if name.lower() not in of_encoded_body]
    return httpx2.Response(response.status_code, headers=headers, stream=stream, extensions=response.extensions)
