"""Link PTX modules, in memory.

    >>> import ptxlink
    >>> r = ptxlink.link([("a.ptx", text), "b.ptx"], optimize=1)
    >>> r.ptx

The package runs the ptxlink executable, which answers many requests (``ptxlink serve``).
"""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import itertools
import json
import os
import struct
import subprocess
import sys
import sysconfig
import threading
from typing import Any, Iterable, Mapping, Sequence, Tuple, Union

__all__ = ["Error", "LinkError", "Message", "Place", "Result", "executable", "find_ptxas", "link", "run"]

#: A module: the path of a file, or a name and its content.
Input = Union[str, "os.PathLike[str]", Tuple[str, Union[str, bytes]]]


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in an input. Lines and columns count from 1; 0 means the whole file."""

    role: str  #: primary, definition, declaration, use, source, linked or related
    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0
    message: str = ""


@dataclasses.dataclass(frozen=True)
class Message:
    """An error, a warning or a note. docs/errors.md lists the values of id."""

    severity: str  #: error, warning or note
    message: str
    id: str = ""
    places: Tuple[Place, ...] = ()
    notes: Tuple[str, ...] = ()
    help: str = ""
    symbol: str = ""  #: mangled


@dataclasses.dataclass(frozen=True)
class Result:
    """What a link returns."""

    ptx: bytes  #: the linked module; empty for other outputs
    cubin: bytes  #: the cubin or fatbin; empty for PTX
    symbols: Tuple[Mapping[str, Any], ...]  #: of the output, as in the map of --Map=FILE.json
    messages: Tuple[Message, ...]  #: warnings and notes
    #: For each line of ptx, the name of its module and the line there; None for lines of the linker.
    lines: Tuple[Union[Tuple[str, int], None], ...]


class Error(Exception):
    """ptxlink cannot be run, or refused its options."""


class LinkError(Error):
    """The inputs cannot be linked. str() is the text that the command prints, with the
    source lines; messages has its parts, and code the exit code."""

    def __init__(self, text: str, messages: Tuple[Message, ...], code: int):
        super().__init__(text)
        self.messages, self.code = messages, code

    def __reduce__(self) -> Any:
        return LinkError, (str(self), self.messages, self.code)


def executable() -> str:
    """Return the path of the ptxlink executable: $PTXLINK, that of this package, or that on PATH."""
    path = os.environ.get("PTXLINK")
    if path:
        return path
    name = "ptxlink.exe" if os.name == "nt" else "ptxlink"
    for directory in (os.path.join(os.path.dirname(__file__), "bin"), sysconfig.get_path("scripts")):
        path = os.path.join(directory, name)
        if os.path.isfile(path):
            return path
    return name


@functools.lru_cache(maxsize=None)
def find_ptxas() -> str | None:
    """Return the path of ptxas in an installed nvidia-cuda-nvcc wheel, or None."""
    for package in ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu13", "nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvcc-cu11"):
        try:
            files = importlib.metadata.files(package) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for f in files:
            path = str(f.locate())
            if f.name in ("ptxas", "ptxas.exe") and os.access(path, os.X_OK):
                return path
    return None


def link(
    inputs: Iterable[Input],
    *,
    arch: str | None = None,
    output: str = "ptx",
    optimize: int = 0,
    libraries: Iterable[Input] = (),
    options: Sequence[str] = (),
) -> Result:
    """Link modules: PTX, objects, archives and fatbins that contain PTX; with the tools for them,
    cubins, LTO-IR and LLVM bitcode.

    arch is the GPU, such as "sm_80"; it is needed for a cubin. output is "ptx", "cubin" or
    "fatbin". optimize is the level of -O, 0 to 2. Members of libraries that are archives are
    linked if they are needed. options are further options of the command, such as
    "--allow-undefined=f".

    Raises LinkError if the inputs cannot be linked, and Error if ptxlink cannot be run.
    """
    if output not in ("ptx", "cubin", "fatbin"):
        raise ValueError(f"output is {output!r}, not 'ptx', 'cubin' or 'fatbin'")
    args, files = [], []
    for given in itertools.chain(inputs, libraries):
        if isinstance(given, tuple):
            name, content = given
            files.append((name, content.encode() if isinstance(content, str) else bytes(content)))
        else:
            name = os.path.abspath(os.fspath(given))  # the server keeps its directory
        args.append(name)
    out = "ptxlink-output." + output
    args = [*options, f"-O{int(optimize)}", f"--format={output}", "-o", out, "--Map=ptxlink-map.json", *(["--arch", arch] if arch else []), "--", *args]
    if output != "ptx" and not any(o.startswith(("--ptxas", "--cuda")) for o in options):
        ptxas = os.environ.get("PTXAS") or find_ptxas()  # the server keeps the environment of its start
        if ptxas:
            args.insert(0, "--ptxas=" + ptxas)
    answer = run(args, files, outputs=(out, "ptxlink-map.json"), lines=output == "ptx")
    messages = tuple(map(_message, answer.get("messages", ())))
    if answer["code"] != 0:
        text = answer.get("error") or answer["stderr"].decode(errors="replace").rstrip("\n")
        raise LinkError(text, messages, answer["code"])
    data = answer["files"].get(out, b"")
    names, flat = answer.get("modules", ()), answer.get("lines", ())
    lines = tuple((names[m], n) if m >= 0 else None for m, n in zip(flat[::2], flat[1::2]))
    symbols = tuple(json.loads(answer["files"]["ptxlink-map.json"]).get("symbols", ()))
    ptx, cubin = (data, b"") if output == "ptx" else (b"", data)
    return Result(ptx, cubin, symbols, messages, lines)


def _message(m: Mapping[str, Any]) -> Message:
    places = tuple(
        Place(p["role"], p["file"], p.get("line", 0), p.get("column", 0), p.get("endLine", 0), p.get("endColumn", 0), p.get("message", ""))
        for p in m["places"]
    )
    return Message(m["severity"], m["message"], m.get("id", ""), places, tuple(m.get("notes", ())), m.get("help", ""), m.get("symbol", {}).get("mangled", ""))


def run(args: Sequence[str], files: Iterable[Tuple[str, bytes]] = (), *, outputs: Sequence[str] = (), lines: bool = False) -> dict[str, Any]:
    """Run a command of ptxlink, such as ["nm", "a.ptx"], with files in memory, and return the
    answer of ptxlink serve: code, stdout, stderr, messages and files, the content of outputs."""
    return _server().request({"args": list(args), "outputs": list(outputs), "lines": lines}, list(files))


class _Server:
    """A ptxlink serve process. Several threads may use it."""

    def __init__(self) -> None:
        try:
            self.process = subprocess.Popen([executable(), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **_own_signals())
        except OSError as e:
            raise Error(f"cannot run {executable()}: {e}") from e
        self.pid = os.getpid()
        self.write, self.lock = threading.Lock(), threading.Lock()
        self.ids = itertools.count(1)
        self.waiting: dict[int, list[Any]] = {}  # by id: an event, and the answer
        self.dead = False
        hello = self._read()
        if not hello or hello.get("protocol") != 1:
            self.process.kill()
            raise Error(f"{executable()} does not speak version 1 of the protocol of ptxlink serve")
        threading.Thread(target=self._receive, name="ptxlink", daemon=True).start()

    def request(self, header: dict[str, Any], files: Sequence[Tuple[str, bytes]]) -> dict[str, Any]:
        number, entry = next(self.ids), [threading.Event(), None]
        header = {**header, "id": number, "files": [{"name": n, "size": len(b)} for n, b in files]}
        with self.lock:
            if self.dead:
                raise Error("ptxlink serve has ended")
            self.waiting[number] = entry
        try:
            self._send(header, files)
            entry[0].wait()
        except BaseException:  # Ctrl-C
            with self.lock:
                pending = self.waiting.pop(number, None)
            if pending and not self.dead:
                self._send({"cancel": number}, ())
            raise
        if entry[1] is None:
            raise Error("ptxlink serve has ended")
        return entry[1]

    def _send(self, header: dict[str, Any], files: Sequence[Tuple[str, bytes]]) -> None:
        text = json.dumps(header).encode()
        data = memoryview(b"".join([struct.pack("<I", len(text)), text, *(b for _, b in files)]))
        try:
            with self.write:
                while data:
                    data = data[self.process.stdin.write(data) :]
        except (OSError, ValueError) as e:  # closed by _receive
            raise Error("ptxlink serve has ended") from e

    def _read(self) -> dict[str, Any] | None:
        """Read an answer; None at the end. Pipes without buffers have no lock that a fork could copy."""
        try:
            answer = json.loads(self._bytes(struct.unpack("<I", self._bytes(4))[0]))
            if "stdout" in answer:
                answer["stdout"], answer["stderr"] = self._bytes(answer["stdout"]), self._bytes(answer["stderr"])
                answer["files"] = {f["name"]: self._bytes(f["size"]) for f in answer.get("files", ())}
            return answer
        except (EOFError, OSError):
            return None

    def _bytes(self, n: int) -> bytes:
        data = bytearray()
        while len(data) < n:
            part = self.process.stdout.read(n - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _receive(self) -> None:
        while answer := self._read():
            with self.lock:
                entry = self.waiting.pop(answer["id"], None)
            if entry:  # else it was cancelled
                entry[1] = answer
                entry[0].set()
        with self.write, self.lock:
            self.dead = True
            waiting, self.waiting = self.waiting, {}
            self.process.stdin.close()
            self.process.stdout.close()
        for entry in waiting.values():
            entry[0].set()


def _own_signals() -> dict[str, Any]:
    """Keep Ctrl-C away from the process, which a request cancels."""
    if os.name == "nt":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    if sys.version_info >= (3, 11):
        return {"process_group": 0}
    return {"start_new_session": True}


_current: _Server | None = None
_starting = threading.Lock()


def _server() -> _Server:
    global _current
    s = _current
    if s is not None and s.pid == os.getpid() and not s.dead:
        return s
    with _starting:
        if _current is None or _current.pid != os.getpid() or _current.dead:
            _current = _Server()
        return _current


def _forget() -> None:
    """In a child: the process and the locks are the parent's. The process ends with the parent,
    so the child must not hold its pipes open."""
    global _current, _starting
    if _current is not None:
        nothing = os.open(os.devnull, os.O_RDWR)
        for pipe in (_current.process.stdin, _current.process.stdout):
            os.dup2(nothing, pipe.fileno(), inheritable=False)
        os.close(nothing)
        _current.process.returncode = 0  # no child of this process, so nothing to wait for
    _current, _starting = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
