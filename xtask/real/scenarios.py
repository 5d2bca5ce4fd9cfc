"""Scenario scripts for fake_model.py. Steps use abstract tools; PROFILES maps them to one agent's real tool names and arguments.

Paths: agent PROFILE runs in the folder $PLEAT_REAL_WORKSPACE (a fresh copy of workspace/), so absolute paths, which most
tools demand, are known here.
"""
import os

WORKSPACE = os.environ.get("PLEAT_REAL_WORKSPACE", os.getcwd())

SCENARIOS = {
    "tools": [
        {"text": "I'll read the calculator first.", "tools": [("read", "src/calc.py")]},
        {"text": "Now I'll look for every function and read the tests at the same time.", "tools": [("search", "def "), ("read", "tests/test_calc.py")]},
        {"text": "`sub` looks wrong. I'll run the tests to see.", "tools": [("run", "python3 -m unittest discover -s tests 2>&1 | tail -5")]},
        {"text": "As expected, one fails. Fixing `sub`:", "tools": [("edit", ("src/calc.py", "    return a + b  # BUG: should subtract", "    return a - b"))]},
        {"text": "And a new file with the notes.", "tools": [("write", ("NOTES.md", "# Notes\n\nFixed `sub`.\n"))]},
        {"text": "Checking again.", "tools": [("runask", "python3 -m unittest discover -s tests 2>&1 | tail -3")]},
        {"text": "All tests pass now. I fixed `sub` in `src/calc.py`."}],
    "perm": [
        {"text": "I need to run a command that wants permission.", "tools": [("runask", "touch made-by-agent.txt && ls")]},
        {"text": "Now an edit.", "tools": [("edit", ("src/calc.py", "    return a + b  # BUG: should subtract", "    return a - b"))]},
        {"text": "Finished with the permission round."}],
    "cancel": [
        {"text": "Starting something slow.", "tools": [("run", "python3 -u -c \"import time; [(print('tick', i), time.sleep(1)) for i in range(40)]\"")]},
        {"text": "This line should not appear after a cancel."}],
    "err500": [
        {"text": "Reading, then the model's service fails.", "tools": [("read", "src/calc.py")]},
        {"error": 500, "times": 100},
        {"text": "unreachable"}],
}


def _abs(p):
    return f"{WORKSPACE}/{p}"


def claude(kind, a):
    kind = {"runask": "run"}.get(kind, kind)
    return {
        "read": lambda: ("Read", {"file_path": _abs(a)}), "search": lambda: ("Bash", {"command": f"grep -rn '{a}' src", "description": "Search for " + a}),
        "run": lambda: ("Bash", {"command": a, "description": "Run a command"}),
        "edit": lambda: ("Edit", {"file_path": _abs(a[0]), "old_string": a[1], "new_string": a[2]}),
        "write": lambda: ("Write", {"file_path": _abs(a[0]), "content": a[1]})}[kind]()


def gemini(kind, a):
    kind = {"runask": "run"}.get(kind, kind)
    return {
        "read": lambda: ("read_file", {"file_path": _abs(a)}), "search": lambda: ("grep_search", {"pattern": a}),
        "run": lambda: ("run_shell_command", {"command": a, "description": "Run a command"}),
        "edit": lambda: ("replace", {"file_path": _abs(a[0]), "old_string": a[1], "new_string": a[2], "instruction": "Fix it"}),
        "write": lambda: ("write_file", {"file_path": _abs(a[0]), "content": a[1]})}[kind]()


def codex(kind, a):
    sh = lambda c: ("exec_command", {"cmd": c, "yield_time_ms": 30000})
    patch = lambda body: ("apply_patch", "*** Begin Patch\n" + body + "*** End Patch\n")
    return {
        "read": lambda: sh(f"cat {a}"), "search": lambda: sh(f"grep -rn '{a}' src"), "run": lambda: sh(a),
        "edit": lambda: patch(f"*** Update File: {a[0]}\n@@\n-{a[1]}\n+{a[2]}\n"),
        "write": lambda: patch(f"*** Add File: {a[0]}\n" + "".join(f"+{l}\n" for l in a[1].splitlines())),
        "runask": lambda: ("exec_command", {"cmd": a, "sandbox_permissions": "require_escalated", "justification": "The test asks for it"})}[kind]()


PROFILES = {"claude": claude, "codex": codex, "gemini": gemini}


def build(name, profile):
    """The steps of scenario NAME with PROFILE's own tool names; None if there is no such scenario."""
    steps = SCENARIOS.get(name)
    if steps is None:
        return None
    fn = PROFILES[profile]
    return [{**s, **({"tools": [fn(k, a) for k, a in s["tools"]]} if "tools" in s else {})} for s in steps]
