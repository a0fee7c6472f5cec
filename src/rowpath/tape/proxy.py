"""The recording proxy: between a command's connections and a server, on loopback, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from pathlib import Path

from rowpath.errors import EnvironmentMissing, UsageError
from rowpath.tape.conversation import Conversation, Refused
from rowpath.tape.drda import DrdaConversation
from rowpath.tape.format import MOST_BYTES, TapeRecords
from rowpath.tape.mysql import MysqlConversation
from rowpath.tape.postgresql import PostgresqlConversation
from rowpath.tape.scrub import Scrub

CHUNK_BYTES = 1 << 18
START_TIMEOUT_S = 60.0
LEFT_WITHIN_S = 10.0  # until a server has heard that its client ended
KINDS: dict[str, type[Conversation]] = {
    "postgresql": PostgresqlConversation,
    "mysql": MysqlConversation,
    "drda": DrdaConversation,
}


class RecordingProxy:
    """One recording. `port` on 127.0.0.1, and a unix socket where one was named."""

    def __init__(
        self,
        protocol: str,
        to: tuple[str, int] | Path,
        scrub: bool = False,
        unix: Path | None = None,
        records: TapeRecords | None = None,
    ) -> None:
        self.records = records or TapeRecords(protocol)
        self.server = ""
        self.port = 0
        self._kind = KINDS[protocol]
        self._to, self._unix = to, unix
        self._scrub = Scrub() if scrub else None
        self._refused = ""
        self._unreachable = ""
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._links: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="recording proxy", daemon=True)

    def start(self) -> None:
        """Listen from now on."""
        self._thread.start()
        if not self._ready.wait(START_TIMEOUT_S):
            raise EnvironmentMissing("the recording proxy did not start", "run again")

    def stop(self) -> None:
        """Take what is under way, then listen no more; harmless when stopped already."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()

    def check(self) -> None:
        """UsageError when a conversation could not be recorded."""
        if self._refused:
            what = f"cannot record this conversation: {self._refused}"
            raise UsageError(what, "docs/tape.md says what a tape can hold")
        if self._unreachable:
            raise UsageError(f"cannot reach the server: {self._unreachable}", "check host and port of the URL")
        if not self.records.connections:
            raise UsageError("nothing was recorded: no connection logged in", "connect to ROWPATH_URL, or to {url}")

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        listening = [await asyncio.start_server(self._connected, "127.0.0.1", 0)]
        self.port = listening[0].sockets[0].getsockname()[1]
        if self._unix is not None:
            listening.append(await asyncio.start_unix_server(self._connected, str(self._unix)))
        self._ready.set()
        await self._stop.wait()
        for listener in listening:
            listener.close()
        if self._links:  # a client that has ended leaves its last bytes here
            _done, left = await asyncio.wait(self._links, timeout=LEFT_WITHIN_S)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._links.add(task)
        try:
            await self._link(reader, writer)
        except OSError as error:
            self._unreachable = str(error)
        finally:
            self._links.discard(task)
            writer.close()

    async def _link(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Both directions of a connection, until one ends. Errors: OSError where the server cannot be reached."""
        if isinstance(self._to, Path):
            from_server, to_server = await asyncio.open_unix_connection(str(self._to))
        else:
            from_server, to_server = await asyncio.open_connection(*self._to)
        conversation = self._kind(self.records, self._scrub)

        def client(data: bytes) -> bytes:
            forwarded = conversation.client(data)
            writer.write(conversation.to_client)
            conversation.to_client = b""
            return forwarded

        both = [
            asyncio.create_task(self._forward(reader, to_server, client)),
            asyncio.create_task(self._forward(from_server, writer, conversation.server_sent)),
        ]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
            to_server.close()
            self.server = self.server or conversation.server

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, taken: Callable[[bytes], bytes]
    ) -> None:
        """One direction, until its end; `taken`: what goes on of what was read."""
        try:
            while data := await reader.read(CHUNK_BYTES):
                if self._refused:
                    return
                writer.write(taken(data))
                if self.records.size_bytes > MOST_BYTES:
                    raise Refused(f"it is longer than {MOST_BYTES >> 30} GiB")
                await writer.drain()
        except OSError:
            return
        except Refused as refused:
            self._refused = self._refused or str(refused)
        except (ValueError, LookupError) as error:
            self._refused = self._refused or f"a message that does not follow its protocol ({error})"
