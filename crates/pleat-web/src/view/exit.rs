//! How a command ended, told once: many agents also write it into the output.

use serde_json::Value;

/// In words, unless one of the texts says it.
pub(super) fn words<'a>(exit: &Value, mut texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let member = |names: &[&str]| names.iter().find_map(|name| exit.get(*name)).filter(|value| !value.is_null());
    if let Some(code) = member(&["exitCode", "exit_code"]).unwrap_or(exit).as_i64() {
        return (!texts.any(|text| says_exit_code(text, code))).then(|| format!("Exit code {code}"));
    }
    // Some agents send the signal alone.
    let signal = member(&["signal"]).unwrap_or(exit).as_str()?;
    (!signal.is_empty()).then(|| format!("Ended by signal {signal}"))
}

/// Of so many last lines one may tell it.
const LAST_LINES: usize = 4;

/// Whether the first line of a text or one of its last is about this exit code.
fn says_exit_code(text: &str, code: i64) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next();
    first.into_iter().chain(lines.rev().take(LAST_LINES)).any(|line| line_says_exit_code(line, code))
}

fn line_says_exit_code(line: &str, code: i64) -> bool {
    let line = line.to_ascii_lowercase();
    let mut after = ["exit code", "exit status"].iter().filter_map(|words| line.split_once(words));
    after.any(|(_, rest)| {
        let rest = rest.trim_start_matches([' ', ':', '=']);
        let end = rest.find(|c: char| c != '-' && !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse() == Ok(code)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(exit: &Value, text: &str) -> Option<String> {
        words(exit, std::iter::once(text))
    }

    #[test]
    fn codes_and_signals_in_all_their_forms() {
        for exit in [json!(3), json!({"exitCode": 3}), json!({"exit_code": 3, "signal": null})] {
            assert_eq!(told(&exit, "out").as_deref(), Some("Exit code 3"), "{exit}");
        }
        for exit in [json!("SIGKILL"), json!({"exitCode": null, "signal": "SIGKILL"})] {
            assert_eq!(told(&exit, "out").as_deref(), Some("Ended by signal SIGKILL"), "{exit}");
        }
        assert_eq!(told(&Value::Null, "out"), None);
    }

    #[test]
    fn what_the_output_says_is_not_said_again() {
        for text in [
            "Exit code 3\nto-stdout",
            "out\n\n[Exit code: 3]",
            "out\n<shellId: 0 completed with exit code 3>",
            "out\nExit Code: 3\nSignal: (none)\nProcess Group PGID: 9087",
        ] {
            assert_eq!(told(&json!(3), text), None, "{text}");
        }
        for text in ["exit code 31", "exit code 4", "exit 3", "1\nexit code 3\n2\n3\n4\n5\n6"] {
            assert!(told(&json!(3), text).is_some(), "{text}");
        }
    }
}
