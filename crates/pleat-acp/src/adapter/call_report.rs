//! A mention of a tool call: `tool_call`, `tool_call_update`, or the `toolCall` of a permission request
//! (docs/spec/record.md, Calls).

use super::{plan_entry, text_at};
use pleat_transcript::event::{CallReport, CallStatus, TerminalOutput, TerminalReport};
use pleat_transcript::ids::AgentCallId;
use serde_json::{Value, json};

/// Reads a mention as every agent means it; `None` without an id.
pub(super) fn read(call: &Value, announced: bool) -> Option<CallReport> {
    let mut report = CallReport::new(AgentCallId(text_at(call, "toolCallId")?));
    report.announced = announced;
    let (name, server) = name_and_server(call);
    report.name = name;
    report.server = server;
    report.kind = text_at(call, "kind");
    report.title = text_at(call, "title").filter(|title| !title.trim().is_empty());
    report.status = call.get("status").and_then(Value::as_str).and_then(status);
    report.input = call.get("rawInput").filter(|input| !input.is_null()).cloned();
    report.content = call.get("content").and_then(Value::as_array).cloned();
    report.locations = call.get("locations").and_then(Value::as_array).cloned();
    report.terminal = terminal(call);
    report.raw_output = call.get("rawOutput").and_then(raw_output);
    report.plan_text = call.pointer("/rawInput/plan").and_then(Value::as_str).map(str::to_owned);
    report.todos = call.pointer("/rawInput/todos").and_then(Value::as_array).and_then(|todos| to_dos(todos));
    Some(report)
}

fn status(word: &str) -> Option<CallStatus> {
    match word {
        "pending" => Some(CallStatus::Pending),
        "in_progress" => Some(CallStatus::InProgress),
        "completed" => Some(CallStatus::Completed),
        "failed" => Some(CallStatus::Failed),
        _ => None,
    }
}

/// A to-do list, where every item is one.
fn to_dos(todos: &[Value]) -> Option<Vec<pleat_transcript::message::PlanEntry>> {
    todos.iter().map(plan_entry).collect()
}

/// The tool's name and its MCP server (docs/spec/record.md, Calls 9).
fn name_and_server(call: &Value) -> (Option<String>, Option<String>) {
    if call.pointer("/_meta/is_mcp_tool_call").and_then(Value::as_bool) == Some(true)
        && let Some(input) = call.get("rawInput")
        && let (Some(server), Some(tool)) = (text_at(input, "server"), text_at(input, "tool"))
    {
        return (Some(tool), Some(server));
    }
    let claude_name = call.pointer("/_meta/claudeCode/toolName").and_then(Value::as_str).map(str::to_owned);
    let mcp_title = || text_at(call, "title").filter(|title| title.starts_with("mcp__") && !title.contains(' '));
    match claude_name.or_else(|| text_at(call, "name")).or_else(mcp_title) {
        Some(name) => split_mcp_name(&name),
        None => (None, None),
    }
}

/// `mcp__SERVER__TOOL` splits at the first double underscore after `mcp__` (case B54).
pub(crate) fn split_mcp_name(name: &str) -> (Option<String>, Option<String>) {
    let parts = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    match parts {
        Some(("acp", tool)) if !tool.is_empty() => (Some(tool.to_owned()), None),
        Some((server, tool)) if !server.is_empty() && !tool.is_empty() => {
            (Some(tool.to_owned()), Some(server.to_owned()))
        }
        Some(_) | None => (Some(name.to_owned()), None),
    }
}

/// The agent's own terminal, told in `_meta`.
fn terminal(call: &Value) -> Option<TerminalReport> {
    let meta = call.get("_meta")?;
    let delta = |key| meta.get(key).and_then(|terminal| text_at(terminal, "data"));
    let output = delta("terminal_output_delta").or_else(|| delta("terminal_output")).map(TerminalOutput::Delta);
    let exit = meta.get("terminal_exit").and_then(exit_value);
    (output.is_some() || exit.is_some()).then_some(TerminalReport { output, exit })
}

/// How a terminal ended: its exit code, or the name of the signal.
pub(crate) fn exit_value(exit: &Value) -> Option<Value> {
    let code = exit.get("exit_code").or_else(|| exit.get("exitCode")).filter(|code| code.is_number());
    code.or_else(|| exit.get("signal").filter(|signal| signal.is_string())).cloned()
}

/// Keys under which agents put a result's text, in the order they are read.
const OUTPUT_KEYS: [&str; 6] = ["formatted_output", "aggregated_output", "output", "content", "error", "message"];

/// Content blocks made of `rawOutput`: its text where it has one, else all of it as JSON.
fn raw_output(raw: &Value) -> Option<Vec<Value>> {
    let text = match raw {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(|item| text_at(item, "text")).collect::<Vec<_>>().join("\n"),
        Value::Object(object) => {
            if object.keys().all(|key| key == "exit_code" || key == "exitCode") {
                return None;
            }
            streams(raw)
                .or_else(|| OUTPUT_KEYS.iter().find_map(|key| non_empty(raw, key)))
                .unwrap_or_else(|| pretty(raw))
        }
        Value::Bool(_) | Value::Number(_) => raw.to_string(),
    };
    (!text.is_empty()).then(|| vec![json!({"type": "content", "content": {"type": "text", "text": text}})])
}

fn streams(raw: &Value) -> Option<String> {
    let streams = [non_empty(raw, "stdout"), non_empty(raw, "stderr")];
    let said = streams.into_iter().flatten().collect::<Vec<_>>();
    (!said.is_empty()).then(|| said.join(if said[0].ends_with('\n') { "" } else { "\n" }))
}

fn non_empty(raw: &Value, key: &str) -> Option<String> {
    text_at(raw, key).filter(|text| !text.is_empty())
}

fn pretty(raw: &Value) -> String {
    serde_json::to_string_pretty(raw).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b54_mcp_names() {
        let split = |name: &str| split_mcp_name(name);
        let both = |tool: &str, server: &str| (Some(tool.to_owned()), Some(server.to_owned()));
        assert_eq!(split("mcp__osprey_workspace__submit_response"), both("submit_response", "osprey_workspace"));
        assert_eq!(split("mcp__a__b__c"), both("b__c", "a"));
        assert_eq!(split("mcp__x"), (Some("mcp__x".to_owned()), None));
        assert_eq!(split("mcp__acp__Read"), (Some("Read".to_owned()), None));
    }

    #[test]
    fn b53_raw_output_in_its_many_forms() {
        let text =
            |raw: Value| raw_output(&raw).map(|blocks| blocks[0]["content"]["text"].as_str().unwrap().to_owned());
        assert_eq!(text(json!("plain")).as_deref(), Some("plain"));
        assert_eq!(text(json!({"stdout": "ok", "exit_code": 0})).as_deref(), Some("ok"));
        assert_eq!(text(json!({"stdout": "a\n", "stderr": "b\n", "output": ""})).as_deref(), Some("a\nb\n"));
        assert_eq!(text(json!({"output": "x", "metadata": {}})).as_deref(), Some("x"));
        assert_eq!(text(json!({"exit_code": 0})), None);
        assert_eq!(text(json!({"matchCount": 2})).as_deref(), Some("{\n  \"matchCount\": 2\n}"));
    }
}
