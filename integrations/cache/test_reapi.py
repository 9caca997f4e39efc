"""Tests reapi.py with a BuildGrid server on loopback.

    test_reapi.py PTXLINK PTXAS [DIRECTORY]

It needs Python 3.10 and PyPI, from which it installs BuildGrid into DIRECTORY (default: a temporary
one, which it removes). Nothing else on the machine changes.
"""

import base64
import glob
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "bazel", "remote"))
import run

HELPER = os.path.join(HERE, "reapi.py")
CONFIG = """
server:
  - !channel
    address: "127.0.0.1:%d"
    insecure-mode: true
authorization:
  method: none
storages:
  - !disk-storage &storage
    path: "%s/cas"
caches:
  - !lru-action-cache &cache
    storage: *storage
    max-cached-refs: 256
    allow-updates: true
instances:
  - name: "ptx"
    services:
      - !action-cache
        cache: *cache
      - !cas
        storage: *storage
      - !bytestream
        storage: *storage
"""
# Counts the runs of ptxas.
COUNT = """#!/bin/sh
[ "$1" = --version ] || echo run >> "%s"
exec "%s" "$@"
"""


def check(what, ok):
    print("%s: %s" % (what, "ok" if ok else "FAILED"))
    if not ok:
        sys.exit(1)


class Helper:
    """Speaks GOCACHEPROG's protocol with reapi.py."""

    def __init__(self, address):
        self.process = subprocess.Popen([HELPER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.known = json.loads(self.process.stdout.readline())["KnownCommands"]
        self.last = 0

    def ask(self, command, key=b"", body=b""):
        self.last += 1
        request = {"ID": self.last, "Command": command}
        if key:
            request["ActionID"] = base64.b64encode(key).decode()
        if body:
            request["BodySize"] = len(body)
        self.process.stdin.write(json.dumps(request) + "\n")
        if body:
            self.process.stdin.write(json.dumps(base64.b64encode(body).decode()) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        assert answer["ID"] == self.last
        return answer

    def get(self, key):
        answer = self.ask("get", key)
        if "DiskPath" not in answer:
            return answer
        with open(answer["DiskPath"], "rb") as f:
            return f.read()

    def close(self):
        self.ask("close")
        return self.process.wait(10)


def main(ptxlink, ptxas, directory):
    os.environ["PATH"] = os.path.join(directory, "venv", "bin") + os.pathsep + os.environ["PATH"]  # for the first line of reapi.py
    run.PACKAGES = run.PACKAGES[:1]  # the cache needs no database
    python = run.install(directory)
    port = run.free_port()
    shutil.rmtree(os.path.join(directory, "cas"), ignore_errors=True)
    with open(os.path.join(directory, "cache.yml"), "w") as f:
        f.write(CONFIG % (port, directory))
    bgd = os.path.join(os.path.dirname(python), "bgd")
    run.start([bgd, "server", "start", os.path.join(directory, "cache.yml")], os.path.join(directory, "cache.log"))
    run.wait_for(port, "BuildGrid")
    address = "grpc://127.0.0.1:%d/ptx" % port

    helper = Helper(address)
    check("commands", helper.known == ["get", "put", "close"])
    check("absent key", helper.get(b"\1" * 32) == {"ID": 1, "Miss": True})
    for size in [0, 1, 3000, 10 << 20]:
        key, data = hashlib.sha256(b"%d" % size).digest(), os.urandom(size)
        check("put %d bytes" % size, "Err" not in helper.ask("put", key, data))
        check("get %d bytes" % size, helper.get(key) == data)
        check("replace %d bytes" % size, "Err" not in helper.ask("put", key, data + b"more") and helper.get(key) == data + b"more")
    name = hashlib.sha256(data + b"more").hexdigest()
    stored = glob.glob(os.path.join(directory, "cas", "**", name[:2], name[2:] + "*"), recursive=True)
    check("blobs have their digests as names", len(stored) == 1)
    with open(stored[0], "r+b") as f:
        f.write(b"damage")
    check("damaged blob", helper.get(key).get("Miss") and helper.get(key).get("Damaged"))
    os.remove(stored[0])
    check("lost blob", helper.get(key).get("Miss"))
    check("close", helper.close() == 0)

    count, runs = os.path.join(directory, "count"), os.path.join(directory, "runs")
    with open(count, "w") as f:
        f.write(COUNT % (runs, ptxas))
    os.chmod(count, 0o755)
    example = os.path.join(HERE, os.pardir, os.pardir, "testdata", "ptx", "example")
    inputs = [os.path.join(example, "main.ptx"), os.path.join(example, "lib.ptx")]

    def link(address, *options):
        """Returns the cubin, the messages, how often ptxas ran, and the seconds."""
        open(runs, "w").close()
        out = os.path.join(directory, "out.cubin")
        command = [ptxlink, *inputs, "--arch=sm_80", "--ptxas=" + count, "-o", out, *options]
        if address:
            command.append("--cache=prog:%s %s" % (HELPER, address))
        begin = time.time()
        done = subprocess.run(command, capture_output=True, text=True)
        seconds = time.time() - begin
        if done.returncode:
            sys.exit(done.stderr)
        with open(out, "rb") as f, open(runs) as r:
            return f.read(), done.stderr, r.read().count("run"), seconds

    want, _, fresh, _ = link(None)
    cubin, said, n, seconds = link(address)
    check("first link", (cubin, said, n) == (want, "", fresh))
    cubin, said, n, seconds = link(address)
    check("second link runs no ptxas (%.2f s)" % seconds, (cubin, said, n) == (want, "", 0))

    # What somebody else put under the key.
    kept = os.path.join(directory, "kept")
    shutil.rmtree(kept, ignore_errors=True)
    link(None, "--cache-dir=" + kept)
    (entry,) = glob.glob(os.path.join(kept, "*.ptxlink"))
    key = bytes.fromhex(os.path.basename(entry)[:64])
    with open(entry, "rb") as f:
        data = f.read()
    helper = Helper(address)
    check("the server has the entry", helper.get(key) == data)
    for what, other in [("damaged entry", data[:-8] + b"damaged!"), ("cubin alone", want), ("nothing", b"")]:
        check("put " + what, "Err" not in helper.ask("put", key, other))
        cubin, said, n, _ = link(address)
        check(what, (cubin, n) == (want, fresh) and "gave something else" in said)
        cubin, said, n, _ = link(address)
        check(what + ", again", (cubin, said, n) == (want, "", 0))
    helper.close()

    run.stop(run.started.pop())
    cubin, said, n, seconds = link(address)
    check("dead server: %.1f s, %s" % (seconds, said.splitlines()[0]), (cubin, n) == (want, fresh) and said.count("warning: ") == 1 and seconds < 7)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        cubin, said, n, seconds = link("grpc://127.0.0.1:%d/ptx" % silent.getsockname()[1])
    check("silent server: %.1f s, %s" % (seconds, said.splitlines()[0]), (cubin, n) == (want, fresh) and said.count("warning: ") == 1 and seconds < 7)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    programs = [os.path.abspath(arg) for arg in sys.argv[1:3]]
    directory = os.path.abspath(sys.argv[3]) if len(sys.argv) == 4 else tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    try:
        main(*programs, directory)
    finally:
        for process in reversed(run.started):
            run.stop(process)
        if len(sys.argv) == 3:
            shutil.rmtree(directory)
