"""An agent that plays what a test puts after these lines. It notes its pid and every line that it hears."""

import json
import os
import sys

SESSION = f"agent-session-{os.getpid()}"


def note(name, line):
    with open(name, "a") as file:
        file.write(line + "\n")


note("pids", str(os.getpid()))


def show(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def say(message):
    show(json.dumps({"jsonrpc": "2.0", **message}) + "\n")


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    note("heard", line.rstrip("\n"))
    return json.loads(line)


def hear_method(method):
    while True:
        message = hear()
        if message.get("method") == method:
            return message


def hear_prompt():
    return hear_method("session/prompt")


def hear_answer(id):
    while True:
        message = hear()
        if "method" not in message and message.get("id") == id:
            return message


def reply(request, result):
    say({"id": request["id"], "result": result})


def refuse(request, code, message):
    say({"id": request["id"], "error": {"code": code, "message": message}})


def begin(version=1, **more):
    reply(hear_method("initialize"), {"protocolVersion": version, "agentCapabilities": {}, **more})


def open_session():
    begin()
    reply(hear_method("session/new"), {"sessionId": SESSION})


def finish(prompt, reason="end_turn"):
    reply(prompt, {"stopReason": reason})


def update(what, **fields):
    say({"method": "session/update", "params": {"sessionId": SESSION, "update": {"sessionUpdate": what, **fields}}})


def text(words):
    update("agent_message_chunk", content={"type": "text", "text": words})


def call(id, **fields):
    update("tool_call", toolCallId=id, **{"title": id, "kind": "edit", "status": "pending", **fields})


def call_update(id, **fields):
    update("tool_call_update", toolCallId=id, **fields)


OPTIONS = [
    {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
    {"optionId": "no", "name": "Reject", "kind": "reject_once"},
]


def ask(request, call, options=OPTIONS):
    params = {"sessionId": SESSION, "toolCall": {"toolCallId": call}, "options": options}
    say({"id": request, "method": "session/request_permission", "params": params})


def wait_at(gate):
    """Waits until the test opens this gate (a FIFO)."""
    open(gate).read()
