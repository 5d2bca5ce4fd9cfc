//! What agents write, made safe to show: Markdown, terminal output, differences, dates.

pub(crate) mod dates;
pub(crate) mod difference;
pub(crate) mod markdown;
pub(crate) mod preview;
pub(crate) mod terminal;
