#!/usr/bin/env python3
"""Scripted fake model server: OpenAI responses, Anthropic messages, Gemini. Stdlib only, loopback only.

  python3 fake_model.py --log requests.jsonl [--port 8799] [--delay-ms 8]

Prints the port, by default a free one, and ends with its stdin.

Base URLs (PROFILE picks the tool-name mapping in scenarios.py):
  OpenAI     http://127.0.0.1:PORT/PROFILE/v1          (/responses, /models)
  Anthropic  http://127.0.0.1:PORT/PROFILE             (/v1/messages, /v1/messages/count_tokens)
  Gemini     http://127.0.0.1:PORT/PROFILE             (/v1beta/models/M:streamGenerateContent, ...)

Scripting: the LAST user text that holds a marker  [[fake:NAME]]  or  [[fake:NAME:NONCE]]  picks scenario NAME;
the number of model replies after it picks the step, so the server keeps no conversation state (a restarted agent,
a resumed session and a sub-agent all work). A request that offers no tools is an auxiliary call (title, topic,
next-speaker): it gets a short canned text, or JSON filled in from the schema it asks for.
A step: {"think": str, "text": str, "tools": [(abstract_name, args), ...], "error": status, "times": n,
         "drop": true (close mid-stream), "hang_s": n}
"""
import argparse, json, os, re, sys, threading, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlparse
import scenarios

MARK = re.compile(r"\[\[fake:([a-z0-9_-]+)(?::([a-z0-9_-]+))?\]\]")
ARGS = None
ERRORS = {}
LOCK = threading.Lock()


def texts(content):
    """Plain text of a message's content, without tool results."""
    if isinstance(content, str):
        return content
    out = []
    for b in content or []:
        if isinstance(b, str):
            out.append(b)
        elif isinstance(b, dict) and b.get("type") in (None, "text", "input_text") and isinstance(b.get("text"), str):
            out.append(b["text"])
    return "\n".join(out)


def turns(items):
    """items: [(role, text)], role 'user' | 'model' | 'tool'. Returns (marker match, model replies after it)."""
    hit, n, prev = None, 0, None
    for role, text in items:
        if role == "user":
            found = list(MARK.finditer(text or ""))
            if found:
                hit, n = found[-1], 0
        if role == "model" and prev != "model":
            n += 1
        prev = role
    return hit, n


def from_anthropic(b):
    out = []
    for m in b.get("messages", []):
        role = "model" if m["role"] == "assistant" else "user"
        out.append((role, texts(m.get("content"))))
    return out, bool(b.get("tools")), None


def from_responses(b):
    inp, out = b.get("input"), []
    if isinstance(inp, str):
        inp = [{"type": "message", "role": "user", "content": inp}]
    for m in inp or []:
        t = m.get("type", "message")
        if t == "message":
            r = m.get("role")
            if r in ("system", "developer"):
                continue
            out.append(("model" if r == "assistant" else "user", texts(m.get("content")) if r == "user" else ""))
        elif t.endswith("_output"):
            out.append(("tool", ""))
        else:
            out.append(("model", ""))
    fmt = (b.get("text") or {}).get("format") or {}
    return out, bool(b.get("tools")), fmt.get("schema")


def from_gemini(b):
    out = []
    for c in b.get("contents", []):
        parts = c.get("parts", [])
        if c.get("role") == "model":
            out.append(("model", ""))
        elif any("functionResponse" in p for p in parts):
            out.append(("tool", ""))
        else:
            out.append(("user", "\n".join(p.get("text", "") for p in parts)))
    g = b.get("generationConfig") or {}
    return out, bool(b.get("tools")), g.get("responseJsonSchema") or g.get("responseSchema")


def fill(s):
    """Smallest value that fits a JSON schema."""
    if not isinstance(s, dict):
        return None
    if "enum" in s:
        return s["enum"][0]
    if "const" in s:
        return s["const"]
    t = str(s.get("type", "object")).lower()
    if t == "object":
        return {k: fill(v) for k, v in (s.get("properties") or {}).items()}
    return {"string": "Fake title", "integer": 1, "number": 1, "boolean": False, "array": []}.get(t)


def pick(profile, parsed):
    items, has_tools, schema = parsed
    if not has_tools:
        return {"text": json.dumps(fill(schema)) if schema else "Fake session title"}, "aux"
    hit, n = turns(items)
    if not hit:
        return {"text": "No scenario marker in the prompt."}, "none"
    steps = scenarios.build(hit.group(1), profile)
    if steps is None:
        return {"text": f"Unknown scenario {hit.group(1)}."}, hit.group(0)
    step = dict(steps[n]) if n < len(steps) else {"text": "Done (past the end of the script)."}
    if step.get("error"):
        key = (profile, hit.group(0), n)
        with LOCK:
            ERRORS[key] = ERRORS.get(key, 0) + 1
            if ERRORS[key] > step.get("times", 10 ** 6):
                step.pop("error")
    return step, f"{hit.group(0)}#{n}"


def pieces(s, size):
    return [s[i:i + size] for i in range(0, len(s), size)] or [""]


def words(s):
    return re.findall(r"\S+\s*|\s+", s) or [""]


def calls(step, tag):
    return [("call_" + uuid.uuid4().hex[:20], name, args) for name, args in step.get("tools", [])]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def note(self, **kw):
        with LOCK:
            with open(ARGS.log, "a") as f:
                f.write(json.dumps({"t": round(time.time(), 3), **kw}) + "\n")

    def reply(self, code, obj, headers=()):
        raw = json.dumps(obj).encode()
        self.send_response(code)
        for k, v in (("content-type", "application/json"), ("content-length", str(len(raw))), *headers):
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(raw)

    def open_sse(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def sse(self, obj, event=None):
        s = (f"event: {event}\n" if event else "") + "data: " + (obj if isinstance(obj, str) else json.dumps(obj)) + "\n\n"
        raw = s.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(raw), raw))
        self.wfile.flush()
        time.sleep(ARGS.delay_ms / 1000)

    def close_sse(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def do_HEAD(self):
        self.send_response(200); self.send_header("content-length", "0"); self.end_headers()

    def do_GET(self):
        path = urlparse(self.path).path
        self.note(method="GET", path=self.path)
        if path.endswith("/models"):
            ids = ["fake-model", "claude-sonnet-4-5", "gemini-2.5-pro"]
            return self.reply(200, {"object": "list", "data": [
                {"id": i, "object": "model", "type": "model", "display_name": i, "created": 1, "created_at": "2025-01-01T00:00:00Z", "owned_by": "pleat"} for i in ids],
                "has_more": False, "models": []})
        self.reply(404, {"error": {"type": "not_found_error", "message": "fake server: no " + path}})

    def do_POST(self):
        path = urlparse(self.path).path
        te = (self.headers.get("transfer-encoding") or "").lower()
        raw = b""
        if "chunked" in te:
            while True:
                n = int(self.rfile.readline().split(b";")[0], 16)
                raw += self.rfile.read(n); self.rfile.readline()
                if n == 0: break
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "zstd":
            return self.reply(415, {"error": {"message": "no zstd here"}})
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        profile = path.strip("/").split("/")[0]
        kinds = [("/v1/messages/count_tokens", None, "count"), (":countTokens", None, "gcount"), ("/messages", from_anthropic, "anthropic"),
                 ("/responses", from_responses, "responses"),
                 (":streamGenerateContent", from_gemini, "gemini"), (":generateContent", from_gemini, "gemini1")]
        kind = next((k for k in kinds if path.endswith(k[0])), None)
        if not kind:
            self.note(method="POST", path=self.path, body=body, answered=404)
            return self.reply(404, {"error": {"type": "not_found_error", "message": "fake server: no " + path}})
        if kind[1] is None:
            self.note(method="POST", path=self.path, answered="count")
            return self.reply(200, {"input_tokens": 1234, "totalTokens": 1234})
        step, tag = pick(profile, kind[1](body))
        self.note(method="POST", path=self.path, tag=tag, body=body)
        if step.get("hang_s"):
            time.sleep(step["hang_s"])
        if step.get("error"):
            code = step["error"]
            typ = {429: "rate_limit_error", 400: "invalid_request_error", 529: "overloaded_error"}.get(code, "api_error")
            hdr = (("retry-after", "1"),) if code == 429 else ()
            return self.reply(code, {"type": "error", "error": {"type": typ, "code": code, "status": "INTERNAL" if code >= 500 else "RESOURCE_EXHAUSTED",
                                     "message": f"fake server says {code}"}}, hdr)
        try:
            getattr(self, "do_" + kind[2])(body, step, tag)
        except (BrokenPipeError, ConnectionResetError):
            self.note(path=self.path, tag=tag, client_went_away=True)
            self.close_connection = True

    # ---- Anthropic ----
    def do_anthropic(self, body, step, tag):
        model, mid = body.get("model", "fake"), "msg_" + uuid.uuid4().hex[:20]
        cs = calls(step, tag)
        stop = "tool_use" if cs else "end_turn"
        blocks = []
        if step.get("think"): blocks.append({"type": "thinking", "thinking": step["think"], "signature": "c2lnbmF0dXJl"})
        if step.get("text"): blocks.append({"type": "text", "text": step["text"]})
        for i, n, a in cs: blocks.append({"type": "tool_use", "id": i.replace("call_", "toolu_"), "name": n, "input": a})
        usage = {"input_tokens": 1200, "output_tokens": 80, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 40}
        msg = {"id": mid, "type": "message", "role": "assistant", "model": model, "content": blocks, "stop_reason": stop, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return self.reply(200, msg)
        self.open_sse()
        E = lambda t, **kw: self.sse({"type": t, **kw}, t)
        E("message_start", message={**msg, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}})
        for i, b in enumerate(blocks):
            if b["type"] == "thinking":
                E("content_block_start", index=i, content_block={"type": "thinking", "thinking": "", "signature": ""})
                for w in words(b["thinking"]): E("content_block_delta", index=i, delta={"type": "thinking_delta", "thinking": w})
                E("content_block_delta", index=i, delta={"type": "signature_delta", "signature": b["signature"]})
            elif b["type"] == "text":
                E("content_block_start", index=i, content_block={"type": "text", "text": ""})
                for k, w in enumerate(words(b["text"])):
                    E("content_block_delta", index=i, delta={"type": "text_delta", "text": w})
                    if step.get("drop") and k == 6:
                        self.close_connection = True; self.connection.close(); return
            else:
                E("content_block_start", index=i, content_block={**b, "input": {}})
                for p in pieces(json.dumps(b["input"]), 24): E("content_block_delta", index=i, delta={"type": "input_json_delta", "partial_json": p})
            E("content_block_stop", index=i)
        E("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 80})
        E("message_stop")
        self.close_sse()

    # ---- OpenAI responses ----
    def do_responses(self, body, step, tag):
        rid, cs, items = "resp_" + uuid.uuid4().hex[:20], calls(step, tag), []
        if step.get("think"): items.append({"type": "reasoning", "id": "rs_" + uuid.uuid4().hex[:16], "summary": [{"type": "summary_text", "text": step["think"]}], "encrypted_content": "ZmFrZQ=="})
        if step.get("text"): items.append({"type": "message", "id": "msg_" + uuid.uuid4().hex[:16], "role": "assistant", "status": "completed", "phase": "commentary" if cs else "final_answer", "content": [{"type": "output_text", "text": step["text"], "annotations": []}]})
        for i, n, a in cs:
            # args given as a str: a free-form ("custom") tool such as apply_patch
            if isinstance(a, str): items.append({"type": "custom_tool_call", "id": "ctc_" + i[5:], "call_id": i, "name": n, "input": a, "status": "completed"})
            else:
                it = {"type": "function_call", "id": "fc_" + i[5:], "call_id": i, "name": n, "arguments": json.dumps(a), "status": "completed"}
                if "::" in n: it["namespace"], it["name"] = n.split("::", 1)
                items.append(it)
        usage = {"input_tokens": 1200, "input_tokens_details": {"cached_tokens": 300}, "output_tokens": 80, "output_tokens_details": {"reasoning_tokens": 20}, "total_tokens": 1280}
        resp = {"id": rid, "object": "response", "created_at": int(time.time()), "model": body.get("model", "fake"), "status": "completed", "output": items, "usage": usage}
        if not body.get("stream"):
            return self.reply(200, resp)
        self.open_sse()
        E = lambda t, **kw: self.sse({"type": t, **kw}, t)
        E("response.created", response={**resp, "status": "in_progress", "output": [], "usage": None})
        for i, it in enumerate(items):
            if it["type"] == "reasoning":
                E("response.output_item.added", output_index=i, item={**it, "summary": []})
                E("response.reasoning_summary_part.added", item_id=it["id"], output_index=i, summary_index=0, part={"type": "summary_text", "text": ""})
                for w in words(it["summary"][0]["text"]): E("response.reasoning_summary_text.delta", item_id=it["id"], output_index=i, summary_index=0, delta=w)
                E("response.reasoning_summary_text.done", item_id=it["id"], output_index=i, summary_index=0, text=it["summary"][0]["text"])
            elif it["type"] == "message":
                E("response.output_item.added", output_index=i, item={**it, "status": "in_progress", "content": []})
                E("response.content_part.added", item_id=it["id"], output_index=i, content_index=0, part={"type": "output_text", "text": "", "annotations": []})
                for k, w in enumerate(words(it["content"][0]["text"])):
                    E("response.output_text.delta", item_id=it["id"], output_index=i, content_index=0, delta=w)
                    if step.get("drop") and k == 6:
                        self.close_connection = True; self.connection.close(); return
                E("response.output_text.done", item_id=it["id"], output_index=i, content_index=0, text=it["content"][0]["text"])
            elif it["type"] == "function_call":
                E("response.output_item.added", output_index=i, item={**it, "arguments": "", "status": "in_progress"})
                for p in pieces(it["arguments"], 24): E("response.function_call_arguments.delta", item_id=it["id"], output_index=i, delta=p)
                E("response.function_call_arguments.done", item_id=it["id"], output_index=i, arguments=it["arguments"])
            else:
                E("response.output_item.added", output_index=i, item={**it, "input": "", "status": "in_progress"})
                for p in pieces(it["input"], 24): E("response.custom_tool_call_input.delta", item_id=it["id"], output_index=i, delta=p)
            E("response.output_item.done", output_index=i, item=it)
        E("response.completed", response=resp)
        self.close_sse()

    # ---- Gemini ----
    def gparts(self, step, tag):
        out = []
        if step.get("think"): out += [{"text": "**Thinking it over**\n" + step["think"], "thought": True}]
        out += [{"text": w} for w in (words(step["text"]) if step.get("text") else [])]
        out += [{"functionCall": {"id": i, "name": n, "args": a}, "thoughtSignature": "c2ln"} for i, n, a in calls(step, tag)]
        return out

    def gwrap(self, parts, fin=None):
        c = {"content": {"role": "model", "parts": parts}, "index": 0}
        if fin: c["finishReason"] = fin
        return {"candidates": [c], "modelVersion": "gemini-2.5-pro", "responseId": "fake",
                "usageMetadata": {"promptTokenCount": 1200, "candidatesTokenCount": 80, "thoughtsTokenCount": 20, "totalTokenCount": 1300, "cachedContentTokenCount": 300}}

    def do_gemini(self, body, step, tag):
        parts = self.gparts(step, tag)
        self.open_sse()
        for k, p in enumerate(parts):
            self.sse(self.gwrap([p], "STOP" if k == len(parts) - 1 else None))
            if step.get("drop") and k == 6:
                self.close_connection = True; self.connection.close(); return
        self.close_sse()

    def do_gemini1(self, body, step, tag):
        self.reply(200, self.gwrap(self.gparts(step, tag), "STOP"))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def end_with_stdin():
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--port", type=int, default=0)
    ap.add_argument("--log", default="requests.jsonl")
    ap.add_argument("--delay-ms", type=float, default=8)
    ARGS = ap.parse_args()
    server = Server(("127.0.0.1", ARGS.port), Handler)
    print(server.server_port, flush=True)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    server.serve_forever()
