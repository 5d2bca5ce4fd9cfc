//! Colours, where there are to be any.

use std::io::IsTerminal;

/// What is told apart by colour, beside its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    Quiet,
    Good,
    Warning,
    Bad,
}

/// Whether there are colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    Coloured,
}

impl Style {
    /// Colours are for a terminal, and not for who asks for none (`NO_COLOR`, as all programs understand it).
    pub(super) fn of(output: &impl IsTerminal) -> Self {
        let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if output.is_terminal() && !unwanted { Self::Coloured } else { Self::Plain }
    }

    /// A text in its tone.
    pub(super) fn paint(self, tone: Tone, text: &str) -> String {
        let code = match (self, tone) {
            (Self::Plain, _) | (Self::Coloured, Tone::Plain) => return text.to_owned(),
            (Self::Coloured, Tone::Quiet) => "2",
            (Self::Coloured, Tone::Good) => "32",
            (Self::Coloured, Tone::Warning) => "33",
            (Self::Coloured, Tone::Bad) => "31",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}
