//! Lines that a person types. They are read only while something is asked, and what was typed before a question was
//! seen is no answer to it.

use std::sync::mpsc as blocking;
use tokio::sync::mpsc;

/// Something that a person typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TypedLine {
    Text(String),
    /// Nothing more will be typed.
    End,
}

/// Lines from stdin.
pub(super) struct TypedLines {
    wanted: blocking::Sender<()>,
    typed: mpsc::UnboundedReceiver<TypedLine>,
    /// A line that was wanted has not been typed yet.
    is_waiting: bool,
}

impl TypedLines {
    /// Reads nothing before [`TypedLines::want`]: a program in the background would be halted for it.
    pub(super) fn of_stdin() -> std::io::Result<Self> {
        let (wanted, requests) = blocking::channel();
        let (sender, typed) = mpsc::unbounded_channel();
        // A thread of its own, which the end of the program does not wait for: a read cannot be called off.
        std::thread::Builder::new().name("typed-lines".to_owned()).spawn(move || read(&requests, &sender))?;
        Ok(Self { wanted, typed, is_waiting: false })
    }

    /// Wants a line that is typed from now on.
    pub(super) fn want(&mut self) {
        discard_typed_ahead();
        while self.typed.try_recv().is_ok() {
            self.is_waiting = false;
        }
        if !self.is_waiting {
            // An error: the thread is gone, which reads as the end.
            self.is_waiting = self.wanted.send(()).is_ok();
        }
    }

    /// The line that was wanted. May be dropped and called again.
    pub(super) async fn next(&mut self) -> TypedLine {
        let line = self.typed.recv().await.unwrap_or(TypedLine::End);
        self.is_waiting = false;
        line
    }
}

fn read(requests: &blocking::Receiver<()>, typed: &mpsc::UnboundedSender<TypedLine>) {
    while requests.recv().is_ok() {
        let mut line = String::new();
        let read = match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => TypedLine::End,
            Ok(_) => TypedLine::Text(line),
        };
        if typed.send(read).is_err() {
            return;
        }
    }
}

/// What the terminal holds back until it is read.
fn discard_typed_ahead() {
    #[cfg(unix)]
    // stdin is a terminal here; where it is none, there is nothing to discard.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
}
