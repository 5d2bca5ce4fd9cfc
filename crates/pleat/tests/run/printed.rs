//! What is printed in a pipe: real conversations, and long ones.

use crate::house::House;

#[test]
fn real_conversations_read_well() {
    // Those that do one thing after the other: what is printed is then the same each time.
    for trace in ["claude-sub", "claude-fail", "gemini-fail", "copilot-fail"] {
        let house = House::with_trace(trace);
        let ended = house.run(&["x", "--allow", "read,edit,execute"]);
        insta::assert_snapshot!(trace, format!("{}\n— exit {}", ended.printed, ended.code.unwrap()));
    }
}

#[test]
fn a_long_turn_is_printed_whole_and_in_its_order() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
call slow title="Slow" kind=other status=in_progress
repeat 250 {
    text "Step $i."
    call "c$i" title="Call $i" kind=other status=completed
}
call_update slow status=completed
text "Done."
finish prompt
listen
"#,
    );
    let ended = house.run(&["x"]);
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    // Where the slow one is printed is a matter of time.
    let lines: Vec<&str> = ended.printed.lines().filter(|line| !line.is_empty() && *line != "✓ Slow").collect();
    let steps = (0..250).flat_map(|step| [format!("Step {step}."), format!("✓ Call {step}")]);
    let expected: Vec<String> = steps.chain(["Done.".to_owned()]).collect();
    assert!(lines == expected, "{}", ended.printed);
    assert_eq!(ended.printed.matches("✓ Slow").count(), 1);
}
