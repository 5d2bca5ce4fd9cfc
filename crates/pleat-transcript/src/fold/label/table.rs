//! The table of actions (docs/spec/fold.md, section 6).

use crate::call::ToolKind;

/// What is sought first in a call's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstSought {
    Path,
    PathOnly,
    Pattern,
    Command,
    Address,
    Description,
}

impl FirstSought {
    /// Whether the argument is a path.
    fn is_path(self) -> bool {
        match self {
            Self::Path | Self::PathOnly => true,
            Self::Pattern | Self::Command | Self::Address | Self::Description => false,
        }
    }
}

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::fold) struct Action {
    pub(in crate::fold) name: &'static str,
    pub(in crate::fold) running: &'static str,
    kind: Option<ToolKind>,
    tools: &'static [&'static str],
    pub(super) first: FirstSought,
    /// How a headline says it.
    pub(in crate::fold) words: Words,
}

/// The words of a headline for an action (docs/spec/fold.md, section 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fold) struct Words {
    /// Before a target, when it is done: `Read`.
    pub(in crate::fold) done: &'static str,
    /// Before a target, while it is at work: `Reading`.
    pub(in crate::fold) doing: &'static str,
    /// Before a target, after its outcome was named: `read`.
    pub(in crate::fold) bare: &'static str,
    pub(in crate::fold) counted: Counted,
    pub(in crate::fold) weight: Weight,
}

/// How much a reader misses where a headline has no room for an action; what weighs least goes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::fold) enum Weight {
    /// It changes nothing.
    Looks,
    /// It may change anything.
    Does,
    /// It changes files.
    ChangesFiles,
}

impl Weight {
    /// All, the lightest first.
    pub(in crate::fold) const ALL: [Self; 3] = [Self::Looks, Self::Does, Self::ChangesFiles];
}

impl Words {
    const fn of_looking(self) -> Self {
        Self { weight: Weight::Looks, ..self }
    }

    const fn of_changing(self) -> Self {
        Self { weight: Weight::ChangesFiles, ..self }
    }
}

/// What is counted where the targets are not told, or too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fold) enum Counted {
    /// Different targets: `Read 3 files`, however often each was read.
    Targets(Nouns),
    /// Calls: `Ran 3 commands`.
    Calls(Nouns),
    /// How often: `Searched the web`, `Searched the web 3 times`.
    Times(&'static str),
}

/// What stands around a number: `Read` 1 `file`, `Read` 3 `files`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::fold) struct Nouns {
    pub(in crate::fold) before: &'static str,
    pub(in crate::fold) one: &'static str,
    pub(in crate::fold) many: &'static str,
}

const fn nouns(before: &'static str, one: &'static str, many: &'static str) -> Nouns {
    Nouns { before, one, many }
}

const fn words(done: &'static str, doing: &'static str, bare: &'static str, counted: Counted) -> Words {
    Words { done, doing, bare, counted, weight: Weight::Does }
}

const fn files(done: &'static str, doing: &'static str, bare: &'static str) -> Words {
    words(done, doing, bare, Counted::Targets(nouns(done, "file", "files")))
}

const fn commands(done: &'static str, doing: &'static str, bare: &'static str) -> Words {
    words(done, doing, bare, Counted::Calls(nouns(done, "command", "commands")))
}

const fn times(done: &'static str, doing: &'static str, bare: &'static str, alone: &'static str) -> Words {
    words(done, doing, bare, Counted::Times(alone))
}

const fn action(
    name: &'static str,
    running: &'static str,
    kind: Option<ToolKind>,
    tools: &'static [&'static str],
    first: FirstSought,
    words: Words,
) -> Action {
    Action { name, running, kind, tools, first, words }
}

use FirstSought::{Address, Command, Description, Path, PathOnly, Pattern};

static ACTIONS: [Action; 17] = [
    action(
        "Read file",
        "Reading file",
        Some(ToolKind::Read),
        READ,
        Path,
        files("Read", "Reading", "read").of_looking(),
    ),
    action(
        "Edit file",
        "Editing file",
        Some(ToolKind::Edit),
        EDIT,
        PathOnly,
        files("Edited", "Editing", "edit").of_changing(),
    ),
    action(
        "Create file",
        "Creating file",
        None,
        CREATE,
        PathOnly,
        files("Created", "Creating", "create").of_changing(),
    ),
    action(
        "Delete file",
        "Deleting file",
        Some(ToolKind::Delete),
        &["delete_file"],
        PathOnly,
        files("Deleted", "Deleting", "delete").of_changing(),
    ),
    action(
        "Move file",
        "Moving file",
        Some(ToolKind::Move),
        &["move_file"],
        PathOnly,
        files("Moved", "Moving", "move").of_changing(),
    ),
    action(
        "Search files",
        "Searching files",
        Some(ToolKind::Search),
        SEARCH,
        Pattern,
        times("Searched for", "Searching for", "search for", "Searched files").of_looking(),
    ),
    action(
        "Find files",
        "Finding files",
        None,
        &["Glob", "find_files", "file_search"],
        Pattern,
        times("Looked for", "Looking for", "look for", "Looked for files").of_looking(),
    ),
    action(
        "List files",
        "Listing files",
        None,
        LIST,
        Path,
        words("Listed", "Listing", "list", Counted::Targets(nouns("Listed", "folder", "folders"))).of_looking(),
    ),
    action("Run command", "Running command", Some(ToolKind::Execute), RUN, Command, commands("Ran", "Running", "run")),
    action(
        "Check command",
        "Checking command",
        None,
        &["BashOutput", "TaskOutput", "write_stdin"],
        Command,
        times("Checked on", "Checking on", "check on", "Checked on a command").of_looking(),
    ),
    action(
        "Stop command",
        "Stopping command",
        None,
        &["KillShell", "KillBash", "TaskStop"],
        Command,
        commands("Ended", "Ending", "end"),
    ),
    action(
        "Fetch page",
        "Fetching page",
        Some(ToolKind::Fetch),
        &["WebFetch"],
        Address,
        words("Fetched", "Fetching", "fetch", Counted::Targets(nouns("Fetched", "page", "pages"))).of_looking(),
    ),
    action(
        "Search web",
        "Searching web",
        None,
        &["WebSearch", "google_web_search"],
        Pattern,
        times("Searched the web for", "Searching the web for", "search the web for", "Searched the web").of_looking(),
    ),
    action(
        "Think",
        "Thinking",
        Some(ToolKind::Think),
        &[],
        Description,
        times("Thought about", "Thinking about", "think about", "Thought").of_looking(),
    ),
    action(
        "Run sub-agent",
        "Running sub-agent",
        None,
        &["Task", "Agent", "spawn_agent"],
        Description,
        words(
            "Ran sub-agent:",
            "Running sub-agent:",
            "run sub-agent:",
            Counted::Calls(nouns("Ran", "sub-agent", "sub-agents")),
        ),
    ),
    action(
        "Update plan",
        "Updating plan",
        None,
        &["TodoWrite", "update_plan", "write_todos"],
        Description,
        times("Updated the plan:", "Updating the plan:", "update the plan:", "Updated the plan").of_looking(),
    ),
    action(
        "Switch mode",
        "Switching mode",
        Some(ToolKind::SwitchMode),
        &["EnterPlanMode", "ExitPlanMode"],
        Description,
        times("Switched mode:", "Switching mode:", "switch mode:", "Switched mode").of_looking(),
    ),
];

const READ: &[&str] = &["Read", "read_file", "read_many_files", "NotebookRead", "view", "view_image"];
const EDIT: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "edit_file", "replace", "apply_patch", "patch"];
const CREATE: &[&str] = &["Write", "write_file", "create_file"];
const SEARCH: &[&str] = &["Grep", "grep_search", "grep_files", "search_file_content"];
const LIST: &[&str] = &["LS", "list", "list_directory", "list_dir", "list_files"];
const RUN: &[&str] = &["Bash", "shell", "local_shell", "exec_command", "run_command", "run_shell_command"];

/// Whether two names are the same without case, `_` and `-`.
pub(super) fn same_word(one: &str, other: &str) -> bool {
    if one.is_ascii() && other.is_ascii() {
        // Nearly all are, and every call's name is compared with all of the table.
        let letters = |word| str::bytes(word).filter(|c| !matches!(c, b'_' | b'-')).map(|c| c.to_ascii_lowercase());
        return letters(one).eq(letters(other));
    }
    let letters = |word| str::chars(word).filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase);
    letters(one).eq(letters(other))
}

/// The action of an own tool: by name where the table has it, else by kind; but a kind that changes files wins over a
/// name whose argument is no path (a patch run as a command).
pub(super) fn action_of(name: Option<&str>, kind: ToolKind, has_command: bool) -> Option<&'static Action> {
    let by_name =
        name.and_then(|name| ACTIONS.iter().find(|action| action.tools.iter().any(|tool| same_word(tool, name))));
    let by_kind = || ACTIONS.iter().find(|action| action.kind == Some(kind));
    match by_name {
        Some(action) if action.first.is_path() => Some(action),
        Some(action) if changes_files(kind) || (looks(kind) && action.first == Command && !has_command) => {
            by_kind().or(Some(action))
        }
        Some(action) => Some(action),
        None => by_kind(),
    }
}

/// The kinds of a command that only looks at something.
fn looks(kind: ToolKind) -> bool {
    match kind {
        ToolKind::Read | ToolKind::Search | ToolKind::Fetch => true,
        ToolKind::Edit
        | ToolKind::Delete
        | ToolKind::Move
        | ToolKind::Execute
        | ToolKind::Think
        | ToolKind::SwitchMode
        | ToolKind::Other => false,
    }
}

fn changes_files(kind: ToolKind) -> bool {
    match kind {
        ToolKind::Edit | ToolKind::Delete | ToolKind::Move => true,
        ToolKind::Read
        | ToolKind::Search
        | ToolKind::Execute
        | ToolKind::Think
        | ToolKind::Fetch
        | ToolKind::SwitchMode
        | ToolKind::Other => false,
    }
}
