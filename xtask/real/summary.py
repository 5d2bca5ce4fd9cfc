#!/usr/bin/env python3
"""Reads a transcript document on stdin and prints how its last turn ended, its calls by state and the answers to permission
requests, separated by tabs. Stdlib only."""
import json, sys
from collections import Counter


def listed(words):
    return ", ".join(f"{n} {word}" for word, n in Counter(words).items()) or "-"


def answer(permission):
    if permission.get("state") != "answered":
        return permission.get("state") or "?"
    chosen = next((o for o in permission.get("options") or [] if o.get("optionId") == permission.get("chosen")), {})
    return f"{chosen.get('kind') or permission.get('chosen')} by {permission.get('by') or '?'}"


document = json.load(sys.stdin)
turns = (document.get("session") or {}).get("turns") or [{}]
ended = " ".join(word for word in (turns[-1].get("state"), f"({turns[-1]['stop_reason']})" if turns[-1].get("stop_reason") else "") if word)
parts = [part for message in document.get("messages") or [] for part in message.get("parts") or []]
calls = [part["call"] for part in parts if part.get("type") == "call"]
permissions = [call["permission"] for call in calls if call.get("permission")]
print(ended or "-", listed(call["state"] for call in calls), listed(map(answer, permissions)), sep="\t")
