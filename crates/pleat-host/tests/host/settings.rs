//! What a person chooses of what the agent offers, and logins.

use crate::stage::{PATIENCE, Stage, notice_codes, turns};
use pleat_host::{AgentState, HostError, LiveState, Setting};
use pleat_transcript::session::TurnState::{Completed, Interrupted};

async fn until_live(stage: &Stage, wanted: impl Fn(&LiveState) -> bool) -> LiveState {
    let mut signals = stage.host.signals(&stage.session);
    let look = async {
        loop {
            let (live, _) = stage.host.live(&stage.session);
            if wanted(&live) {
                return live;
            }
            signals.changed().await.expect("the host lives");
        }
    };
    tokio::time::timeout(PATIENCE, look).await.expect("it never came to that")
}

/// B16, B17: what comes early is kept, and a list of commands replaces the one before.
#[tokio::test]
async fn b16_what_is_offered_is_told() {
    let stage = Stage::with(
        r#"
initialize
hear session/new as request
update available_commands_update availableCommands=[{"name": "help", "description": "Help"}, {"name": "init", "description": ""}] session=s
reply request {"sessionId": "s", "modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "plan", "name": "Plan"}]}}
hear session/prompt as prompt
update available_commands_update availableCommands=[{"name": "init", "description": ""}] session=s
update current_mode_update currentModeId=plan session=s
finish prompt
listen
"#,
    )
    .await;
    stage.host.start_agent(&stage.session).await.unwrap();
    let live = until_live(&stage, |live| live.agent == AgentState::Ready).await;
    let names = |live: &LiveState| live.offers.commands.iter().map(|command| command.name.clone()).collect::<Vec<_>>();
    let live = if names(&live).is_empty() { until_live(&stage, |live| !names(live).is_empty()).await } else { live };
    assert_eq!(names(&live), ["help", "init"]);
    assert_eq!(live.offers.modes.as_ref().unwrap().current, "ask");
    stage.prompt("/pivot prom\nline2\n  line3").await;
    stage.until_turns(&[Completed]).await;
    let live = until_live(&stage, |live| live.offers.modes.as_ref().is_some_and(|modes| modes.current == "plan")).await;
    assert_eq!(names(&live), ["init"]);
    let prompt = stage.heard().into_iter().find(|message| message["method"] == "session/prompt").unwrap();
    assert_eq!(prompt["params"]["prompt"][0]["text"], "/pivot prom\nline2\n  line3");
}

/// A mode that was chosen is told to a new process before its first prompt; the agent's default might allow more.
#[tokio::test]
async fn what_was_chosen_is_told_again() {
    let stage = Stage::with(
        r#"
open_session modes={"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Auto"}, {"id": "plan", "name": "Plan"}]}
if $RUN == 1 {
    hear session/set_mode as set
    reply set {}
    hear session/set_mode as set
    refuse set -32602 "no such mode"
    hear session/prompt
    abort
}
hear session/set_mode as set
sleep 50ms
reply set {}
hear session/prompt as prompt
finish prompt
listen
"#,
    )
    .await;
    stage.host.start_agent(&stage.session).await.unwrap();
    until_live(&stage, |live| live.agent == AgentState::Ready).await;
    let choose = |mode: &str| stage.host.choose(&stage.session, Setting::Mode(mode.to_owned()));
    choose("plan").await.unwrap();
    assert_eq!(stage.host.live(&stage.session).0.offers.modes.unwrap().current, "plan");
    let refused = choose("nothing").await;
    assert!(matches!(&refused, Err(HostError::AgentRefused(text)) if text.contains("no such mode")), "{refused:?}");
    stage.prompt("one").await;
    stage.until_turns(&[Interrupted]).await;
    stage.prompt("two").await;
    let document = stage.until_turns(&[Interrupted, Completed]).await;
    assert_eq!(document.session.chosen.mode.as_deref(), Some("plan"));
    let methods = stage.heard_methods();
    let last: Vec<_> = methods[methods.len() - 4..].iter().map(String::as_str).collect();
    assert_eq!(last, ["initialize", "session/new", "session/set_mode", "session/prompt"]);
}

/// An agent that wants a login is asked for one when a person chooses a way; the prompt waits meanwhile.
#[tokio::test]
async fn a_login_lets_the_prompt_go_on() {
    let stage = Stage::with(
        r#"
initialize authMethods=[
    {"id": "web", "name": "Browser"},
    {"id": "tty", "name": "Terminal", "type": "terminal", "args": ["login"]}
]
hear session/new as request
refuse request -32000 "Authentication required"
hear authenticate as login
refuse login -32000 "The browser was closed"
hear authenticate as login
reply login {}
new_session
hear session/prompt as prompt
finish prompt
listen
"#,
    )
    .await;
    stage.prompt("hello").await;
    let wants = |live: &LiveState| matches!(live.agent, AgentState::NeedsLogin(_));
    let AgentState::NeedsLogin(login) = until_live(&stage, wants).await.agent else { panic!("a login") };
    assert!(login.said.contains("Authentication required"));
    assert_eq!(login.methods.len(), 2);
    assert_eq!(login.methods[0].command, None);
    let command = login.methods[1].command.as_deref().expect("a command");
    assert!(command.ends_with(" login") && command.contains("scripted-agent"), "{command}");
    assert_eq!(stage.document().await.session.waiting.len(), 1);
    stage.host.log_in(&stage.session, "web".to_owned()).await.unwrap();
    until_live(&stage, |live| matches!(&live.agent, AgentState::NeedsLogin(login) if login.said.contains("closed")))
        .await;
    stage.host.log_in(&stage.session, "web".to_owned()).await.unwrap();
    let document = stage.until_turns(&[Completed]).await;
    assert_eq!(notice_codes(&document), ["nothing_said"]);
    assert!(matches!(stage.host.log_in(&stage.session, "web".to_owned()).await, Err(HostError::NoLoginWanted)));
}

/// An agent that the configuration logs in is logged in before anything else.
#[tokio::test]
async fn a_login_of_the_configuration_comes_first() {
    let folder = tempfile::tempdir().unwrap();
    let script = "initialize\nauthenticate\nnew_session\nhear session/prompt as prompt\nfinish prompt\nlisten";
    let mut agent = crate::stage::scripted(folder.path(), script);
    agent.login = Some("key".to_owned());
    let store = crate::stage::store_in(folder.path());
    let stage = Stage::start(folder.path(), store, agent, pleat_host::HostSettings::default()).await;
    stage.prompt("hello").await;
    assert_eq!(turns(&stage.until_turns(&[Completed]).await).len(), 1);
    assert_eq!(stage.heard_methods(), ["initialize", "authenticate", "session/new", "session/prompt"]);
    stage.host.shut_down().await;
}

/// The newer options, and the models that older agents name.
#[tokio::test]
async fn options_and_models_are_chosen() {
    let stage = Stage::with(
        r#"
initialize
hear session/new as request
reply request {
    "sessionId": "s",
    "models": {"currentModelId": "small", "availableModels": [{"modelId": "small", "name": "Small"}, {"modelId": "large", "name": "Large"}]},
    "configOptions": [{"id": "effort", "name": "Effort", "type": "select", "currentValue": "low",
        "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]}]
}
hear session/set_model as set
reply set {}
hear session/set_config_option as set
reply set {"configOptions": [{"id": "effort", "name": "Effort", "type": "select", "currentValue": "high",
    "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]}]}
listen
"#,
    )
    .await;
    stage.host.start_agent(&stage.session).await.unwrap();
    let live = until_live(&stage, |live| live.agent == AgentState::Ready).await;
    assert_eq!(live.offers.models.unwrap().current, "small");
    stage.host.choose(&stage.session, Setting::Model("large".to_owned())).await.unwrap();
    let option = Setting::Option { id: "effort".to_owned(), value: "high".into() };
    stage.host.choose(&stage.session, option).await.unwrap();
    let offers = stage.host.live(&stage.session).0.offers;
    assert_eq!(offers.models.unwrap().current, "large");
    let pleat_host::ConfigValue::Select(effort) = &offers.options[0].value else { panic!("a selection") };
    assert_eq!(effort.current, "high");
    let chosen = stage.document().await.session.chosen;
    assert_eq!((chosen.model.as_deref(), chosen.options["effort"].as_str()), (Some("large"), Some("high")));
}
