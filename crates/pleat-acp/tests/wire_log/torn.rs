//! What a kill leaves: the last frame is torn, and loses only itself.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use pleat_acp::trace::{self, TraceError, TraceItem};
use pleat_acp::wire_log::ProcessLog;

use crate::conversation::{House, noise, session};

/// The lines of a file that are noise, and `torn` for a torn end.
fn read(file: &Path) -> Vec<String> {
    let lines = trace::open(file).expect("a file").map(|line| match line {
        Ok(line) => match line.what {
            TraceItem::AgentRaw(raw) => raw,
            TraceItem::Note(_) => "note".to_owned(),
            TraceItem::ClientToAgent(_) | TraceItem::AgentToClient(_) | TraceItem::AgentStderr(_) => {
                panic!("nothing else was said")
            }
        },
        Err(TraceError::Torn { .. }) => "torn".to_owned(),
        Err(error) => error.to_string(),
    });
    lines.collect()
}

fn begin(house: &House) -> ProcessLog {
    let log = house.logs.process();
    log.add_session(&session(1));
    log
}

#[tokio::test]
async fn a_torn_frame_loses_only_itself_and_nothing_that_follows() {
    for cut in 1..60 {
        let mut house = House::new();
        let log = begin(&house);
        for text in ["one", "two", "three"] {
            noise(&log, text);
            house.logs.flush().await;
        }
        let files = house.files(&session(1)).await;
        let [file] = files.as_slice() else { panic!("{files:?}") };
        let length = file.metadata().expect("a file").len();
        OpenOptions::new().write(true).open(file).expect("a file").set_len(length - cut).expect("cut");
        // Where only its checksum is torn, its lines are there.
        let whole: &[&str] = if cut <= 4 { &["one", "two", "three"] } else { &["one", "two"] };
        assert_eq!(read(file), [whole, &["torn"]].concat(), "{cut} bytes are missing");

        house.restart().await;
        let log = begin(&house);
        noise(&log, "four");
        house.logs.flush().await;
        assert_eq!(read(file), ["one", "two", "note", "four"], "{cut} bytes were missing");
    }
}

/// A power cut may leave anything.
#[tokio::test]
async fn what_is_no_frame_is_cut_off() {
    for rest in [&[0; 300][..], b"{\"t_ms\":1", &[0x28, 0xB5, 0x2F, 0xFD]] {
        let mut house = House::new();
        noise(&begin(&house), "one");
        let files = house.files(&session(1)).await;
        OpenOptions::new().append(true).open(&files[0]).expect("a file").write_all(rest).expect("written");
        house.restart().await;
        noise(&begin(&house), "two");
        house.logs.flush().await;
        assert_eq!(read(&files[0]), ["one", "note", "two"], "{rest:?}");
    }
    // Nothing of it is whole.
    let house = House::new();
    let file = house.folder.path().join("s1.jsonl.zst");
    fs::write(&file, [0x28, 0xB5]).expect("written");
    noise(&begin(&house), "one");
    house.logs.flush().await;
    assert_eq!(read(&file), ["one"]);
}
