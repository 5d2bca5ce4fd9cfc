#!/usr/bin/env python3
"""Runs `pleat run --json` on a pseudo terminal as a person would, and answers every question alike. Stdlib only.

  python3 answer.py KIND OUTPUT COMMAND [ARGUMENT...]

A question comes as a line of JSON ({"asks": {"options": [...]}}); the number of its first option of KIND (ACP's
`allow_once`, `reject_once`) is typed, or of one that begins alike. The lines are kept in OUTPUT, what the terminal showed
is printed. Exits as the command did.
"""
import json, os, pty, sys, threading, time

# A person reads first: what is typed before a question stands there is no answer to it.
READING_S = 1


def number(options, kind):
    kinds = [option.get("kind") or "" for option in options]
    alike = [k for k in kinds if k == kind] or [k for k in kinds if k.startswith(kind.split("_")[0])]
    return kinds.index(alike[0]) + 1 if alike else None


def main():
    kind, output, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    lines, write = os.pipe()
    pid, terminal = pty.fork()
    if pid == 0:
        os.dup2(write, 1)
        os.execvp(command[0], command)
    os.close(write)
    shown = threading.Thread(target=show, args=(terminal,), daemon=True)
    shown.start()
    with open(output, "w") as kept, os.fdopen(lines) as source:
        for line in source:
            kept.write(line)
            kept.flush()
            asks = json.loads(line).get("asks") or {}
            answer = number(asks.get("options") or [], kind)
            if answer:
                time.sleep(READING_S)
                os.write(terminal, f"{answer}\n".encode())
    status = os.waitpid(pid, 0)[1]
    shown.join(1)
    sys.exit(os.waitstatus_to_exitcode(status) % 256)


def show(terminal):
    try:
        while text := os.read(terminal, 65536):
            sys.stdout.buffer.write(text)
            sys.stdout.buffer.flush()
    except OSError:
        pass  # The terminal's other end is closed.


if __name__ == "__main__":
    main()
