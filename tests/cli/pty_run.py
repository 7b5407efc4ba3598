#!/usr/bin/env python3
"""pty_run.py - run a program on a terminal of its own and play the terminal.

  pty_run.py COLUMNS LINES OUT [--resize-to COLUMNS] [--stop-on TEXT] [--stop-twice] -- PROGRAM ..

Writes to OUT what a person would see: the lines that scrolled away and the screen, after the
program ended.  Exit code: the program's; 99 if a drawn line was wider than the terminal (other
lines may be), a colour was left on, or an unknown control sequence came.  --stop-on sends SIGINT
(as Ctrl-C does) when TEXT is on the screen.
"""
import argparse
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


class Screen:
    def __init__(self):
        self.rows, self.y, self.x = [""], 0, 0
        self.colour = False
        self.problems = []
        self.drawings = 0

    def put(self, c):
        row = self.rows[self.y]
        self.rows[self.y] = row[:self.x].ljust(self.x) + c + row[self.x + 1:]
        self.x += 1

    def reflow(self, columns):
        """What a terminal does with its lines when it becomes narrower."""
        rows, y = [], 0
        for i, row in enumerate(self.rows):
            y = len(rows) if i == self.y else y
            rows += [row[at:at + columns] for at in range(0, max(len(row), 1), columns)]
        self.rows, self.y = rows, y

    def newline(self):
        self.y += 1
        if self.y == len(self.rows):
            self.rows.append("")

    def control(self, arguments, kind):
        number = int(arguments or 0)
        if kind == "A":
            self.y = max(self.y - number, 0)
            self.drawings += 1
        elif kind == "J" and number == 0:
            self.rows[self.y] = self.rows[self.y][:self.x]
            del self.rows[self.y + 1:]
        elif kind == "K" and number == 2:
            self.rows[self.y] = ""
        elif kind == "m":
            self.colour = arguments not in ("", "0")
        else:
            self.problems.append("unknown control sequence: " + arguments + kind)

    def feed(self, text):
        """Returns what is incomplete."""
        while text:
            if text[0] == "\033":
                match = re.match(r"\033\[([0-9;]*)([A-Za-z])", text)
                if not match:
                    return text
                arguments = match.group(1)
                if match.group(2) == "m":
                    self.colour = arguments not in ("", "0")
                else:
                    self.control(arguments, match.group(2))
                text = text[match.end():]
                continue
            if text[0] == "\r":
                self.x = 0
            elif text[0] == "\n":
                self.newline()
            elif text[0] >= " ":
                self.put(text[0])
            text = text[1:]
        return ""

    def text(self):
        return "\n".join(self.rows)


def set_size(fd, lines, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


class Player:
    """Plays what the program writes on the screen."""

    def __init__(self, fd, width):
        self.fd, self.width, self.screen = fd, width, Screen()
        self.rest, self.pending, self.wrapped = b"", "", []

    def waits(self, seconds):
        return bool(select.select([self.fd], [], [], seconds)[0])

    def play(self, seconds):
        """False: the program has ended."""
        if not self.waits(seconds):
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError:
            return False
        if not data:
            return False
        self.rest += data
        try:
            self.pending += self.rest.decode()
        except UnicodeDecodeError:
            return True
        self.rest = b""
        for line in re.findall(r"\033\[2K([^\n]*)\n", self.pending):
            words = re.sub(r"\033\[[0-9;]*m", "", line).rstrip("\r")
            if len(words) > self.width:
                self.wrapped.append(words)
        self.pending = self.screen.feed(self.pending)
        return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("columns", type=int)
    parser.add_argument("lines", type=int)
    parser.add_argument("out")
    parser.add_argument("--resize-to", type=int)
    parser.add_argument("--stop-on")
    parser.add_argument("--stop-twice", action="store_true")
    split = sys.argv.index("--")
    options = parser.parse_args(sys.argv[1:split])
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[split + 1], sys.argv[split + 1:])
    set_size(fd, options.lines, options.columns)
    seen, stops, last_stop, end = "", 0, 0.0, time.monotonic() + 60
    player = Player(fd, options.columns)
    screen = player.screen
    while time.monotonic() < end:
        if not player.play(0.1):
            break
        seen = screen.text()
        if options.resize_to and screen.drawings >= 2 and player.width != options.resize_to:
            # Stopped and read out, so that no drawing for the old width comes after the change.
            os.kill(pid, signal.SIGSTOP)
            while player.waits(0.1) and player.play(0):
                pass
            player.width = options.resize_to
            set_size(fd, options.lines, player.width)
            screen.reflow(player.width)
            os.kill(pid, signal.SIGCONT)
        if options.stop_on and stops == 0 and options.stop_on in seen:
            os.kill(pid, signal.SIGINT)
            stops, last_stop = 1, time.monotonic()
        elif options.stop_twice and stops == 1 and time.monotonic() - last_stop > 1.2:
            os.kill(pid, signal.SIGINT)
            stops = 2
    else:
        os.kill(pid, signal.SIGKILL)
        screen.problems.append("it did not end")
    _, status = os.waitpid(pid, 0)
    with open(options.out, "w", encoding="utf-8") as out:
        out.write(screen.text() + "\n")
        out.write(f"drawings {screen.drawings}\n")
    if screen.colour:
        screen.problems.append("a colour was left on")
    if options.resize_to is None:
        screen.problems += ["wider than the terminal: " + line for line in player.wrapped]
    for problem in screen.problems:
        print(problem)
    sys.exit(99 if screen.problems else os.waitstatus_to_exitcode(status))


main()
