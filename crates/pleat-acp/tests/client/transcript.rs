//! What the transcript is told of terminals: news, and what the adapter makes of them.

use crate::{Scene, text_of, text_of_lines};
use pleat_acp::adapter::Adapter;
use pleat_acp::client::{ClientLimits, TerminalNews};
use pleat_transcript::event::{CallReport, Event, TerminalOutput, TerminalReport};
use serde_json::json;

fn is_end(news: &TerminalNews) -> bool {
    matches!(news, TerminalNews::Ended { .. })
}

#[tokio::test]
async fn news_come_in_their_order() {
    let mut scene = Scene::new();
    let id = scene.shell("echo said; exit 3").await;
    let news = scene.news_until(is_end).await;
    let TerminalNews::Started { pid, .. } = news[0] else { panic!("{:?} is no start", news[0]) };
    let expect = [
        json!(["started", id, pid]),
        json!(["output", id, "said\n"]),
        json!(["exited", id, 3]),
        json!(["ended", id, pid]),
    ];
    assert_eq!(news.iter().map(crate::told).collect::<Vec<_>>(), expect);
}

#[tokio::test]
async fn the_exit_is_told_before_the_agent_knows() {
    let mut scene = Scene::new();
    let terminal = scene.shell("echo said; kill -9 $$").await;
    scene.exit(&terminal).await;
    let mut told = Vec::new();
    while let Ok(news) = scene.news.try_recv() {
        told.push(news);
    }
    assert_eq!(text_of(&told), "said\n");
    assert!(told.iter().map(crate::told).any(|news| news == json!(["exited", terminal, "SIGKILL"])), "{told:?}");
}

#[tokio::test]
async fn much_output_is_told_whole_in_pieces() {
    let mut scene = Scene::new();
    let terminal = scene.shell("i=0; while [ $i -lt 50000 ]; do echo zeile-ä-$i; i=$((i+1)); done").await;
    let news = scene.news_until(is_end).await;
    let expect = text_of_lines(0..50_000, |i| format!("zeile-ä-{i}\n"));
    assert!(text_of(&news) == expect, "something is missing, doubled or changed");
    let pieces = news.iter().filter_map(|news| match news {
        TerminalNews::Output { text, .. } => Some(text.len()),
        TerminalNews::Started { .. } | TerminalNews::Exited { .. } | TerminalNews::Ended { .. } => None,
    });
    assert!(pieces.clone().all(|bytes| bytes <= 64 * 1024));
    // The lines were written one by one.
    assert!(pieces.count() < 5000);
    assert!(scene.printed(&terminal).await == expect);
}

#[tokio::test]
async fn of_too_much_output_the_middle_is_left_out() {
    let mut scene = Scene::with(ClientLimits { transcript_output_bytes: 2000, ..ClientLimits::default() });
    scene.shell("i=10000; while [ $i -lt 20000 ]; do echo $i; i=$((i+1)); done").await;
    let text = text_of(&scene.news_until(is_end).await);
    let bytes = 10_000 * 6;
    let left_out = format!("[{} bytes of output are left out here]\n", bytes - 2000);
    let (first, last) = text.split_once(&left_out).unwrap_or_else(|| panic!("{text:?} lacks {left_out:?}"));
    assert!(first.starts_with("10000\n10001\n") && first.len() == 1001, "{first:?}");
    assert!(last.ends_with("19998\n19999\n") && last.len() == 1000, "{last:?}");
}

/// Rule: record Calls.6.1, record Calls.6.2, record Calls.6.3
#[tokio::test]
async fn b53_a_call_shows_what_its_terminal_prints_and_keeps_it() {
    let mut scene = Scene::new();
    let mut adapter = Adapter::new();
    let mention = |adapter: &mut Adapter, terminal: &str| {
        let content = json!([{"type": "terminal", "terminalId": terminal}]);
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "content": content});
        reports(adapter.update(&json!({"sessionId": "s", "update": update}), false))
    };
    let terminal = scene.shell("echo early; while [ ! -e go ]; do sleep 0.01; done; printf late; exit 3").await;
    let mut early = scene.news_until(|news| matches!(news, TerminalNews::Output { .. })).await;
    assert!(early.drain(..).all(|news| reports(tell(&mut adapter, news)).is_empty()));
    let told = mention(&mut adapter, &terminal);
    assert_eq!(told[0].terminal, Some(report(Some(TerminalOutput::Whole("early\n".to_owned())), None)));
    std::fs::write(scene.app("go"), "").unwrap();
    scene.exit(&terminal).await;
    scene.of("release", &terminal).await.unwrap();
    let news = scene.news_until(is_end).await;
    let told: Vec<_> = news.into_iter().flat_map(|news| reports(tell(&mut adapter, news))).collect();
    assert!(told.iter().all(|report| report.agent_id.0 == "c"));
    let told: Vec<_> = told.into_iter().filter_map(|report| report.terminal).collect();
    let late = report(Some(TerminalOutput::Delta("late".to_owned())), None);
    assert_eq!(told, [late, report(None, Some(json!(3)))]);
    assert_eq!(mention(&mut adapter, &terminal)[0].terminal, None);
}

fn report(output: Option<TerminalOutput>, exit: Option<serde_json::Value>) -> TerminalReport {
    TerminalReport { output, exit }
}

fn tell(adapter: &mut Adapter, news: TerminalNews) -> Vec<pleat_acp::adapter::SessionEvent> {
    match news {
        TerminalNews::Started { terminal, .. } => adapter.terminal(&terminal, None, None),
        TerminalNews::Output { terminal, text, .. } => {
            adapter.terminal(&terminal, Some(TerminalOutput::Delta(text)), None)
        }
        TerminalNews::Exited { terminal, exit } => adapter.terminal(&terminal, None, Some(exit)),
        TerminalNews::Ended { .. } => Vec::new(),
    }
}

fn reports(events: Vec<pleat_acp::adapter::SessionEvent>) -> Vec<CallReport> {
    let report = |(_, event)| {
        let Event::Call(report) = event else { panic!("{event:?} is no call") };
        *report
    };
    events.into_iter().map(report).collect()
}
