"""What the SDK does by hand: requests, streams, webhooks. The standard library alone."""

import base64
import hashlib
import hmac
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
Wait: TypeAlias = float | None
"""Seconds an attempt may take; None: as the client says."""

RETRIED = {429, 502, 503, 504}
MOST_WAIT_S = 30.0
WEBHOOK_TOLERANCE_S = 300


class FileInput(NamedTuple):
    """A file of a form: its name and its bytes."""

    name: str
    content: bytes


class StreamEvent(NamedTuple):
    """An event of a stream; `id` is the place to go on after."""

    id: str | None
    type: str
    data: Any


class PatchbayError(Exception):
    """What an answer of 400 and above says."""

    def __init__(self, status: int, body: Any, headers: Mapping[str, str]) -> None:
        said = body if isinstance(body, dict) else {}
        self.status = status
        self.code: str = said.get("code", "unknown")
        self.detail: Any = said.get("detail", "")
        self.request_id: str = said.get("request_id", headers.get("x-request-id", ""))
        self.params: dict[str, Any] = said.get("params", {})
        after = headers.get("retry-after", "")
        self.retry_after_s: float | None = float(after) if after.isdigit() else None
        super().__init__(f"{status} {self.code}: {self.detail}")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Transport:
    def __init__(
        self, base_url: str, key: str, *, workspace: str | None = None, timeout_s: float = 60, retries: int = 2
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._key = key
        self._workspace = workspace
        self._timeout_s = timeout_s
        self._retries = retries
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str],
        query: Any = None,
        json: Any = None,
        form: Any = None,
        answer: str,
        idempotent: bool,
        idempotency_key: str | None = None,
        workspace: str | None = None,
        wait: Wait = None,
    ) -> Any:
        for name, value in params.items():
            path = path.replace("{" + name + "}", urllib.parse.quote(value, safe=""))
        headers = {"accept": "application/json" if answer == "json" else "*/*"}
        if workspace is not None:
            headers["x-workspace-id"] = workspace
        if method == "POST" and idempotent:
            headers["idempotency-key"] = idempotency_key or str(uuid.uuid4())
        data = _body(json, form, headers)
        retries = self._retries if method != "POST" or idempotent else 0
        response = self._send(method, path + _query(query), data, headers, wait or self._timeout_s, retries)
        with response:
            if answer == "location":
                return response.headers["location"]
            content = response.read()
        if answer == "bytes":
            return content
        return _loads(content) if answer == "json" else content.decode()

    def events(self, *, after: str | None = None, types: Sequence[str] | None = None) -> Iterator[StreamEvent]:
        """What happens in the workspace from now on, or after a place; reconnects by itself and skips nothing."""
        asked: dict[str, Any] = {} if types is None else {"types": ",".join(types)}
        if after is None:
            # From a place on, so that a stream that breaks off before its first event skips none.
            page = self.call(
                "GET", "/events", params={}, query={**asked, "limit": 1}, answer="json", idempotent=False
            )
            after = page["next"]
        yield from self._stream("/events" + _query(asked), after, None)

    def call_events(self, call_log_id: str, *, after: str | None = None) -> Iterator[StreamEvent]:
        """The log of a call so far, then what happens, until it ends."""
        yield from self._stream(f"/calls/{urllib.parse.quote(call_log_id, safe='')}/events/live", after, "ended")

    def _stream(self, path: str, after: str | None, last: str | None) -> Iterator[StreamEvent]:
        failures = 0
        while True:
            headers = {"accept": "text/event-stream", **({} if after is None else {"last-event-id": after})}
            is_over = False
            try:
                with self._send("GET", path, None, headers, self._timeout_s, self._retries) as response:
                    for event in _server_sent(response):
                        failures = 0
                        if event.type.startswith("stream."):
                            continue
                        after = event.id or after
                        is_over = event.type == last
                        yield event
            except OSError:
                failures += 1
                if failures > 8:
                    raise
            if is_over:
                return
            time.sleep(min(MOST_WAIT_S, 0.25 * 2**failures))

    def _send(
        self, method: str, path: str, data: bytes | None, headers: Mapping[str, str], timeout_s: float, retries: int
    ) -> Any:
        own = {"x-api-key": self._key, **({"x-workspace-id": self._workspace} if self._workspace else {})}
        for attempt in range(retries + 1):
            request = urllib.request.Request(
                self._base_url + path, data=data, headers={**own, **headers}, method=method
            )
            wait_s = 0.25 * 2**attempt
            try:
                return self._opener.open(request, timeout=timeout_s)
            except urllib.error.HTTPError as answer:
                if answer.code < 400:
                    return answer
                said = {name.lower(): value for name, value in answer.headers.items()}
                failure = PatchbayError(answer.code, _loads(answer.read()), said)
                if answer.code not in RETRIED or attempt == retries:
                    raise failure from None
                wait_s = failure.retry_after_s or wait_s
            except OSError:
                if attempt == retries:
                    raise
            time.sleep(min(MOST_WAIT_S, wait_s))
        raise AssertionError("unreachable")


def every_page(list_page: Callable[[int], Any], first: int = 1) -> Iterator[Any]:
    """Every item of a list, page by page: `every_page(lambda page: patchbay.list_calls({"page": page}))`."""
    page = first
    while True:
        found = list_page(page)
        yield from found["items"]
        if page >= found["total_pages"]:
            return
        page += 1


def read_webhook(secret: str, headers: Mapping[str, str], body: bytes, now_s: float | None = None) -> Any:
    """The event of a webhook's request, whose body is passed as it came. ValueError: the signature does not fit, or it is old."""
    given = {name.lower(): value for name, value in headers.items()}
    identity, timestamp = given.get("webhook-id", ""), given.get("webhook-timestamp", "")
    now = time.time() if now_s is None else now_s
    if not timestamp.isdigit() or abs(now - int(timestamp)) > WEBHOOK_TOLERANCE_S:
        raise ValueError("webhook-timestamp is too far from now")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{identity}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    if not any(hmac.compare_digest(expected, one) for one in given.get("webhook-signature", "").split(" ")):
        raise ValueError("webhook-signature does not fit the body")
    return json.loads(body)


def _loads(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _query(query: Any) -> str:
    pairs = [
        (name, _text(one))
        for name, value in (query or {}).items()
        for one in (value if isinstance(value, (list, tuple)) else [value])
        if one is not None
    ]
    return "?" + urllib.parse.urlencode(pairs) if pairs else ""


def _body(given: Any, form: Any, headers: dict[str, str]) -> bytes | None:
    if given is not None:
        headers["content-type"] = "application/json"
        return json.dumps(given).encode()
    if form is None:
        return None
    boundary = uuid.uuid4().hex
    headers["content-type"] = f"multipart/form-data; boundary={boundary}"
    parts: list[bytes] = []
    for name, value in form.items():
        for one in value if isinstance(value, list) else [value]:
            if one is None:
                continue
            head = f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"'
            if isinstance(one, FileInput):
                file = urllib.parse.quote(one.name, safe=" .()-_")
                head += f'; filename="{file}"\r\ncontent-type: application/octet-stream'
                parts.append(head.encode() + b"\r\n\r\n" + one.content + b"\r\n")
            else:
                parts.append(head.encode() + b"\r\n\r\n" + _text(one).encode() + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode()


def _server_sent(lines: Any) -> Iterator[StreamEvent]:
    fields: dict[str, str] = {}
    for raw in lines:
        line = raw.decode().rstrip("\r\n")
        if line == "":
            if "data" in fields:
                yield StreamEvent(fields.get("id"), fields.get("event", "message"), json.loads(fields["data"]))
            fields = {}
            continue
        name, _, value = line.partition(":")
        if name != "":
            value = value.removeprefix(" ")
            fields[name] = f"{fields['data']}\n{value}" if name == "data" and "data" in fields else value
