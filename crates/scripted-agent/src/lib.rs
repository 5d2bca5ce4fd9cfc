//! An agent for tests: a small program that speaks ACP over its stdio as a script says.
//!
//! ```text
//! open_session                                  # answers `initialize` and `session/new`
//! hear session/prompt as prompt
//! text "I shall look."
//! call c1 title="Look" kind=read status=in_progress
//! ask r1 c1
//! hear_answer r1 as answer
//! if $answer.result.outcome.optionId == yes {
//!     call_update c1 status=completed output="found"
//! }
//! finish prompt
//! listen
//! ```
//!
//! A statement ends with its line or at `;`, a comment begins with `#`. A script is read through before any of it is
//! played. At its end the process ends, with 0; so it does when stdin has ended and something is waited for.
//!
//! # Values
//!
//! JSON, over several lines too; a text in single quotes, which double ones may stand in and `\n`, `\r`, `\t`, `\\`,
//! `\'` are read in; or a word without blanks, which is a text unless it is a number, `true`, `false` or `null`.
//! A duration is `20ms` or `3s`.
//!
//! In a text, `$name`, `$name.field.0` and `${name}` are what was heard `as name`, or a part of it; a value that is
//! nothing else has the variable's type. `$$` is the character. Every script has:
//!
//! | variable | |
//! |---|---|
//! | `$SESSION` | the session that is spoken of: the one that was opened or was named in what was heard, last |
//! | `$RUN` | the how manieth agent in this folder it is, from 1 |
//! | `$PID`, `$CWD`, `$ENV.NAME`, `$ARGUMENTS.0` | the process's own; arguments are those that follow the script |
//! | `$NOW` | the microseconds since 1970, when it is read |
//! | `$i` | in a loop, the round, from 0 |
//!
//! # Hearing
//!
//! | statement | |
//! |---|---|
//! | `hear [METHOD] [as NAME] [session=ID]` | waits for a message. Others are kept for whoever waits for them later |
//! | `hear_answer REQUEST [as NAME]` | waits for the answer to the request of this id |
//! | `listen` | reads until stdin ends |
//!
//! Stdin is read only while something is waited for, so that an agent which waits for nothing fills its pipe.
//!
//! # Answering
//!
//! | statement | |
//! |---|---|
//! | `open_session [as NAME] [FIELD=VALUE…]` | `initialize`, then `new_session` |
//! | `initialize [FIELD=VALUE…]` | waits for it, and answers with version 1, no capabilities, and these fields |
//! | `authenticate` | waits for it, and answers |
//! | `new_session [as NAME] [FIELD=VALUE…]` | waits for `session/new`, and answers with a new id and these fields |
//! | `reply NAME RESULT`, `refuse NAME CODE MESSAGE` | answers the request that was heard as NAME |
//! | `finish NAME [REASON] [FIELD=VALUE…]` | answers a prompt; the stop reason is `end_turn` if there is none |
//!
//! # Saying
//!
//! | statement | |
//! |---|---|
//! | `text TEXT`, `thought TEXT` | a chunk of a message, or of a thought |
//! | `call ID`, `call_update ID` | `title=`, `kind=edit` and `status=pending` are usual; `output=TEXT` is a text as content |
//! | `update KIND` | any other `session/update` |
//! | `ask REQUEST CALL [options=LIST]` | asks for a permission; the usual options are `yes` and `no` |
//! | `request ID METHOD` | asks the client for something, in the session |
//! | `say MESSAGE` | any message; `jsonrpc` is added |
//! | `long_line BYTES` | a text that makes its line so long, the end of the line not counted |
//!
//! All but the last two take `FIELD=VALUE` for more fields of the update, the call or the params; `session=ID` says it
//! in another session (a `request` has `sessionId=`).
//!
//! | statement | |
//! |---|---|
//! | `stdout TEXT`, `stderr TEXT` | a text as it stands, without an end of the line |
//! | `stdout BYTES`, `stderr BYTES` | so many `x` |
//! | `fill NAME BYTES` | calls a text of so many `x` NAME |
//!
//! # The process
//!
//! | statement | |
//! |---|---|
//! | `exit CODE`, `abort` | ends it at once |
//! | `sleep DURATION`, `sleep_forever` | does nothing, and reads nothing |
//! | `wait_at GATE` | waits until somebody opens this FIFO for writing, and closes it |
//! | `spawn COMMAND` | starts a shell's command that may outlive it, with its stdout and stderr |
//!
//! An agent that ignores a signal is made by a shell: `trap '' TERM; exec PROGRAM SCRIPT`.
//!
//! # Control
//!
//! | statement | |
//! |---|---|
//! | `repeat [N] { … }` | so often, or for ever |
//! | `every DURATION [for DURATION] { … }` | at each tick of a clock, which catches up where it was late |
//! | `every DURATION until METHOD [as NAME] { … }` | until that is heard |
//! | `background { … }` | while the rest goes on, with variables of its own from then on |
//! | `if VALUE == VALUE { … } else { … }` | also `!=` and `else if`. What is not there is `null` here, elsewhere an error |
//!
//! # Notes
//!
//! In its working directory it leaves the lines that it heard (`heard`), its pid (`pids`) and those of what it spawned
//! (`children`), each appended to what is there. What is wrong with a script, or with what the client said, is on
//! stderr and in `script_error`, and the exit code is 70: a test that fails if there is such a file never takes a
//! mistake for something that an agent does.

mod agent;

pub use agent::{ScriptError, check, play};

use std::path::PathBuf;

/// The program: `PROGRAM SCRIPT [ARGUMENT…]`. It was built with this library.
pub fn program() -> PathBuf {
    PathBuf::from(concat!(env!("OUT_DIR"), "/scripted-agent"))
}
