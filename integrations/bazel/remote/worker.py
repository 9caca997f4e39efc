"""A worker for tests of remote execution: runs the actions that a BuildGrid server leases.

    worker.py ADDRESS NAME DIRECTORY

It has no sandbox, keeps nothing between actions, and trusts the server. DIRECTORY/NAME.log
gets one line for each action: the output that the action is for, and its start and end.
"""

import os
import shutil
import subprocess
import sys
import time

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as rex
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc
from buildgrid.server.client.cas import download, upload

PENDING, ACTIVE, COMPLETED = bots_pb2.PENDING, bots_pb2.ACTIVE, bots_pb2.COMPLETED


def execute(channel, payload, directory):
    """Returns the result of an action that runs in an empty directory, and its first output."""
    with download(channel, instance="") as cas:
        digest, action = rex.Digest(), rex.Action()
        if not payload.Unpack(action):
            payload.Unpack(digest)
            action = cas.get_message(digest, rex.Action())
        command = cas.get_message(action.command_digest, rex.Command())
        shutil.rmtree(directory, ignore_errors=True)
        os.makedirs(directory)
        cas.download_directory(action.input_root_digest, directory)
    outputs = list(command.output_files) or list(command.output_paths)
    here = os.path.join(directory, command.working_directory)
    for name in outputs:
        os.makedirs(os.path.dirname(os.path.join(here, name)), exist_ok=True)
    env = {v.name: v.value for v in command.environment_variables}
    done = subprocess.run(list(command.arguments), cwd=here, env=env, capture_output=True)
    result = rex.ActionResult(exit_code=done.returncode, stdout_raw=done.stdout, stderr_raw=done.stderr)
    with upload(channel, instance="") as cas:
        for name in outputs:
            path = os.path.join(here, name)
            if os.path.isfile(path):
                result.output_files.add(path=name, digest=cas.upload_file(path, queue=False), is_executable=os.access(path, os.X_OK))
    return result, outputs[0] if outputs else ""


def main(address, name, directory):
    channel = grpc.insecure_channel(address)
    bots = bots_pb2_grpc.BotsStub(channel)
    session = bots_pb2.BotSession(bot_id=name, status=bots_pb2.OK)
    device = session.worker.devices.add(handle=name)
    device.properties.add(key="OSFamily", value="linux")
    session = bots.CreateBotSession(bots_pb2.CreateBotSessionRequest(parent="", bot_session=session), timeout=10)
    with open(os.path.join(directory, name + ".log"), "w", buffering=1) as log:
        while True:
            # The server answers when it has an action, or shortly before the timeout.
            update = bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session)
            session = bots.UpdateBotSession(update, timeout=20)
            for lease in session.leases:
                if lease.state == PENDING:
                    lease.state = ACTIVE
                elif lease.state == ACTIVE:
                    start = time.time()
                    result, output = execute(channel, lease.payload, os.path.join(directory, name))
                    lease.result.Pack(result)
                    lease.state = COMPLETED
                    print("%.3f %.3f %s" % (start, time.time(), output), file=log)


try:
    main(*sys.argv[1:])
except KeyboardInterrupt:
    pass
