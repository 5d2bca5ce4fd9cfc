//! A terminal's command: a program with its arguments, or a command line.

use crate::client::error::{FileFault, ServeError};
use crate::client::workspace::Workspace;
use crate::process::{GroupLeader, command_without_store};
use agent_client_protocol::v1::schema as acp;
use std::env;
use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tokio::process::Command;

/// Runs the command lines of agents that name no shell.
const SHELL: &str = "/bin/sh";

/// Starts what a request says, without the variables of our environment that are `hidden`, and gives our end of the pipe that it prints to.
pub(super) fn start(
    workspace: &Workspace,
    hidden: &[String],
    request: &acp::CreateTerminalRequest,
) -> Result<(GroupLeader, PipeReader), ServeError> {
    check_characters(request)?;
    let cwd = working_directory(workspace, request)?;
    let (program, args) = program_and_args(request, &cwd);
    let mut command = command_in(&cwd, program, &args, hidden, &request.env);
    let spawned = io::pipe().and_then(|(reader, writer)| {
        command.stdout(writer.try_clone()?).stderr(writer);
        // It takes the command, whose ends of the pipe would keep that open.
        Ok((GroupLeader::spawn(command)?, reader))
    });
    spawned.map_err(|source| not_started(program, &cwd, source))
}

fn command_in(cwd: &Path, program: &str, args: &[&str], hidden: &[String], env: &[acp::EnvVariable]) -> Command {
    let mut command = command_without_store(program, hidden);
    command
        .args(args)
        .envs(env.iter().map(|variable| (&variable.name, &variable.value)))
        .current_dir(cwd)
        .stdin(Stdio::null());
    command
}

fn check_characters(request: &acp::CreateTerminalRequest) -> Result<(), ServeError> {
    let nul = |text: &String| text.contains('\0');
    if nul(&request.command) || request.args.iter().any(nul) {
        return Err(ServeError::Nul { what: "the command" });
    }
    if request.env.iter().any(|variable| nul(&variable.name) || nul(&variable.value)) {
        return Err(ServeError::Nul { what: "an environment variable" });
    }
    if request.env.iter().any(|variable| variable.name.is_empty() || variable.name.contains('=')) {
        return Err(ServeError::VariableName);
    }
    Ok(())
}

/// The directory that a request names, which must be one of the session's or below, or else the session's own.
fn working_directory(workspace: &Workspace, request: &acp::CreateTerminalRequest) -> Result<PathBuf, ServeError> {
    let Some(cwd) = &request.cwd else { return Ok(workspace.root().to_owned()) };
    workspace.reach(cwd, |directory, path| {
        let is_directory = directory.metadata(path)?.is_dir();
        if is_directory { Ok(()) } else { Err(FileFault::NoDirectory) }
    })?;
    Ok(cwd.clone())
}

/// What to run: as the agent says, unless it means a command line (see [`crate::client`]).
fn program_and_args<'a>(request: &'a acp::CreateTerminalRequest, cwd: &Path) -> (&'a str, Vec<&'a str>) {
    let command = request.command.as_str();
    let may_be_a_line = request.args.is_empty() && command.contains(char::is_whitespace);
    if may_be_a_line && which::which_in(command, search_path(request), cwd).is_err() {
        return (SHELL, vec!["-c", command]);
    }
    (command, request.args.iter().map(String::as_str).collect())
}

/// Where the command will look for programs.
fn search_path(request: &acp::CreateTerminalRequest) -> Option<OsString> {
    let given = request.env.iter().rev().find(|variable| variable.name == "PATH");
    given.map_or_else(|| env::var_os("PATH"), |variable| Some(variable.value.clone().into()))
}

fn not_started(program: &str, cwd: &Path, source: io::Error) -> ServeError {
    let is_there = program.contains('/') && cwd.join(program).exists();
    let program = program.to_owned();
    if source.kind() == io::ErrorKind::NotFound && !is_there {
        ServeError::ProgramNotFound { program }
    } else if source.kind() == io::ErrorKind::PermissionDenied {
        ServeError::NotExecutable { program }
    } else {
        ServeError::NotStarted { program, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_not_told_of_the_store() {
        let added = acp::EnvVariable::new("ADDED", "x");
        let command = command_in(Path::new("/"), "env", &[], &["PGPASSWORD".to_owned()], &[added]);
        let value_of = |name: &str| command.as_std().get_envs().find(|(variable, _)| *variable == name);
        assert_eq!(value_of("PLEAT_STORE"), Some(("PLEAT_STORE".as_ref(), None)));
        assert_eq!(value_of("PGPASSWORD"), Some(("PGPASSWORD".as_ref(), None)));
        assert_eq!(value_of("ADDED"), Some(("ADDED".as_ref(), Some("x".as_ref()))));
    }
}
