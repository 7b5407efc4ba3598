"""faultfs.py - the mount for tests: start it, give it commands, read its truth log, end it."""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

START_S = 30


def reason_to_skip(binary):
    """Why this machine cannot mount it, or None."""
    if not os.path.exists(binary):
        return "faultfs was not built (libfuse3-dev from 3.12 on is not here)"
    if os.geteuid() != 0:
        return "not root: no file system can be mounted"
    if not os.path.exists("/dev/fuse"):
        return "there is no /dev/fuse"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse: {error.strerror}"
    return None


def skip_unless_possible(binary):
    reason = reason_to_skip(binary)
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)


class Refused(Exception):
    """A command was answered with an error."""


class Mount:
    """`with Mount(binary) as m:` - m.dir is the mount point, m.backing the directory below it."""

    def __init__(self, binary, align=512, volatile=False, where=None, memory=True):
        self.binary, self.align, self.volatile = binary, align, volatile
        place = where or ("/dev/shm" if memory and os.path.isdir("/dev/shm") else None)
        self.work = tempfile.mkdtemp(prefix="faultfs-", dir=place)
        self.dir = os.path.join(self.work, "mount")
        self.backing = os.path.join(self.work, "backing")
        self.daemon = self.line = self.answers = None

    def __enter__(self):
        os.mkdir(self.dir)
        os.mkdir(self.backing)
        path = os.path.join(self.work, "socket")
        command = [self.binary, "--socket", path, "--align", str(self.align)]
        command += ["--volatile"] if self.volatile else []
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(self.close)
            self.daemon = subprocess.Popen(command + [self.backing, self.dir],
                                           stdout=subprocess.PIPE, text=True)
            self.wait_mounted()
            self.line = socket.socket(socket.AF_UNIX)
            self.line.connect(path)
            self.answers = self.line.makefile()
            on_failure.pop_all()
        return self

    def wait_mounted(self):
        end = time.monotonic() + START_S
        while not os.path.ismount(self.dir):
            if self.daemon.poll() is not None or time.monotonic() > end:
                raise RuntimeError("faultfs did not mount")
            time.sleep(0.01)

    def __exit__(self, *unused):
        self.close()

    def close(self):
        """Unmounts; a process that ended a moment ago may still hold the mount."""
        if self.line:
            self.answers.close()
            self.line.close()
            self.line = None
        for _ in range(100):
            if not os.path.ismount(self.dir) and not self.dead():
                break
            done = subprocess.run(["umount", self.dir], capture_output=True, check=False)
            if done.returncode == 0:
                break
            time.sleep(0.05)
        else:
            subprocess.run(["umount", "-l", self.dir], capture_output=True, check=False)
        self.status = None
        if self.daemon:
            try:
                self.status = self.daemon.wait(START_S)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
                self.daemon.wait()
            self.daemon.stdout.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def dead(self):
        """Is the mount point one whose daemon is gone?"""
        try:
            os.stat(self.dir)
        except OSError:
            return True
        return False

    def kill(self):
        self.daemon.send_signal(signal.SIGKILL)
        self.daemon.wait()

    def tell(self, command):
        """The answer without its `ok`."""
        self.line.sendall((command + "\n").encode())
        answer = self.answers.readline().strip()
        word, _, rest = answer.partition(" ")
        if word != "ok":
            raise Refused(f"{command}: {answer}")
        return rest

    def add(self, ops, kind, glob="*", low=0, high="end", nth=1, count=1, **keys):
        """The number of a new rule."""
        words = [f"{key}={value}" for key, value in keys.items()]
        return int(self.tell(" ".join(["add", ops, kind, glob, str(low), str(high), str(nth),
                                       str(count)] + words)))

    def rules(self):
        """{rule: (fired, matched)}"""
        pairs = (word.split(":") for word in self.tell("rules").split())
        return {int(rule): tuple(map(int, counts.split("/"))) for rule, counts in pairs}

    def stat(self):
        return {key: int(value) for key, value in
                (word.split("=") for word in self.tell("stat").split())}

    def truth(self):
        path = os.path.join(self.work, "truth")
        self.tell("truth " + path)
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def path(self, name):
        return os.path.join(self.dir, name)
