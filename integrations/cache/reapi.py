#!/usr/bin/env python3
"""Keeps the entries of ptxlink's cache on a server of the remote execution API.

    ptxlink --cache="prog:reapi.py grpc://HOST:PORT/INSTANCE" ...

The instance may be empty; grpcs:// uses TLS. It needs Python 3.8 and grpcio (PyPI). An entry is a blob of
the content-addressable storage. The action cache names it as the output of an action that has the key
of the entry as its salt. Of a blob with a wrong digest ptxlink is told; it checks the rest.
"""

import base64
import concurrent.futures
import hashlib
import json
import os
import signal
import sys
import tempfile
import threading
import uuid

os.environ.setdefault("GRPC_VERBOSITY", "ERROR")  # a server that ends is not worth a line
import grpc

PATIENCE = 5  # seconds for a small message; ten times as long for a blob
CHUNK = 1 << 20  # bytes of a message; a server must take 4 MiB
LARGEST = 1 << 30  # bytes of a blob


# The messages, which are few, in the encoding of protocol buffers: a field is (number, value), and a
# value an int, bytes or a string.
def number(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def message(*fields):
    out = b""
    for field, value in fields:
        if isinstance(value, str):
            value = value.encode()
        if isinstance(value, int):
            out += number(field << 3) + number(value)
        elif isinstance(value, bytes):
            out += number(field << 3 | 2) + number(len(value)) + value
    return out


def read_number(data, at):
    n = shift = 0
    while shift < 70:
        byte = data[at]
        at += 1
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n, at
    raise ValueError("not a message")


def fields(data):
    """Returns the first value of each field; the server may send anything."""
    found, at = {}, 0
    while at < len(data):
        tag, at = read_number(data, at)
        kind, size = tag & 7, {1: 8, 5: 4}.get(tag & 7)
        if kind == 0:
            value, at = read_number(data, at)
        elif kind == 2 or size:
            if kind == 2:
                size, at = read_number(data, at)
            value, at = data[at : at + size], at + size
            if at > len(data):
                raise ValueError("not a message")
        else:
            raise ValueError("not a message")
        found.setdefault(tag >> 3, value)
    return found


def digest(data):
    return message((1, hashlib.sha256(data).hexdigest()), (2, len(data)))


class Damaged(Exception):
    """The server has another blob than the one that was kept."""


class Server:
    def __init__(self, address):
        scheme, _, rest = address.partition("://")
        host, _, self.instance = rest.partition("/")
        if scheme == "grpcs":
            channel = grpc.secure_channel(host, grpc.ssl_channel_credentials())
        elif scheme == "grpc" and host:
            channel = grpc.insecure_channel(host)
        else:
            sys.exit(__doc__)
        cache = "/build.bazel.remote.execution.v2.ActionCache/"
        storage = "/build.bazel.remote.execution.v2.ContentAddressableStorage/"
        self.get_result = channel.unary_unary(cache + "GetActionResult")
        self.update_result = channel.unary_unary(cache + "UpdateActionResult")
        self.find_missing = channel.unary_unary(storage + "FindMissingBlobs")
        self.damaged = set()  # names of blobs
        self.read = channel.unary_stream("/google.bytestream.ByteStream/Read")
        self.write = channel.stream_unary("/google.bytestream.ByteStream/Write")

    def action(self, key):
        """Returns the digest of an action that nobody runs: without a command, with the key as its salt."""
        nothing = digest(b"")
        return digest(message((1, nothing), (2, nothing), (9, key)))

    def resource(self, *parts):
        return "/".join([self.instance] * bool(self.instance) + [str(p) for p in parts])

    def get(self, key):
        """Returns the data of a key, or None."""
        try:
            result = self.get_result(message((1, self.instance), (2, self.action(key))), timeout=PATIENCE)
            blob = fields(fields(fields(result).get(2, b"")).get(2, b""))
            name, size = blob.get(1, b"").decode(), blob.get(2, 0)
            if size > LARGEST:
                return None
            data = bytearray()
            chunks = self.read(message((1, self.resource("blobs", name, size))), timeout=10 * PATIENCE)
            for chunk in chunks:
                data += fields(chunk).get(10, b"")
                if len(data) > size:
                    break
            chunks.cancel()
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.NOT_FOUND:
                return None
            raise
        data = bytes(data)
        if hashlib.sha256(data).hexdigest() != name:
            self.damaged.add(name)
            raise Damaged
        return data

    def put(self, key, data):
        blob = digest(data)
        name = hashlib.sha256(data).hexdigest()
        missing = self.find_missing(message((1, self.instance), (2, blob)), timeout=PATIENCE)
        if 2 in fields(missing) or name in self.damaged:
            to = self.resource("uploads", uuid.uuid4(), "blobs", name, len(data))

            def chunks():
                for at in range(0, max(1, len(data)), CHUNK):
                    part = data[at : at + CHUNK]
                    yield message((1, to), (2, at), (3, int(at + len(part) == len(data))), (10, part))

            self.write(chunks(), timeout=10 * PATIENCE)
        output = message((1, "entry.ptxlink"), (2, blob))
        self.update_result(message((1, self.instance), (2, self.action(key)), (3, message((2, output)))), timeout=PATIENCE)


def answer(server, directory, request, body):
    """Does what a request asks for, and returns the answer."""
    key = base64.b64decode(request["ActionID"])
    path = os.path.join(directory, key.hex())
    if request["Command"] == "put":
        server.put(key, body)
    else:
        try:
            body = server.get(key)
        except Damaged:
            return {"Miss": True, "Damaged": True}
        if body is None:
            return {"Miss": True}
    with tempfile.NamedTemporaryFile(dir=directory, delete=False) as f:
        f.write(body)
    os.replace(f.name, path)
    if request["Command"] == "put":
        return {"DiskPath": path}
    return {"OutputID": base64.b64encode(hashlib.sha256(body).digest()).decode(), "Size": len(body), "DiskPath": path}


def main(address):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends ptxlink, and with it standard input
    server, lock = Server(address), threading.Lock()

    def say(fields):
        with lock:
            sys.stdout.write(json.dumps(fields) + "\n")
            sys.stdout.flush()

    def run(request, body):
        try:
            done = answer(server, directory, request, body)
        except grpc.RpcError as error:
            done = {"Err": "%s: %s" % (error.code().name, error.details())}
        except Exception as error:
            done = {"Err": str(error) or type(error).__name__}
        say(dict(done, ID=request["ID"]))

    say({"ID": 0, "KnownCommands": ["get", "put", "close"]})
    with tempfile.TemporaryDirectory(prefix="ptxlink-reapi-") as directory:
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            for line in sys.stdin:
                if not line.strip():
                    continue
                request, body = json.loads(line), b""
                if request.get("BodySize", 0) > 0:
                    line = "\n"
                    while line == "\n":
                        line = sys.stdin.readline()
                    body = base64.b64decode(json.loads(line))
                if request["Command"] == "close":
                    break
                threads.submit(run, request, body)
            else:
                return
        say({"ID": request["ID"]})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        main(sys.argv[1])
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads the answers
