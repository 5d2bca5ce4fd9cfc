use pleat_store::sqlite::SqliteStore;
use pleat_store::*;
use pleat_transcript::call::*;
use pleat_transcript::change::*;
use pleat_transcript::ids::*;
use pleat_transcript::message::*;
use pleat_transcript::session::*;
use serde_json::json;
use std::time::Instant;
fn s(n: usize) -> SessionId {
    SessionId::new(format!("s{n}")).unwrap()
}
fn round(id: String, parts: Vec<Part>) -> Change {
    Change::InsertMessage(Box::new(Message {
        id: MessageId::new(id).unwrap(),
        turn: Some(TurnId::new("t").unwrap()),
        created_at: Some(1),
        body: Body::Assistant(Assistant { parts, state: Some(RoundState::Streaming), ..Default::default() }),
        extra: Default::default(),
    }))
}
fn text(t: &str) -> Part {
    Part::Text(TextPart { text: t.into(), ..Default::default() })
}
fn call(id: String) -> Call {
    let mut c = Call::new(CallId::new(id).unwrap());
    c.agent_id = Some(AgentCallId("toolu_01xxxxxxxxxxxxxxx".into()));
    c.name = Some("Bash".into());
    c.kind_word = Some("execute".into());
    c.title = Some("ls -la /home/me/project".into());
    c.input = Some(json!({"command": "ls -la /home/me/project", "description": "list"}));
    c.started_at = Some(1);
    c
}
#[tokio::main]
async fn main() {
    let folder = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let _ = std::fs::remove_dir_all(&folder);
    let store: &'static SqliteStore = Box::leak(Box::new(SqliteStore::open(&folder).unwrap()));
    for n in 0..8 {
        store.create_session(Session::new(s(n))).await.unwrap();
    }
    // A: appends of 30 bytes, lists of 100, 8 sessions at once
    for (name, durability) in [("agent", Durability::Agent), ("person", Durability::Person)] {
        for list in [1usize, 50, 300] {
            let lists = (if list == 1 { 4000 } else { 60_000 }) / list / 8;
            for n in 0..8 {
                store.commit(s(n), vec![round(format!("m{name}{list}"), vec![text("")])], 1, durability).await.unwrap();
            }
            let t = Instant::now();
            let mut tasks = vec![];
            for n in 0..8 {
                tasks.push(tokio::spawn(async move {
                    for _ in 0..lists {
                        let ch = (0..list)
                            .map(|_| Change::AppendText {
                                message: MessageId::new(format!("m{name}{list}")).unwrap(),
                                part: 0,
                                text: "some thirty bytes of streaming ".into(),
                            })
                            .collect();
                        store.commit(s(n), ch, 2, durability).await.unwrap();
                    }
                }));
            }
            for t in tasks {
                t.await.unwrap();
            }
            let total = lists * list * 8;
            println!(
                "append text, {name}, lists of {list}, 8 sessions: {:.0} changes/s",
                total as f64 / t.elapsed().as_secs_f64()
            );
        }
    }
    // B: mixed realistic: insert call part, update x3, output append x5, 1 session
    let t = Instant::now();
    let mut total = 0;
    for m in 0..1500 {
        let id = format!("r{m}");
        let mut ch = vec![round(id.clone(), vec![text("I will look. ")])];
        for c in 0..4 {
            let cid = CallId::new(format!("c{m}-{c}")).unwrap();
            ch.push(Change::InsertPart {
                message: MessageId::new(id.clone()).unwrap(),
                part: Part::Call(Box::new(call(cid.to_string()))),
            });
            ch.push(Change::UpdateCall {
                call: cid.clone(),
                update: Box::new(CallUpdate {
                    state: Some(CallState::Running),
                    output: Some(vec![json!({"type":"terminal","output":"","exit":null})]),
                    ..Default::default()
                }),
            });
            for _ in 0..8 {
                ch.push(Change::AppendOutput {
                    call: cid.clone(),
                    text: "a line of output that a command writes\n".into(),
                });
            }
            ch.push(Change::UpdateCall { call: cid.clone(), update: Box::new(CallUpdate { state: Some(CallState::Completed), ended_at: Some(3), output: Some(vec![json!({"type":"terminal","output":"a line of output that a command writes\n".repeat(8),"exit":0})]), ..Default::default() }) });
        }
        total += ch.len();
        store.commit(s(0), ch, 3, Durability::Agent).await.unwrap();
    }
    println!("mixed, lists of 45, 1 session: {:.0} changes/s ({total})", total as f64 / t.elapsed().as_secs_f64());
    let t = Instant::now();
    let n = 20;
    let mut len = 0;
    for _ in 0..n {
        len = store.document(s(0)).await.unwrap().document.messages.len();
    }
    println!("document of {len} messages, 6000 calls: {:?}", t.elapsed() / n);
    // big text
    store
        .commit(s(1), vec![round("big".into(), vec![text(&"x".repeat(100_000))])], 1, Durability::Agent)
        .await
        .unwrap();
    let t = Instant::now();
    for _ in 0..500 {
        store
            .commit(
                s(1),
                vec![Change::AppendText { message: MessageId::new("big").unwrap(), part: 0, text: "delta ".into() }],
                1,
                Durability::Agent,
            )
            .await
            .unwrap();
    }
    println!("append to 100 KB text, one commit each: {:?}", t.elapsed() / 500);
    store
        .commit(s(1), vec![round("term".into(), vec![Part::Call(Box::new(call("term".into())))])], 1, Durability::Agent)
        .await
        .unwrap();
    let cid = CallId::new("term").unwrap();
    store
        .commit(
            s(1),
            vec![Change::UpdateCall {
                call: cid.clone(),
                update: Box::new(CallUpdate {
                    output: Some(vec![json!({"type":"terminal","output":""})]),
                    ..Default::default()
                }),
            }],
            1,
            Durability::Agent,
        )
        .await
        .unwrap();
    let t = Instant::now();
    let line = "a line of output\n".repeat(60);
    for _ in 0..650 {
        store
            .commit(
                s(1),
                vec![Change::AppendOutput { call: cid.clone(), text: line.clone() }; 100],
                1,
                Durability::Agent,
            )
            .await
            .unwrap();
    }
    println!("65,000 appends of 1 KB to a terminal (64 MiB): {:?}", t.elapsed());
    let t = Instant::now();
    store.call(s(1), cid).await.unwrap();
    println!("read it: {:?}", t.elapsed());
    // listing
    for n in 10..5010 {
        store.create_session(Session { created_at: Some(n as i64), ..Session::new(s(n)) }).await.unwrap();
    }
    let t = Instant::now();
    for _ in 0..20 {
        store.sessions(100).await.unwrap();
    }
    println!("list 100 of 5000 sessions: {:?}", t.elapsed() / 20);
    let t = Instant::now();
    for _ in 0..20 {
        store.open_sessions().await.unwrap();
    }
    println!("open sessions: {:?}", t.elapsed() / 20);
}
