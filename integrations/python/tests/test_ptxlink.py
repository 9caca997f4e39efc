import concurrent.futures
import multiprocessing
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import ptxlink

EXAMPLE = pathlib.Path(os.environ["PTXLINK_EXAMPLE"])
MAIN = (EXAMPLE / "main.ptx").read_text()
LIB = (EXAMPLE / "lib.ptx").read_bytes()


def both(_=None):
    return ptxlink.link([("main.ptx", MAIN), ("lib.ptx", LIB)]).ptx


class Link(unittest.TestCase):
    def test_result(self):
        r = ptxlink.link([("main.ptx", MAIN)], libraries=[EXAMPLE / "lib.ptx"])
        self.assertIn(b".visible .entry k_main", r.ptx)
        self.assertEqual([s["name"] for s in r.symbols if s["kind"] == "entry"], ["k_main"])
        self.assertEqual((r.messages, r.cubin), ((), b""))
        text = r.ptx.decode().split("\n")
        files = {"main.ptx": MAIN.split("\n"), str(EXAMPLE / "lib.ptx"): LIB.decode().split("\n")}
        same = [text[i] == files[at[0]][at[1] - 1] for i, at in enumerate(r.lines) if at]
        self.assertGreater(sum(same), 30)

    def test_error(self):
        with self.assertRaises(ptxlink.LinkError) as raised:
            ptxlink.link([("main.ptx", MAIN)])
        e = pickle.loads(pickle.dumps(raised.exception))
        self.assertIn("main.ptx:35:17: error: undefined symbol: scale", str(e))
        self.assertEqual((e.code, [m.id for m in e.messages]), (1, ["undefined-symbol"] * 2))
        self.assertEqual((e.messages[0].places[0].line, e.messages[0].symbol), (35, "scale"))

    def test_options(self):
        self.assertIn(b".extern .func", ptxlink.link([("main.ptx", MAIN)], options=["--allow-undefined=*"]).ptx)
        self.assertNotIn(b"call", ptxlink.link([("main.ptx", MAIN), ("lib.ptx", LIB)], optimize=1).ptx)
        with self.assertRaisesRegex(ptxlink.LinkError, "unknown option"):
            ptxlink.link([("main.ptx", MAIN)], options=["--no-such-option"])
        with self.assertRaises(ValueError):
            ptxlink.link([("main.ptx", MAIN)], output="elf")

    def test_types(self):
        one = [("main.ptx", MAIN)]
        for wrong, call in (
            ("inputs is a list such as", lambda: ptxlink.link(MAIN)),
            ("inputs is a list such as", lambda: ptxlink.link("lib.ptx")),
            ("inputs is a list such as", lambda: ptxlink.link(pathlib.Path("lib.ptx"))),
            ("inputs is a list such as", lambda: ptxlink.link({"main.ptx": MAIN})),
            ("inputs is a list such as", lambda: ptxlink.link(None)),
            ("is text: pass", lambda: ptxlink.link([MAIN])),
            ("is text: pass", lambda: ptxlink.link([".version 7.0 .target sm_80 .entry k() { ret; }"])),
            ("is text: pass", lambda: ptxlink.link(("main.ptx", MAIN))),
            ("an input is a path or a tuple such as", lambda: ptxlink.link([LIB])),
            ("an input is a path or a tuple such as", lambda: ptxlink.link([["lib.ptx", LIB]])),
            ("the content of 'main.ptx' is a str or bytes, not 3", lambda: ptxlink.link([("main.ptx", 3)])),
            ("a file in memory is a tuple of a str", lambda: ptxlink.link([(pathlib.Path("main.ptx"), MAIN)])),
            ("a file in memory is a tuple of a str", lambda: ptxlink.link([("main.ptx", MAIN, "")])),
            ("libraries is a list such as", lambda: ptxlink.link(one, libraries="lib.ptx")),
            ("options is a list such as", lambda: ptxlink.link(one, options="--verbose")),
            ("options is a list of str such as", lambda: ptxlink.link(one, options=["-O", 1])),
            (r'arch is a str such as "sm_80", not \(8, 0\)', lambda: ptxlink.link(one, arch=(8, 0))),
            ("optimize is an int from 0 to 2, not '1'", lambda: ptxlink.link(one, optimize="1")),
            ("args is a list such as", lambda: ptxlink.run("nm")),
            ("args is a list of str such as", lambda: ptxlink.run(["nm", pathlib.Path("lib.ptx")])),
            ("files is a list such as", lambda: ptxlink.run(["nm"], {"lib.ptx": LIB})),
            ("the content of 'lib.ptx' is a str or bytes, not None", lambda: ptxlink.run(["nm"], [("lib.ptx", None)])),
            ("outputs is a list such as", lambda: ptxlink.run(["nm"], outputs="out.ptx")),
        ):
            with self.assertRaisesRegex(TypeError, wrong):
                call()
        with self.assertRaisesRegex(ptxlink.Error, "at most 16777216 are allowed"):
            ptxlink.link(one, options=["--export=" + "x" * (16 << 20)])
        self.assertEqual(ptxlink.link([("main.ptx", bytearray(MAIN.encode())), ("lib.ptx", memoryview(LIB))]).ptx, both())

    def test_version(self):
        self.assertRegex(ptxlink.__version__, r"^\d+\.\d+\.\d+")
        with self.assertRaises(AttributeError):
            ptxlink.version

    def test_same_name(self):
        r = ptxlink.link([("kernel.ptx", MAIN), ("kernel.ptx", LIB)])
        self.assertEqual({at[0] for at in r.lines if at}, {"kernel.ptx", "kernel.ptx#2"})

    def test_run(self):
        a = ptxlink.run(["nm", "lib.ptx"], [("lib.ptx", LIB)])
        self.assertEqual(a["code"], 0)
        self.assertIn(b"scale", a["stdout"])

    @unittest.skipUnless("PTXLINK_PTXAS" in os.environ, "no ptxas")
    def test_cubin(self):
        ptxas = os.environ["PTXLINK_PTXAS"]
        r = ptxlink.link([("main.ptx", MAIN), ("lib.ptx", LIB)], output="cubin", arch="sm_80", options=["--ptxas=" + ptxas])
        self.assertEqual((r.cubin[:4], r.ptx, r.lines), (b"\x7fELF", b"", ()))
        with tempfile.NamedTemporaryFile(suffix=".cubin") as f:
            subprocess.run([ptxas, "-c", "-arch=sm_80", EXAMPLE / "lib.ptx", "-o", f.name], check=True)
            machine_code = f.read()
        r = ptxlink.link([("main.ptx", MAIN), ("lib.cubin", machine_code)], output="cubin", arch="sm_80", options=["--ptxas=" + ptxas])
        self.assertIn(b"clamp", r.cubin)

    def test_nothing_written(self):
        self.assertFalse(os.path.exists("ptxlink-output.ptx") or os.path.exists("ptxlink-map.json"))


class Process(unittest.TestCase):
    def test_threads(self):
        want = both()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            self.assertEqual(set(pool.map(both, range(300))), {want})

    def test_memory(self):
        def resident():
            with open(f"/proc/{ptxlink._server().process.pid}/statm") as f:
                return int(f.read().split()[1]) * 4096

        for _ in range(500):
            both()
        before = resident()
        for _ in range(int(os.environ.get("PTXLINK_LINKS", 1500))):
            both()
        self.assertLess(resident(), before + (16 << 20))

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_fork(self):
        want = both()
        busy = threading.Thread(target=lambda: [both() for _ in range(200)])
        busy.start()  # the child gets its locks in any state
        children = []
        for _ in range(10):
            child = os.fork()
            if child == 0:
                os._exit(0 if both() == want else 1)
            children.append(child)
        self.assertEqual([os.waitpid(c, 0)[1] for c in children], [0] * 10)
        busy.join()
        self.assertEqual(both(), want)

    def test_multiprocessing(self):
        want = both()
        for method in multiprocessing.get_all_start_methods():
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(both, range(8)), [want] * 8, method)

    def test_restart(self):
        want = both()
        server = ptxlink._server()
        server.process.kill()
        server.process.wait()
        while not server.dead:
            time.sleep(0.01)
        self.assertEqual(both(), want)

    def test_ends_with_parent(self):
        code = "import ptxlink; print(ptxlink._server().process.pid, flush=True)"
        pid = int(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True).stdout)
        while True:
            try:
                os.kill(pid, 0)
                if "State:\tZ" in pathlib.Path(f"/proc/{pid}/status").read_text():
                    return
            except (ProcessLookupError, FileNotFoundError):
                return
            time.sleep(0.01)

    @unittest.skipUnless(hasattr(os, "mkfifo"), "no pipes")
    def test_interrupt(self):
        """Ctrl-C ends a link that waits, and the next one works."""
        fifo = f"fifo-{os.getpid()}.ptx"
        os.mkfifo(fifo)
        self.addCleanup(os.unlink, fifo)
        ends = []

        def interrupt():
            ends.append(open(fifo, "w"))  # the link has opened it, and waits for text
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            ptxlink.link([fifo])
        both()
        ends[0].close()


    @unittest.skipUnless(hasattr(signal, "SIGSTOP"), "no SIGSTOP")
    def test_interrupt_while_sending(self):
        """Ctrl-C leaves no half request, which would take what follows for its other half."""
        want, server = both(), ptxlink._server()
        os.kill(server.process.pid, signal.SIGSTOP)  # the pipe fills

        def interrupt():
            while select.select([], [server.process.stdin], [], 0)[1]:  # there is room in the pipe
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        try:
            with self.assertRaises(KeyboardInterrupt):
                ptxlink.link([("large.ptx", b" " * (8 << 20))])
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        self.assertEqual(both(), want)
        self.assertIs(ptxlink._server(), server)


if __name__ == "__main__":
    unittest.main()
