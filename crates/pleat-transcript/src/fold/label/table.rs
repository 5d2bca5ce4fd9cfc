//! The table of actions (spec/fold.md, section 6).

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
pub(super) struct Action {
    pub(super) name: &'static str,
    pub(super) running: &'static str,
    kind: Option<ToolKind>,
    tools: &'static [&'static str],
    pub(super) first: FirstSought,
}

const fn action(
    name: &'static str,
    running: &'static str,
    kind: Option<ToolKind>,
    tools: &'static [&'static str],
    first: FirstSought,
) -> Action {
    Action { name, running, kind, tools, first }
}

use FirstSought::{Address, Command, Description, Path, PathOnly, Pattern};

const ACTIONS: [Action; 17] = [
    action("Read file", "Reading file", Some(ToolKind::Read), READ, Path),
    action("Edit file", "Editing file", Some(ToolKind::Edit), EDIT, PathOnly),
    action("Create file", "Creating file", None, &["Write", "write_file", "create_file"], PathOnly),
    action("Delete file", "Deleting file", Some(ToolKind::Delete), &["delete_file"], PathOnly),
    action("Move file", "Moving file", Some(ToolKind::Move), &["move_file"], PathOnly),
    action("Search files", "Searching files", Some(ToolKind::Search), SEARCH, Pattern),
    action("Find files", "Finding files", None, &["Glob", "find_files", "file_search"], Pattern),
    action("List files", "Listing files", None, LIST, Path),
    action("Run command", "Running command", Some(ToolKind::Execute), RUN, Command),
    action("Check command", "Checking command", None, &["BashOutput", "TaskOutput", "write_stdin"], Command),
    action("Stop command", "Stopping command", None, &["KillShell", "KillBash", "TaskStop"], Command),
    action("Fetch page", "Fetching page", Some(ToolKind::Fetch), &["WebFetch"], Address),
    action("Search web", "Searching web", None, &["WebSearch", "google_web_search"], Pattern),
    action("Think", "Thinking", Some(ToolKind::Think), &[], Description),
    action("Run sub-agent", "Running sub-agent", None, &["Task", "Agent", "spawn_agent"], Description),
    action("Update plan", "Updating plan", None, &["TodoWrite", "update_plan", "write_todos"], Description),
    action(
        "Switch mode",
        "Switching mode",
        Some(ToolKind::SwitchMode),
        &["EnterPlanMode", "ExitPlanMode"],
        Description,
    ),
];

const READ: &[&str] = &["Read", "read_file", "read_many_files", "NotebookRead", "view", "view_image"];
const EDIT: &[&str] = &["Edit", "MultiEdit", "NotebookEdit", "edit_file", "replace", "apply_patch", "patch"];
const SEARCH: &[&str] = &["Grep", "grep_search", "grep_files", "search_file_content"];
const LIST: &[&str] = &["LS", "list", "list_directory", "list_dir", "list_files"];
const RUN: &[&str] = &["Bash", "shell", "local_shell", "exec_command", "run_command", "run_shell_command"];

/// Whether two names are the same without case, `_` and `-`.
pub(super) fn same_word(one: &str, other: &str) -> bool {
    let letters = |word| str::chars(word).filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase);
    letters(one).eq(letters(other))
}

/// The action of an own tool: by name where the table has it, else by kind; but a kind that changes files wins over a
/// name whose argument is no path (a patch run as a command).
pub(super) fn action_of(name: Option<&str>, kind: ToolKind) -> Option<&'static Action> {
    let by_name =
        name.and_then(|name| ACTIONS.iter().find(|action| action.tools.iter().any(|tool| same_word(tool, name))));
    let by_kind = || ACTIONS.iter().find(|action| action.kind == Some(kind));
    match by_name {
        Some(action) if action.first.is_path() || !changes_files(kind) => Some(action),
        Some(_) | None => by_kind(),
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
