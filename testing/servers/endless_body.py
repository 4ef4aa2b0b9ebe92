"""A body of a response that goes on until the client closes the connection."""

import zlib
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler

_PIECE = b'"' + b" " * 999_998 + b","


@dataclass
class EndlessBody:
    """As JSON that never closes its list. Ends after `max_bytes` all the same, so that no machine runs out of memory."""

    gzipped: bool = False
    max_bytes: int = 600_000_000
    """Of decoded bytes."""
    sent_bytes: int = 0
    """As they were encoded. More than the client has read, by what fits into the buffers of the connection."""

    def send(self, handler: BaseHTTPRequestHandler, status: int = 200) -> None:
        """Sends the whole response, in chunks if the handler speaks HTTP/1.1."""
        chunked = handler.protocol_version == "HTTP/1.1"
        handler.send_response(status)
        handler.send_header("content-type", "application/json")
        if self.gzipped:
            handler.send_header("content-encoding", "gzip")
        handler.send_header("transfer-encoding" if chunked else "connection", "chunked" if chunked else "close")
        handler.end_headers()
        handler.close_connection = True
        gzip = zlib.compressobj(wbits=31)
        first = gzip.compress(b"[") + gzip.flush(zlib.Z_FULL_FLUSH)
        # After a full flush the same text is the same bytes again.
        again = gzip.compress(_PIECE) + gzip.flush(zlib.Z_FULL_FLUSH)
        pieces = (first, again) if self.gzipped else (b"[", _PIECE)
        for number in range(self.max_bytes // len(_PIECE)):
            piece = pieces[min(number, 1)]
            handler.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            self.sent_bytes += len(piece)
