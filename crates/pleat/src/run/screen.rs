//! stdout and stderr, which are often one terminal: what is printed there stays apart.

use super::style::Style;
use crate::plain_text::visible;
use std::io::{IsTerminal, Write};

/// Of a status line so much is shown, if the terminal has room for it.
const MOST_OF_STATUS: usize = 300;

/// What is written to, and what it shows.
pub(super) struct Screen {
    output: Box<dyn Write + Send>,
    messages: Box<dyn Write + Send>,
    /// stdout is a terminal.
    shows_output: bool,
    /// stderr is one.
    shows_messages: bool,
    /// How messages are coloured.
    pub(super) style: Style,
    /// Output ends in the middle of a line.
    is_in_line: bool,
    message_line: MessageLine,
}

/// What stands on the line of stderr that the cursor is in.
enum MessageLine {
    Empty,
    /// What happens now: it is taken away before anything else is printed.
    Status(String),
    /// A question that nobody has answered.
    Question,
}

impl Screen {
    /// stdout and stderr.
    pub(super) fn standard() -> Self {
        let (output, messages) = (std::io::stdout(), std::io::stderr());
        Self {
            shows_output: output.is_terminal(),
            shows_messages: messages.is_terminal(),
            style: Style::of(&messages),
            output: Box::new(output),
            messages: Box::new(messages),
            is_in_line: false,
            message_line: MessageLine::Empty,
        }
    }

    /// Prints output. A reader that has seen enough is no failure: what the agent does goes on without one.
    pub(super) fn print(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.clear();
        let _ = self.output.write_all(text.as_bytes()).and_then(|()| self.output.flush());
        self.is_in_line = !text.ends_with('\n');
    }

    /// Says something on stderr, on lines of its own.
    pub(super) fn say(&mut self, text: &str) {
        self.clear();
        self.end_line();
        self.write_message(&format!("{}\n", text.trim_end_matches('\n')));
    }

    /// Asks something on stderr: the cursor stays behind it.
    pub(super) fn ask(&mut self, text: &str) {
        self.clear();
        self.end_line();
        self.write_message(text);
        self.message_line = if text.ends_with('\n') { MessageLine::Empty } else { MessageLine::Question };
    }

    /// Whoever answers has ended the line of the question.
    pub(super) fn was_answered(&mut self) {
        self.message_line = MessageLine::Empty;
    }

    /// Shows what happens now, as long as nothing else is printed; an empty text takes it away.
    pub(super) fn show_status(&mut self, text: &str) {
        // The rest of a line of output would be taken away with it.
        let has_room = self.shows_messages && !(self.shows_output && self.is_in_line);
        let text: String = visible(text).chars().take(MOST_OF_STATUS).collect();
        match &self.message_line {
            MessageLine::Question => return,
            MessageLine::Status(shown) if *shown == text => return,
            MessageLine::Empty | MessageLine::Status(_) => {}
        }
        self.clear();
        if has_room && !text.is_empty() {
            // The terminal cuts the line at its end instead of breaking it, so that taking it away takes all of it.
            self.write_message(&format!("\x1b[?7l{text}\x1b[?7h"));
            self.message_line = MessageLine::Status(text);
        }
    }

    /// Takes the status away, or goes on below a question.
    fn clear(&mut self) {
        match std::mem::replace(&mut self.message_line, MessageLine::Empty) {
            MessageLine::Empty => {}
            MessageLine::Status(_) => self.write_message("\r\x1b[K"),
            MessageLine::Question => self.write_message("\n"),
        }
    }

    /// Leaves the cursor at the beginning of an empty line, for whoever writes next.
    pub(super) fn finish(&mut self) {
        self.clear();
        self.end_line();
    }

    fn end_line(&mut self) {
        if self.is_in_line && self.shows_output && self.shows_messages {
            self.print("\n");
        }
    }

    fn write_message(&mut self, text: &str) {
        // With the terminal gone there is nobody to tell.
        let _ = self.messages.write_all(text.as_bytes()).and_then(|()| self.messages.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Terminal(Arc<Mutex<Vec<u8>>>);

    impl Write for Terminal {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Terminal {
        fn screen(&self, shows_output: bool, shows_messages: bool) -> Screen {
            Screen {
                output: Box::new(self.clone()),
                messages: Box::new(self.clone()),
                shows_output,
                shows_messages,
                style: Style::Plain,
                is_in_line: false,
                message_line: MessageLine::Empty,
            }
        }

        fn taken(&self) -> String {
            String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
        }
    }

    #[test]
    fn a_status_is_taken_away_before_anything_else_is_printed() {
        let terminal = Terminal::default();
        let mut screen = terminal.screen(true, true);
        screen.show_status("Reading\x1b[2J");
        screen.show_status("Reading\x1b[2J");
        screen.print("text\n");
        assert_eq!(terminal.taken(), "\x1b[?7lReading␛[2J\x1b[?7h\r\x1b[Ktext\n");
        screen.show_status("Working");
        screen.say("a sentence");
        assert_eq!(terminal.taken(), "\x1b[?7lWorking\x1b[?7h\r\x1b[Ka sentence\n");
    }

    #[test]
    fn a_line_that_grows_is_left_alone() {
        let terminal = Terminal::default();
        let mut screen = terminal.screen(true, true);
        screen.print("I am ");
        screen.show_status("Working");
        assert_eq!(terminal.taken(), "I am ");
        screen.ask("Your answer: ");
        assert_eq!(terminal.taken(), "\nYour answer: ");
        screen.show_status("Working");
        screen.say("It is not asked.");
        screen.ask("Your answer: ");
        screen.was_answered();
        screen.print("text\n");
        assert_eq!(terminal.taken(), "\nIt is not asked.\nYour answer: text\n");
        let mut apart = terminal.screen(false, true);
        apart.print("I am ");
        apart.show_status("Working");
        apart.say("a sentence");
        assert_eq!(terminal.taken(), "I am \x1b[?7lWorking\x1b[?7h\r\x1b[Ka sentence\n");
    }

    #[test]
    fn without_a_terminal_there_is_no_status() {
        let terminal = Terminal::default();
        let mut screen = terminal.screen(false, false);
        screen.show_status("Working");
        screen.print("I am ");
        screen.say("a sentence");
        screen.print("here.");
        assert_eq!(terminal.taken(), "I am a sentence\nhere.");
    }
}
