//! Two servers on one database: who may commit to a session, and commands for its owner. Each function tests two stores
//! of one database, which is empty.

use super::sample::{message, notice};
use super::{message_id, session_id};
use futures::future::join_all;
use pleat_store::{Claim, CommandId, Durability, Revision, Store, StoreError, StoredCommand};
use pleat_transcript::change::Change;
use pleat_transcript::ids::SessionId;
use pleat_transcript::session::{Session, Turn, TurnState};

async fn create(store: &dyn Store, id: &str) -> SessionId {
    store.create_session(Session::new(session_id(id))).await.unwrap();
    session_id(id)
}

async fn say(store: &dyn Store, session: &SessionId, id: &str) -> Result<Revision, StoreError> {
    let said = vec![Change::InsertMessage(Box::new(message(id, notice("said"))))];
    store.commit(session.clone(), said, 0, Durability::Agent).await
}

fn command(id: &str) -> CommandId {
    CommandId(id.to_owned())
}

async fn send(store: &dyn Store, session: &SessionId, id: &str, body: &str) {
    store.send_command(session.clone(), command(id), body.to_owned()).await.unwrap();
}

fn ids(commands: &[StoredCommand]) -> Vec<&str> {
    commands.iter().map(|command| command.id.0.as_str()).collect()
}

pub(crate) async fn a_session_has_one_owner(first: &dyn Store, second: &dyn Store) {
    let session = create(first, "s").await;
    let refused = Err(StoreError::OwnedElsewhere(session.clone()));
    assert_ne!(first.server(), second.server());
    // Nobody's: anyone may commit.
    assert_eq!(say(second, &session, "m1").await, Ok(Revision(2)));
    for _ in 0..2 {
        assert_eq!(first.claim(session.clone()).await, Ok(Claim::Ours));
        assert_eq!(second.claim(session.clone()).await, Ok(Claim::Theirs(first.server().clone())));
    }
    assert_eq!(say(second, &session, "m2").await, refused);
    assert_eq!(second.interrupt(session.clone(), "why".to_owned(), 0).await, Ok(None));
    // Not theirs to let go.
    second.release(session.clone()).await.unwrap();
    assert_eq!(second.claim(session.clone()).await, Ok(Claim::Theirs(first.server().clone())));
    assert_eq!(first.document(session.clone()).await.unwrap().revision, Revision(2));
    assert_eq!(say(first, &session, "m2").await, Ok(Revision(3)));
    first.release(session.clone()).await.unwrap();
    assert_eq!(second.claim(session.clone()).await, Ok(Claim::Ours));
    assert_eq!(say(first, &session, "m3").await, refused);
    assert_eq!(say(second, &session, "m3").await, Ok(Revision(4)));
    let stored = first.document(session).await.unwrap().document;
    let stored: Vec<_> = stored.messages.into_iter().map(|message| message.id).collect();
    assert_eq!(stored, ["m1", "m2", "m3"].map(message_id));
}

pub(crate) async fn a_session_is_claimed_by_one_of_two(first: &dyn Store, second: &dyn Store) {
    for number in 0..20 {
        let session = create(first, &format!("s{number}")).await;
        let claims = join_all([first, second].map(|store| store.claim(session.clone()))).await;
        let claims: Vec<_> = claims.into_iter().map(Result::unwrap).collect();
        let won = usize::from(claims[1] == Claim::Ours);
        let winner = [first, second][won];
        assert_eq!(claims[1 - won], Claim::Theirs(winner.server().clone()));
        assert_eq!(claims[won], Claim::Ours);
        assert_eq!(say([second, first][won], &session, "m").await, Err(StoreError::OwnedElsewhere(session.clone())));
        assert_eq!(say(winner, &session, "m").await, Ok(Revision(2)));
    }
}

pub(crate) async fn an_owners_turn_is_not_interrupted_by_others(first: &dyn Store, second: &dyn Store) {
    let session = create(first, "s").await;
    let turn = Turn { state: TurnState::Running, ..super::sample::turn("t1", TurnState::Running) };
    assert_eq!(first.claim(session.clone()).await, Ok(Claim::Ours));
    first.commit(session.clone(), vec![Change::InsertTurn(turn)], 0, Durability::Agent).await.unwrap();
    assert_eq!(second.interrupt(session.clone(), "why".to_owned(), 0).await, Ok(None));
    assert_eq!(first.document(session.clone()).await.unwrap().document.session.turns[0].state, TurnState::Running);
    first.release(session.clone()).await.unwrap();
    assert_eq!(second.interrupt(session.clone(), "why".to_owned(), 0).await, Ok(Some(Revision(3))));
    assert_eq!(first.document(session).await.unwrap().document.session.turns[0].state, TurnState::Interrupted);
}

pub(crate) async fn commands_reach_the_owner_once(first: &dyn Store, second: &dyn Store) {
    let (session, other) = (create(first, "s").await, create(first, "other").await);
    // They wait for an owner, whoever sent them.
    send(second, &session, "zwölf", r#"{"do":"it\u0000"}"#).await;
    send(first, &session, "b", "\"second\"").await;
    send(second, &session, "zwölf", "\"ignored\"").await;
    for store in [first, second] {
        assert_eq!(store.take_commands(session.clone()).await, Ok(Vec::new()));
        assert_eq!(store.sessions_with_commands().await, Ok(Vec::new()));
    }
    assert_eq!(first.claim(session.clone()).await, Ok(Claim::Ours));
    assert_eq!(second.claim(other.clone()).await, Ok(Claim::Ours));
    send(second, &session, "a", "\"third\"").await;
    assert_eq!(first.sessions_with_commands().await, Ok(vec![session.clone()]));
    assert_eq!(second.sessions_with_commands().await, Ok(Vec::new()));
    assert_eq!(second.take_commands(session.clone()).await, Ok(Vec::new()));
    let expected = [("zwölf", r#"{"do":"it\u0000"}"#), ("b", "\"second\""), ("a", "\"third\"")];
    let expected = expected.map(|(id, body)| StoredCommand { id: command(id), body: body.to_owned() });
    assert_eq!(first.take_commands(session.clone()).await.unwrap(), expected);
    assert_eq!(first.take_commands(session.clone()).await, Ok(Vec::new()));
    assert_eq!(first.sessions_with_commands().await, Ok(Vec::new()));
    // Sent again after it was taken, it is still the same.
    send(second, &session, "b", "\"second\"").await;
    assert_eq!(first.take_commands(session.clone()).await, Ok(Vec::new()));
    let unknown = StoreError::UnknownSession(session_id("nobody"));
    let sent = first.send_command(session_id("nobody"), command("c"), "null".to_owned()).await;
    assert_eq!(sent, Err(unknown.clone()));
    assert_eq!(first.claim(session_id("nobody")).await, Err(unknown));
}

pub(crate) async fn what_came_of_a_command_is_kept(first: &dyn Store, second: &dyn Store) {
    let (session, other) = (create(first, "s").await, create(first, "other").await);
    assert_eq!(first.claim(session.clone()).await, Ok(Claim::Ours));
    send(second, &session, "c", "null").await;
    send(second, &other, "c", "null").await;
    let outcome = async |store: &dyn Store, session: &SessionId| {
        store.command_outcome(session.clone(), command("c")).await.unwrap()
    };
    assert_eq!(outcome(second, &session).await, None);
    first.take_commands(session.clone()).await.unwrap();
    assert_eq!(outcome(second, &session).await, None);
    for answer in ["{\"done\":1}", "\"too late\""] {
        first.answer_command(session.clone(), command("c"), answer.to_owned()).await.unwrap();
        for store in [first, second] {
            assert_eq!(outcome(store, &session).await.as_deref(), Some("{\"done\":1}"));
        }
    }
    assert_eq!(outcome(first, &other).await, None);
    assert_eq!(first.command_outcome(session, command("unknown")).await, Ok(None));
}

pub(crate) async fn commands_are_taken_once_however_many_take(first: &dyn Store, second: &dyn Store) {
    const COMMANDS: usize = 40;
    let session = create(first, "s").await;
    assert_eq!(first.claim(session.clone()).await, Ok(Claim::Ours));
    let name = |number: usize| format!("c{number:02}");
    let sending = async {
        for number in 0..COMMANDS {
            send(second, &session, &name(number), "null").await;
        }
    };
    // Three tasks of the owner and one of another server, from the first command to the last.
    let taking = async |store: &dyn Store| {
        let mut taken = Vec::new();
        for _ in 0..COMMANDS {
            let commands = store.take_commands(session.clone()).await.unwrap();
            taken.extend(ids(&commands).into_iter().map(str::to_owned));
        }
        taken
    };
    let ((), a, b, c, others) = tokio::join!(sending, taking(first), taking(first), taking(first), taking(second));
    assert_eq!(others, Vec::<String>::new());
    let last = first.take_commands(session.clone()).await.unwrap();
    let mut all = [a.clone(), b.clone(), c.clone(), ids(&last).into_iter().map(str::to_owned).collect()].concat();
    all.sort();
    assert_eq!(all, (0..COMMANDS).map(name).collect::<Vec<_>>());
    for each in [a, b, c] {
        assert!(each.is_sorted(), "{each:?}");
    }
}

pub(crate) async fn commands_follow_a_session_to_its_next_owner(first: &dyn Store, second: &dyn Store) {
    for round in 0..10 {
        let session = create(first, &format!("s{round}")).await;
        assert_eq!(first.claim(session.clone()).await, Ok(Claim::Ours));
        for id in ["a", "b", "c"] {
            send(second, &session, id, "null").await;
        }
        let handing_over = async {
            first.release(session.clone()).await.unwrap();
            assert_eq!(second.claim(session.clone()).await, Ok(Claim::Ours));
            second.take_commands(session.clone()).await.unwrap()
        };
        let (kept, moved) = tokio::join!(first.take_commands(session.clone()), handing_over);
        let kept = kept.unwrap();
        // All of them went to the one or to the other.
        assert_eq!([ids(&kept), ids(&moved)].concat(), ["a", "b", "c"]);
        assert!(kept.is_empty() || moved.is_empty());
    }
}
