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
import operator
import os
import queue
import re
import struct
import subprocess
import sys
import sysconfig
import threading
from typing import Any, Iterable, Mapping, Sequence, Tuple, Union

__version__: str  #: of the package, or of the executable if the package is not installed

__all__ = ["Error", "LinkError", "Message", "Place", "Result", "executable", "find_ptxas", "link", "run"]

#: A module: the path of a file, or a name and its content, which may be any object with bytes.
Input = Union[str, "os.PathLike[str]", Tuple[str, Union[str, bytes, bytearray, memoryview]]]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return importlib.metadata.version("ptxlink")
    except importlib.metadata.PackageNotFoundError:
        try:
            text = subprocess.run([executable(), "--version"], stdout=subprocess.PIPE, encoding="utf-8").stdout
        except OSError:
            text = ""
        found = re.match(r"ptxlink v(\d\S*)", text)
        return found[1] if found else "0.0.0"  # as internal/release/version.sh prints it


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

    Raises TypeError for an argument of another type, LinkError if the inputs cannot be linked, and Error if ptxlink cannot be run.
    """
    if output not in ("ptx", "cubin", "fatbin"):
        raise ValueError(f"output is {output!r}, not 'ptx', 'cubin' or 'fatbin'")
    if arch is not None and not isinstance(arch, str):
        raise TypeError(f'arch is a str such as "sm_80", not {arch!r}')
    try:
        level = operator.index(optimize)
    except TypeError:
        raise TypeError(f"optimize is an int from 0 to 2, not {_shown(optimize)}") from None
    options = _strings("options", options, ["--verbose"])
    args, files = [], []
    for given in itertools.chain(_list("inputs", inputs, ["a.ptx", "b.ptx"]), _list("libraries", libraries, ["lib.a"])):
        if isinstance(given, tuple):
            files.append(_file(given))
            args.append(given[0])
        else:
            args.append(_path(given))
    out = "ptxlink-output." + output
    args = [*options, f"-O{level}", f"--format={output}", "-o", out, "--Map=ptxlink-map.json", *(["--arch", arch] if arch else []), "--", *args]
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


def _list(what: str, values: Iterable[Any], example: list[Any]) -> list[Any]:
    """Return values as a list. Python would take a str for a list of its letters."""
    if isinstance(values, (str, bytes, bytearray, Mapping)) or not isinstance(values, Iterable):
        raise TypeError(f"{what} is a list such as {example}, not {_shown(values)}")
    return list(values)


def _strings(what: str, values: Iterable[str], example: list[str]) -> list[str]:
    values = _list(what, values, example)
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{what} is a list of str such as {example}, and {_shown(value)} is in it")
    return values


def _file(given: Any) -> tuple[str, bytes]:
    """Return the name and the bytes of a file in memory."""
    if not isinstance(given, tuple) or len(given) != 2 or not isinstance(given[0], str):
        raise TypeError(f'a file in memory is a tuple of a str and its content, such as ("a.ptx", text), not {_shown(given)}')
    name, content = given
    if isinstance(content, str):
        return name, content.encode()
    try:
        return name, memoryview(content).tobytes()
    except TypeError:
        raise TypeError(f"the content of {name!r} is a str or bytes, not {_shown(content)}") from None


def _path(given: Any) -> str:
    """Return an absolute path, as the server keeps its directory."""
    if not isinstance(given, (str, os.PathLike)) or not isinstance(path := os.fspath(given), str):
        raise TypeError(f'an input is a path or a tuple such as ("a.ptx", text), not {_shown(given)}')
    if ("\n" in path or re.search(r"\.version\s+\d", path)) and not os.path.lexists(path):
        raise TypeError(f'an input is a path or a tuple such as ("a.ptx", text), and {_shown(path)} is text: pass ("a.ptx", text)')
    return os.path.abspath(path)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _message(m: Mapping[str, Any]) -> Message:
    places = tuple(
        Place(p["role"], p["file"], p.get("line", 0), p.get("column", 0), p.get("endLine", 0), p.get("endColumn", 0), p.get("message", ""))
        for p in m["places"]
    )
    return Message(m["severity"], m["message"], m.get("id", ""), places, tuple(m.get("notes", ())), m.get("help", ""), m.get("symbol", {}).get("mangled", ""))


def run(args: Sequence[str], files: Iterable[Tuple[str, bytes]] = (), *, outputs: Sequence[str] = (), lines: bool = False) -> dict[str, Any]:
    """Run a command of ptxlink, such as ["nm", "a.ptx"], with files in memory, and return the
    answer of ptxlink serve: code, stdout, stderr, messages and files, the content of outputs."""
    header = {"args": _strings("args", args, ["nm", "a.ptx"]), "outputs": _strings("outputs", outputs, ["out.ptx"]), "lines": bool(lines)}
    return _server().request(header, [_file(f) for f in _list("files", files, [("a.ptx", b"...")])])


class _Server:
    """A ptxlink serve process. Several threads may use it."""

    def __init__(self) -> None:
        try:
            self.process = subprocess.Popen([executable(), "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **_own_signals())
        except OSError as e:
            raise Error(f"cannot run {executable()}: {e}") from e
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.frames: queue.SimpleQueue[Union[bytes, None]] = queue.SimpleQueue()
        self.ids = itertools.count(1)
        self.waiting: dict[int, list[Any]] = {}  # by id: an event, and the answer
        self.dead = False
        hello = self._read()
        if not hello or hello.get("protocol") != 1:
            self.process.kill()
            raise Error(f"{executable()} does not speak version 1 of the protocol of ptxlink serve")
        threading.Thread(target=self._send, name="ptxlink-send", daemon=True).start()
        threading.Thread(target=self._receive, name="ptxlink", daemon=True).start()

    def request(self, header: dict[str, Any], files: Sequence[Tuple[str, bytes]]) -> dict[str, Any]:
        number, entry = next(self.ids), [threading.Event(), None]
        header = {**header, "id": number, "files": [{"name": n, "size": len(b)} for n, b in files]}
        frame = _frame(header, files)
        with self.lock:
            if self.dead:
                raise Error("ptxlink serve has ended")
            self.waiting[number] = entry
        try:
            self.frames.put(frame)
            entry[0].wait()
        except BaseException:  # Ctrl-C
            with self.lock:
                pending = self.waiting.pop(number, None)
            if pending:
                self.frames.put(_frame({"cancel": number}, ()))
            raise
        if entry[1] is None:
            raise Error("ptxlink serve has ended")
        return entry[1]

    def _send(self) -> None:
        """Write frames, in a thread of their own: Ctrl-C would leave half of one, and what
        follows would be read as its other half."""
        try:
            while frame := self.frames.get():
                data = memoryview(frame)
                while data:
                    data = data[self.process.stdin.write(data) :]
                frame = data = None  # which may be large
        except OSError:
            pass  # _receive notices that the server has ended
        self.process.stdin.close()

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
        with self.lock:
            self.dead = True
            waiting, self.waiting = self.waiting, {}
            self.process.stdout.close()
        self.frames.put(None)
        for entry in waiting.values():
            entry[0].set()


def _frame(header: dict[str, Any], files: Sequence[Tuple[str, bytes]]) -> bytes:
    text = json.dumps(header).encode()
    if len(text) > 16 << 20:  # which would end the server
        raise Error(f"the arguments and names have {len(text)} bytes; at most {16 << 20} are allowed")
    return b"".join([struct.pack("<I", len(text)), text, *(b for _, b in files)])


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
            if not pipe.closed:
                os.dup2(nothing, pipe.fileno(), inheritable=False)
        os.close(nothing)
        _current.process.returncode = 0  # no child of this process, so nothing to wait for
    _current, _starting = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
