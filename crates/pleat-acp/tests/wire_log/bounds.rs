//! Who may read the files, how long they are kept, what they cost, and what happens when they cannot be written.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use pleat_acp::trace::TraceItem;
use pleat_acp::wire_log::{WireLogSettings, WireLogs};

use crate::conversation::{House, noise, session, update};

fn mode(path: &Path) -> u32 {
    path.metadata().expect("it is there").permissions().mode() & 0o777
}

#[tokio::test]
async fn files_are_their_owners_only() {
    let house = House::new();
    let mut settings = WireLogSettings::new(house.folder.path().join("deep/wire"));
    let logs = WireLogs::start(settings.clone()).expect("started");
    let log = logs.process();
    log.add_session(&session(1));
    noise(&log, "secret");
    logs.flush().await;
    assert_eq!(mode(&settings.folder), 0o700);
    assert_eq!(mode(&settings.folder.join("s1.jsonl.zst")), 0o600);
    // One that is there already.
    fs::set_permissions(&settings.folder, fs::Permissions::from_mode(0o755)).expect("set");
    WireLogs::start(settings.clone()).expect("started");
    assert_eq!(mode(&settings.folder), 0o700);
    // One that cannot be there.
    settings.folder = settings.folder.join("s1.jsonl.zst");
    assert!(WireLogs::start(settings).is_err());
}

#[tokio::test]
async fn files_that_are_not_written_any_more_are_removed() {
    let house = House::with(|settings| settings.keep = Duration::from_hours(1));
    let log = house.logs.process();
    for number in 1..=3 {
        log.add_session(&session(number));
        noise(&log, "x");
    }
    house.logs.flush().await;
    let (old, foreign) = (house.folder.path().join("s9.1.jsonl.zst"), house.folder.path().join("notes.txt"));
    let is_old = |path: &Path, seconds: u64| {
        let at = SystemTime::now() - Duration::from_secs(seconds);
        File::options().append(true).create(true).open(path).expect("a file").set_modified(at).expect("set");
    };
    is_old(&old, 3700);
    is_old(&foreign, 3700);
    is_old(&house.folder.path().join("s1.jsonl.zst"), 3700);
    is_old(&house.folder.path().join("s2.jsonl.zst"), 3500);
    house.logs.remove_old();
    assert_eq!(house.files(&session(1)).await.len(), 0);
    assert_eq!(house.files(&session(2)).await.len(), 1);
    assert_eq!(house.files(&session(3)).await.len(), 1);
    assert!(!old.exists() && foreign.exists());
    // And at the start.
    is_old(&old, 3600 * 24 * 8);
    let mut house = house;
    house.restart().await;
    house.logs.flush().await;
    assert!(!old.exists());
}

#[tokio::test]
async fn what_could_not_be_written_is_counted_and_what_follows_is_there() {
    let house = House::new();
    let log = house.logs.process();
    log.add_session(&session(1));
    noise(&log, "one");
    let file = house.files(&session(1)).await.remove(0);
    // Something that cannot be appended to.
    fs::rename(&file, file.with_extension("kept")).expect("renamed");
    fs::create_dir(&file).expect("made");
    for texts in [["lost", "lost too"], ["lost", "as well"]] {
        for text in texts {
            noise(&log, text);
        }
        house.logs.flush().await;
    }
    fs::remove_dir(&file).expect("removed");
    fs::rename(file.with_extension("kept"), &file).expect("renamed");
    noise(&log, "two");
    let lines = house.lines(&session(1)).await;
    let [TraceItem::AgentRaw(one), TraceItem::Note(note), TraceItem::AgentRaw(two)] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    assert_eq!((one.as_str(), two.as_str()), ("one", "two"));
    assert_eq!(note["event"], "4 lines are missing here: they could not be written");
}

/// In bytes.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its memory");
    line.split_whitespace().next().expect("a number").parse::<u64>().expect("a number") * 1024
}

/// A compressor for each of them would take more than 1 MB each.
#[tokio::test]
async fn two_hundred_sessions_cost_little_memory() {
    const SESSIONS: usize = 200;
    const ROUNDS: usize = 4;
    let house = House::new();
    let logs: Vec<_> = (0..SESSIONS).map(|_| house.logs.process()).collect();
    let text = "word ".repeat(60);
    let say = |number: usize| {
        let log = &logs[number];
        log.add_session(&session(number));
        log.name_session(&session(number), &pleat_transcript::ids::AgentSessionId("a".to_owned()));
        for line in 0..50 {
            update(log, "a", &format!("{text}{line}"));
        }
    };
    say(0);
    house.logs.flush().await;
    let before = memory();
    for _ in 0..ROUNDS {
        (0..SESSIONS).for_each(say);
        house.logs.flush().await;
    }
    let grown = memory().saturating_sub(before);
    assert!(grown < 40_000_000, "{grown} bytes");
    for number in 0..SESSIONS {
        let lines = house.lines(&session(number)).await.len();
        assert_eq!(lines, ROUNDS * 50 + if number == 0 { 50 } else { 0 });
    }
}
