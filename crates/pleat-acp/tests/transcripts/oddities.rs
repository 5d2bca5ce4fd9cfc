//! "What real traffic does that a client must cope with" (docs/agents.md), item by item, on a trace where one
//! shows it. Items 25, 26, 29 and 30 are about sessions' modes, line lengths, the client's own methods and start times:
//! the connection's and the host's business.

use crate::live::{Live, content};
use crate::said::Channel;
use crate::traces::Trace;
use crate::transcript::{call, calls, notices, output_text, rounds, spoken, texts, turn_states};
use pleat_transcript::call::Call;
use pleat_transcript::document::Document;
use pleat_transcript::message::{Body, Part, Plan, PlanContent, PlanEntry};
use serde_json::json;

fn transcript(name: &str) -> Document {
    Trace::of(name).document()
}

/// Title, state and output of a document's calls.
fn states(document: &Document) -> Vec<&'static str> {
    calls(document).map(|(_, call)| call.state.word()).collect()
}

fn lines(call: &Call) -> Option<(u64, u64)> {
    call.lines.map(|lines| (lines.added, lines.removed))
}

fn lists(document: &Document) -> Vec<&Vec<PlanEntry>> {
    let lists = document.messages.iter().filter_map(|message| match &message.body {
        Body::Plan(Plan { content: PlanContent::Entries(entries), .. }) => Some(entries),
        Body::Plan(_) | Body::User(_) | Body::Assistant(_) | Body::Tool(_) | Body::Notice(_) => None,
    });
    lists.collect()
}

#[test]
fn o01_updates_and_requests_before_or_instead_of_the_announcement() {
    let gemini = transcript("gemini-fail");
    assert_eq!(states(&gemini), ["completed", "failed", "failed"]);
    assert!(!call(&gemini, "exit 3").announced, "its request came first");
    // A call that fails before it begins has no title but its tool's name.
    assert_eq!(call(&transcript("gemini-exitplan-reject"), "exit_plan_mode").state.word(), "failed");
    // A sub-agent's call that is only asked about.
    let kimi = transcript("kimi-sub");
    let asked = call(&kimi, "Running: wc -l src/calc.py");
    assert_eq!(asked.parent, Some(call(&kimi, "Launching coder agent").id.clone()));
    assert!(asked.output.is_empty(), "the question is no output");
}

#[test]
fn o02_statuses_are_no_ladder() {
    assert_eq!(states(&transcript("copilot-thinking")), ["completed"], "pending, then completed");
    let opencode = transcript("opencode-perm-allow");
    assert_eq!(states(&opencode), ["completed", "completed"], "a request says `pending` after `in_progress`");
    assert_eq!(states(&transcript("codex-sub")), ["completed"], "completed in the first message");
    let replayed = Trace::of("codex-zed-kill").without_first_process().document();
    assert_eq!(states(&replayed), ["completed"; 3], "completed again after completed");
}

#[test]
fn o03_calls_that_never_end_are_closed() {
    assert_eq!(states(&transcript("kimi-cancel")), ["cancelled"]);
    assert_eq!(states(&transcript("copilot-kill")), ["completed", "completed", "interrupted"]);
    // A completed turn says nothing of them: they stay without a result.
    assert_eq!(states(&transcript("fast-agent-fail")), ["failed", "failed", "failed", "pending"]);
}

/// Rule: record Calls.4.13, record Calls.4.14
#[test]
fn o04_completed_is_not_success() {
    for name in ["claude-fail", "codex-fail", "copilot-fail", "kimi-fail", "opencode-fail", "qwen-fail"] {
        let document = transcript(name);
        let (_, exit_3) = calls(&document).next().unwrap();
        assert_eq!(exit_3.state.word(), "failed", "{name}: exit 3");
    }
    assert_eq!(call(&transcript("opencode-fail"), "Invalid Tool").state.word(), "failed");
    for name in ["claude-cancel", "gemini-cancel", "opencode-cancel", "qwen-cancel"] {
        assert_eq!(states(&transcript(name)), ["cancelled"], "{name}");
    }
}

#[test]
fn o05_silent_calls_leave_narration_beside_narration() {
    let codex = transcript("codex-fail");
    assert_eq!(calls(&codex).count(), 2, "two of four calls are shown");
    assert_eq!(
        texts(&codex, Channel::Message)[1..3],
        ["Now an edit whose old text is not there.", "Now a file that does not exist."]
    );
    let claude = transcript("claude-plan");
    assert_eq!((calls(&claude).count(), lists(&claude).len()), (3, 1), "its to-do tools show as a plan only");
}

#[test]
fn o06_sparse_updates_and_titles_that_change() {
    let claude = transcript("claude-tools");
    let read = call(&claude, "Read src/calc.py");
    assert_eq!((read.name.as_deref(), read.kind_word.as_deref()), (Some("Read"), Some("read")));
    assert!(read.input.is_some() && !read.locations.is_empty() && !read.output.is_empty());
    // fast-agent's title counts the tokens of an input while it comes, and stays so where the call never runs.
    let titles: Vec<String> =
        calls(&transcript("fast-agent-growplan")).filter_map(|(_, call)| call.title.clone()).collect();
    assert_eq!(titles, ["todo", "todo", "write_text_file"]);
}

#[test]
fn o07_input_in_pieces_is_never_output() {
    for name in ["kimi-tools", "kimi-plan", "kimi-fail", "fast-agent-growplan", "fast-agent-fail"] {
        for (_, call) in calls(&transcript(name)) {
            assert!(!output_text(call).starts_with('{'), "{name}: {call:?}");
            assert!(!output_text(call).contains("Step 2: change case 2"), "{name}: {call:?}");
        }
    }
    let streamed = transcript("fast-agent-growplan");
    assert_eq!(calls(&streamed).next().unwrap().1.state.word(), "pending", "an input that comes runs nothing");
    let claude = transcript("claude-big");
    assert!(call(&claude, "Write big.txt").input.as_ref().unwrap()["content"].as_str().unwrap().len() > 200_000);
}

#[test]
fn o08_output_in_four_ways_each_shown_once() {
    let copilot = transcript("copilot-kill");
    assert_eq!(output_text(call(&copilot, "Run a lab command")).matches("tick 2").count(), 1, "replaced as it grows");
    let codex = transcript("codex-big");
    let (_, printed) = calls(&codex).next().unwrap();
    assert_eq!(output_text(printed).len(), 1_007_390, "appended in 126 pieces");
    let claude = transcript("claude-tools");
    let found = call(&claude, "grep -rn");
    assert_eq!(found.output[0]["exit"], json!(0), "told at once in `_meta`");
    let kimi = transcript("kimi-cancel");
    let terminal = &calls(&kimi).next().unwrap().1.output;
    assert_eq!(terminal.len(), 1, "a terminal of the client's");
    assert_eq!(terminal[0]["output"], json!("tick 1\ntick 2\ntick 3\n"));
    assert_eq!(output_text(call(&transcript("claude-nocaps"), "grep -rn")).matches("def add").count(), 1);
}

#[test]
fn o08_a_question_is_no_output() {
    for name in ["gemini-fail", "gemini-perm-allow", "gemini-perm-cancelled", "kimi-sub"] {
        for (_, call) in calls(&transcript(name)) {
            let text = output_text(call);
            assert!(!text.contains("current working directory") && !text.contains("Requesting approval"), "{name}");
        }
    }
}

#[test]
fn o09_diffs_are_kept_to_the_end() {
    for (name, title, expected) in [
        ("claude-tools", "Edit src/calc.py", (1, 1)),
        ("codex-growplan", "Editing files", (144, 0)),
        ("copilot-big", "Create file", (3000, 0)),
        ("fast-agent-growplan", "write_text_file", (144, 0)),
        ("gemini-perm-allow", "BUG", (1, 1)),
        ("kimi-tools", "Editing /workspace/src/calc.py", (1, 1)),
        ("opencode-tools", "NOTES.md", (3, 0)),
        ("qwen-tools", "Writing to NOTES.md", (3, 0)),
        ("vibe-tools", "Editing src/calc.py", (1, 1)),
    ] {
        assert_eq!(lines(call(&transcript(name), title)), Some(expected), "{name}: {title}");
    }
    // And a diff that was never applied says why.
    let failed = transcript("copilot-fail");
    assert_eq!(output_text(call(&failed, "Editing")), "No match found");
}

#[test]
fn o10_ids_are_any_strings() {
    for name in ["gemini-tools", "kimi-tools", "vibe-tools", "codex-guardian-denied", "fast-agent-fail"] {
        for (_, call) in calls(&transcript(name)) {
            assert!(call.agent_id.as_ref().is_some_and(|id| !id.0.is_empty()), "{name}");
            assert!(call.id.as_str().starts_with('c'), "{name}: our own ids count");
        }
    }
}

#[test]
fn o11_mcp_tools() {
    let kimi = transcript("kimi-mcp");
    let (_, echo) = calls(&kimi).next().unwrap();
    assert_eq!((echo.server.as_deref(), echo.name.as_deref()), (Some("lab"), Some("lab_echo")));
    // Where only the title says it, nothing is guessed.
    for (name, title) in
        [("opencode-mcp", "lab_lab_echo"), ("copilot-mcp", "lab-lab_echo"), ("fast-agent-mcp", "lab/lab_echo")]
    {
        let document = transcript(name);
        assert_eq!(call(&document, title).server, None, "{name}");
    }
}

#[test]
fn o12_gauges_do_not_split_text() {
    assert_eq!(texts(&transcript("vibe-plain"), Channel::Message).len(), 1, "`usage_update` in its middle");
    assert_eq!(texts(&transcript("codex-plain"), Channel::Message).len(), 1);
    // Claude's warnings have no id and are no part of the text that follows.
    let warned = transcript("claude-automode");
    let said = texts(&warned, Channel::Message);
    let warning = said.iter().position(|text| text.starts_with("**Warning:** ")).unwrap();
    assert_eq!(said[warning + 1], "Now I'll look for every function and read the tests at the same time.");
    // Claude's thought and text share one id, and are parts of their own.
    let claude = transcript("claude-thinking");
    assert_eq!(rounds(&claude).next().unwrap().1.parts.len(), 3);
}

#[test]
fn o13_retried_streams_stay_as_they_were_sent() {
    let dropped = transcript("claude-drop");
    let halves = texts(&dropped, Channel::Message);
    assert_eq!(halves[1..5], ["This sentence is cut off by a "; 4], "paragraphs of their own");
    assert_eq!(halves[5], "dropped connection in the middle of the stream of words.");
}

#[test]
fn o14_empty_chunks() {
    for name in ["qwen-plain", "fast-agent-plain"] {
        assert_eq!(texts(&transcript(name), Channel::Message).len(), 1, "{name}");
    }
    // fast-agent's may even come in the middle of a sentence.
    assert_eq!(texts(&transcript("fast-agent-mcp"), Channel::Message)[1], "the lab's MCP tool.");
}

#[test]
fn o15_text_that_is_no_answer() {
    assert_eq!(texts(&transcript("gemini-exitplan-reject"), Channel::Message)[0], "[MODE_UPDATE] plan");
    assert!(spoken(&transcript("codex-err500"), Channel::Message).contains("currently experiencing high demand"));
    // Copilot's remarks are paragraphs of their own.
    let copilot = transcript("copilot-err500");
    let remarks = texts(&copilot, Channel::Message);
    assert_eq!(remarks[1..6], ["Info: Request failed due to a transient API error. Retrying..."; 5]);
    assert!(remarks[6].starts_with("Error: "));
    let lost = transcript("copilot-kill");
    assert_eq!(texts(&lost, Channel::Message).last(), Some(&"A short second answer."));
}

/// Rule: record Text.5.2
#[test]
fn o16_the_echo_of_a_prompt() {
    let vibe = transcript("vibe-tools");
    let users = vibe.messages.iter().filter(|message| matches!(message.body, Body::User(_)));
    assert_eq!(users.count(), 1);
}

#[test]
fn o17_a_second_prompt_while_the_first_runs() {
    for (name, expected) in [
        ("codex-midprompt", ["completed", "completed"]),
        ("copilot-midprompt", ["cancelled", "completed"]),
        ("gemini-midprompt", ["cancelled", "completed"]),
        ("kimi-midprompt", ["completed", "failed"]),
        ("opencode-midprompt", ["completed", "completed"]),
        ("qwen-midprompt", ["failed", "completed"]),
        ("vibe-midprompt", ["completed", "failed"]),
    ] {
        assert_eq!(turn_states(&transcript(name)), expected, "{name}");
    }
}

/// Rule: record Rest.3.4
#[test]
fn o18_model_failures() {
    let claude = transcript("claude-err500");
    assert_eq!(turn_states(&claude)[0], "failed");
    // It says the error as a text of its own too: told once, and marked as the end.
    assert!(texts(&claude, Channel::Message).iter().any(|text| text.contains("500")));
    assert_eq!(notices(&claude)[0].text, "The agent ended its turn with this error.");
    let gemini = transcript("gemini-err500");
    assert_eq!((turn_states(&gemini)[0], notices(&gemini).len()), ("failed", 0));
    assert!(rounds(&gemini).next().unwrap().1.error.as_ref().unwrap().contains("500"), "its last round has");
    for name in ["codex-err500", "codex-err400", "copilot-err500"] {
        assert_eq!(turn_states(&transcript(name)), ["completed", "completed"], "{name} answers `end_turn`");
    }
    for name in ["codex-err429", "gemini-err429", "qwen-err429"] {
        assert_eq!(turn_states(&transcript(name)), ["completed", "completed"], "{name} passes");
    }
    // The recorder notes here that it waited, not that the agent died.
    assert_eq!(turn_states(&transcript("opencode-err500")), ["completed", "completed"]);
    assert!(notices(&transcript("opencode-err500")).is_empty());
}

#[test]
fn o19_cancel_and_what_comes_after() {
    for name in ["claude-cancel-text", "codex-cancel-text", "kimi-cancel", "qwen-cancel-text"] {
        assert_eq!(turn_states(&transcript(name)), ["cancelled", "completed"], "{name}");
    }
    assert_eq!(transcript("codex-cancel-text").session.turns[0].usage, None);
    // Refusing a plan ends Claude's turn; Codex's only refusal does too.
    assert_eq!(turn_states(&transcript("claude-exitplan-reject")), ["cancelled"]);
    let refused = transcript("codex-perm-reject");
    assert_eq!((turn_states(&refused)[0], states(&refused)), ("cancelled", vec!["denied"]));
}

#[test]
fn o20_options_are_chosen_by_kind() {
    for (name, count) in [
        ("claude-perm-cancelled", 2),
        ("copilot-perm-reject", 1),
        ("fast-agent-perm-reject", 2),
        ("gemini-perm-cancelled", 2),
        ("qwen-perm-reject", 1),
        ("vibe-perm-reject", 2),
    ] {
        assert_eq!(states(&transcript(name)), vec!["denied"; count], "{name}");
    }
    let qwen = transcript("qwen-perm-allow");
    let kinds: Vec<&str> = calls(&qwen)
        .next()
        .unwrap()
        .1
        .permission
        .as_ref()
        .unwrap()
        .options
        .iter()
        .map(|option| option["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["allow_always", "allow_always", "allow_once", "reject_once"]);
}

#[test]
fn o21_to_do_lists() {
    for name in
        ["claude-plan", "claude-tasks-tasks", "codex-plan-native", "codex-growplan", "kimi-plan", "opencode-replay"]
    {
        assert_eq!(lists(&transcript(name)).len(), 1, "{name}");
    }
    let kimi = Trace::of("kimi-replay").without_first_process().document();
    let done = lists(&kimi)[0].iter().filter(|entry| entry.status_word.as_deref() == Some("completed")).count();
    assert_eq!(done, 4, "its replay has only the tool's own list, which says `done`");
    assert!(lists(&transcript("gemini-plan")).is_empty(), "a plain call");
}

fn part_text(part: &Part) -> String {
    match part {
        Part::Text(text) | Part::Thinking(text) => text.text.clone(),
        Part::Call(_) | Part::Media(_) => String::new(),
    }
}

#[test]
fn o22_sub_agents() {
    for name in ["claude-sub", "claude-sub-native", "copilot-sub"] {
        let document = transcript(name);
        let parent = &call(&document, "Look at calc").id;
        let inside = calls(&document).filter(|(_, call)| call.parent.as_ref() == Some(parent)).count();
        assert_eq!(inside, 2, "{name}");
    }
    let native = transcript("claude-sub-native");
    let inside = rounds(&native).filter(|(_, round)| round.parent.is_some());
    let inside: Vec<String> = inside.map(|(_, round)| part_text(&round.parts[0])).collect();
    assert_eq!(
        inside,
        ["Sub-agent reading.", "Sub-agent running.", "Report: `sub` adds instead of subtracting (line 6)."]
    );
    // Copilot's sub-agent's text has no mark: its replies are told apart all the same.
    assert_eq!(texts(&transcript("copilot-sub"), Channel::Message).len(), 5);
    assert_eq!(calls(&transcript("codex-sub")).next().unwrap().1.name.as_deref(), Some("spawnAgent"));
}

/// Rule: record Rest.5.2
#[test]
fn o23_what_a_load_injects_is_dropped() {
    for (name, never) in [
        ("gemini-kill", "<session_context>"),
        ("gemini-kill", "[Function Response"),
        ("kimi-replay", "<system-reminder>"),
        ("codex-replay", "Config warning"),
    ] {
        let loaded = Trace::of(name).without_first_process();
        assert!(!loaded.json().concat().contains(never), "{name}: {never}");
        assert!(String::from_utf8(loaded.bytes).unwrap().contains(never), "{name}: {never}");
    }
    // Two messages with such a mark between them are two.
    let gemini = Trace::of("gemini-kill").without_first_process().document();
    assert_eq!(texts(&gemini, Channel::Message)[1..3], ["Updating the list.", "Now the long part."]);
}

#[test]
fn o24_resume_replays_nothing() {
    for name in ["codex-resume", "qwen-resume"] {
        assert_eq!(transcript(name).session.turns.len(), 4, "{name}");
    }
    let resumed = Trace::of("codex-resume").without_first_process().document();
    assert_eq!(turn_states(&resumed), ["completed"], "only what came after");
}

#[test]
fn o27_torn_and_foreign_lines() {
    let torn = Trace::of("qwen-kill").replayed();
    assert_eq!(torn.remarks, ["line 43: 65451 bytes of the agent's output are no JSON"]);
    let foreign = Trace::of("kimi-legacy-plain").replayed();
    assert_eq!((foreign.documents.len(), foreign.remarks.len()), (0, 1));
}

#[test]
fn o28_unknown_methods_and_two_id_spaces() {
    // Requests `craft/drainMidTurnQueue` and notifications `qwen/notify/…` stand between the updates.
    assert_eq!(turn_states(&transcript("qwen-tools")), ["completed"]);
    // The agent's request 0 and the client's request 0 are two.
    let mut live = Live::new();
    live.prompt("Go").call("t", "pending", json!({"title": "make"}));
    live.asks("0", json!({"toolCallId": "t"}), json!([{"optionId": "y", "kind": "allow_once"}])).answer("0", "y");
    live.call_update("t", json!({"status": "completed", "content": content("made")})).stops("end_turn");
    assert_eq!(call(&live.document, "make").state.word(), "completed");
}
