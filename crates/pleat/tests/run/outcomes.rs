//! The exit code tells how it ended, and a sentence on stderr says more.

use crate::house::House;

#[test]
fn a_turn_that_completes_prints_what_was_said() {
    let house = House::with(
        r#"
open_session
hear session/prompt as prompt
text "Hello, "
text "$prompt.params.prompt.0.text."
finish prompt
listen
"#,
    );
    let ended = house.run(&["you there"]);
    ended.expect(0, "Hello, you there.\n");
    assert_eq!(ended.said, "");
    let session = house.session();
    assert_eq!(session["session"]["turns"][0]["state"], "completed");
    assert_eq!(session["session"]["root"], house.work().canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn a_turn_that_fails_says_why() {
    let house = House::with("open_session\nhear session/prompt as prompt\nrefuse prompt -32603 \"it broke\"\nlisten");
    let ended = house.run(&["x"]);
    ended.expect(1, "error ! it broke\n");
    ended.expect_said(&["pleat: the turn failed; session "]);
}

#[test]
fn an_agent_that_dies_interrupts_its_turn() {
    let house = House::with("open_session\nhear session/prompt as prompt\ntext \"I beg\"\nstderr \"oh no\"\nexit 3");
    let ended = house.run(&["x"]);
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert!(ended.printed.starts_with("I beg\n\n") && ended.printed.contains("The Player ended"), "{}", ended.printed);
    ended.expect_said(&["pleat: the turn was interrupted"]);
}

#[test]
fn an_agent_that_is_not_there_fails_its_turn() {
    let house = House::with("listen");
    house.write("pleat.toml", "[agents.player]\ncommand = \"/no/such/agent\"\n");
    let ended = house.run(&["x"]);
    assert_eq!(ended.code, Some(1), "{}", ended.said);
    assert!(ended.printed.contains("/no/such/agent was not found"), "{}", ended.printed);
}

#[test]
fn what_cannot_begin_is_the_command_line_s_fault() {
    let house = House::with("open_session\nhear session/prompt as prompt\nfinish prompt\nlisten");
    for (words, said) in [
        (&["run", "nobody", "x"][..], "no agent is called `nobody`"),
        (&["run", "player", " \n"], "the prompt is empty"),
        (&["run", "player", "-"], "the prompt is empty"),
        (&["run", "player"], "the prompt is empty"),
        (&["run", "player", "x", "--cwd", "nowhere"], "`nowhere` is not a directory"),
        (&["run", "player", "x", "--add-dir", "nowhere"], "`nowhere` is not a directory"),
        (&["run", "player", "x", "--allow", "raed"], "possible values: read, edit"),
        (&["run", "player", "x", "--config", "nowhere.toml"], "nowhere.toml"),
        (&["run", "player", "x", "--store", "mysql://x"], "the store's address is none"),
        (&["run"], "Usage: pleat run"),
    ] {
        let ended = house.output(words);
        ended.expect(2, "");
        ended.expect_said(&[said]);
    }
    assert!(house.heard("initialize").is_empty(), "nothing was started");
    assert!(house.output(&["run", "nobody", "x"]).said.contains("player"), "those that are known are named");
}

// Other systems make no such names.
#[cfg(target_os = "linux")]
#[test]
fn a_directory_whose_name_is_no_text_keeps_it_from_beginning() {
    use std::os::unix::ffi::OsStrExt;
    let house = House::with("open_session\nlisten");
    let odd = std::ffi::OsStr::from_bytes(b"odd\xff");
    std::fs::create_dir(house.work().join(odd)).unwrap();
    for (option, lines) in [("--cwd", 1), ("--add-dir", 2)] {
        let output = house.command(&["run", "player", "x", "--json", option]).arg(odd).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("is not in UTF-8"), "{said}");
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.ends_with("{\"turn\":null,\"exit\":2}\n"), "{printed}");
        assert_eq!(printed.lines().count(), lines, "{printed}");
    }
    assert!(house.heard("initialize").is_empty(), "nothing was started");
}

#[test]
fn an_agent_that_refuses_is_told_apart() {
    let house = House::with("open_session\nhear session/prompt as prompt\ntext \"No.\"\nfinish prompt refusal\nlisten");
    let ended = house.run(&["x"]);
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert!(ended.printed.starts_with("No.\n"), "{}", ended.printed);
    ended.expect_said(&["pleat: The Player refused to go on; session "]);
}

#[test]
fn a_login_needs_a_person() {
    let house = House::with(
        r#"
initialize authMethods=[{"id": "key", "name": "Use a key"}, {"id": "term", "name": "Log in here", "type": "terminal", "args": ["login"]}]
hear session/new as new
refuse new -32000 "Authentication required"
listen
"#,
    );
    let ended = house.run(&["x"]);
    ended.expect(3, "");
    ended.expect_said(&[
        "pleat: The Player wants a login: ",
        "Use a key",
        "Log in here (run `",
        " login` in a terminal)",
    ]);
    let session = house.session();
    assert_eq!(session["session"]["waiting"][0]["text"], "x", "the page can send it after the login");
    assert!(session["session"]["waiting"][0]["held"].is_string());
}

#[test]
fn the_prompt_comes_from_stdin_too() {
    let script =
        "open_session\nhear session/prompt as prompt\ntext \"$prompt.params.prompt.0.text\"\nfinish prompt\nlisten";
    for words in [&["run", "player"][..], &["run", "player", "-"]] {
        let house = House::with(script);
        house.write("prompt", "two\nlines\n");
        let prompt = std::fs::File::open(house.path("prompt")).unwrap();
        let output = house.command(words).stdin(prompt).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "two\nlines\n");
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(house.heard("session/prompt")[0]["params"]["prompt"][0]["text"], "two\nlines");
    }
}

#[test]
fn directories_are_the_agent_s_places() {
    let house = House::with(
        r#"
initialize agentCapabilities={"sessionCapabilities": {"additionalDirectories": {}}}
new_session
hear session/prompt as prompt
finish prompt
listen
"#,
    );
    for name in ["place", "more"] {
        std::fs::create_dir(house.work().join(name)).unwrap();
    }
    let ended = house.run(&["x", "--cwd", "place", "--add-dir", "more"]);
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let root = house.work().canonicalize().unwrap();
    // Its notes are where it worked.
    let heard = std::fs::read_to_string(root.join("place/heard")).unwrap();
    let told = |path: &str| heard.contains(root.join(path).to_str().unwrap());
    assert!(told("place") && told("more"), "{heard}");
}
