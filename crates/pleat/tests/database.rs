//! The store that is chosen, `pleat db`, and the password that nobody is told.

#![allow(clippy::unwrap_used, reason = "the helpers of tests may panic too")]

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;
use tokio_postgres::config::Host;
use tokio_postgres::{Config, NoTls};

const SECRET: &str = "s3cr3t-w0rd";

/// A home with nothing in it.
struct House {
    folder: TempDir,
    /// `PLEAT_STORE`.
    store: Option<String>,
}

impl House {
    fn new() -> Self {
        Self { folder: TempDir::new().unwrap(), store: None }
    }

    /// With what the environment names as the store.
    fn with_store(&self, store: &str) -> House {
        let folder = TempDir::new_in(self.folder.path()).unwrap();
        House { folder, store: Some(store.to_owned()) }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleat"));
        command.args(words).current_dir(self.folder.path());
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            command.env(name, self.folder.path());
        }
        for name in ["PLEAT_STORE", "PGPASSWORD", "PGPASSFILE"] {
            command.env_remove(name);
        }
        if let Some(store) = &self.store {
            command.env("PLEAT_STORE", store);
        }
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    #[track_caller]
    fn prints(&self, words: &[&str]) -> String {
        let output = self.run(words);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The sentence of a command that must fail.
    #[track_caller]
    fn fails(&self, words: &[&str], code: i32) -> String {
        let output = self.run(words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {}", said(&output));
        said(&output)
    }

    /// Imports a conversation.
    fn import(&self, id: &str, more: &[&str]) {
        let file = self.path(&format!("{id}.json"));
        let document = json!({"session": {"id": id, "turns": [{"id": "t", "state": "completed"}]}, "messages": [
            {"id": "m1", "turn": "t", "role": "user", "text": "Fix it"},
            {"id": "m2", "turn": "t", "role": "assistant", "parts": [{"type": "text", "text": "Done."}]}]});
        std::fs::write(&file, document.to_string()).unwrap();
        self.prints(&[&["import", file.as_str()], more].concat());
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A database of its own on the server for tests, by an address with everything in it.
struct Database {
    server: Config,
    name: String,
}

impl Database {
    fn create() -> Option<Self> {
        let Ok(server) = std::env::var("PLEAT_TEST_POSTGRES") else {
            eprintln!("SKIPPED: PLEAT_TEST_POSTGRES names no PostgreSQL server");
            return None;
        };
        let database =
            Self { server: server.parse().unwrap(), name: format!("pleat_{}", uuid::Uuid::now_v7().simple()) };
        database.ask(&format!("CREATE DATABASE {}", database.name));
        Some(database)
    }

    fn ask(&self, statement: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (client, connection) = self.server.connect(NoTls).await.unwrap();
            tokio::spawn(connection);
            client.batch_execute(statement).await.unwrap();
        });
    }

    fn address(&self) -> String {
        let host = match self.server.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            Some(Host::Unix(folder)) => folder.display().to_string(),
            None => "localhost".to_owned(),
        };
        let port = self.server.get_ports().first().copied().unwrap_or(5432);
        let password = self.server.get_password().map(|password| String::from_utf8_lossy(password).into_owned());
        let password = password.map(|password| format!("&password={password}")).unwrap_or_default();
        let user = self.server.get_user().unwrap();
        format!("postgres:///{}?host={host}&port={port}&user={user}{password}", self.name)
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.ask(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}

#[test]
fn a_password_on_the_command_line_is_refused() {
    let house = House::new();
    let address = format!("postgres://me:{SECRET}@127.0.0.1:1/pleat");
    let refused = [
        vec!["--store", &address],
        vec!["--no-open", "--store", &address],
        vec!["export", "s1", "--store", &address],
        vec!["db", "copy", "--from", "sqlite:a.db", "--to", &address],
        vec!["db", "copy", "--from", &address, "--to", "sqlite:a.db"],
        vec![&address],
    ];
    for words in refused {
        let output = house.run(&words);
        assert_eq!(output.status.code(), Some(1), "{}", said(&output));
        assert!(said(&output).contains("PLEAT_STORE") && !said(&output).contains(SECRET), "{}", said(&output));
    }
    let sentence = house.fails(&[&format!("--store=postgres://me@h/p?password={SECRET}")], 1);
    assert!(sentence.contains("PLEAT_STORE") && !sentence.contains(SECRET), "{sentence}");
    for odd in [
        format!("postgres://me:{SECRET}@127.0.0.1:port/pleat"),
        format!("postgres://me:x@{SECRET}@127.0.0.1/pleat"),
        format!("host=127.0.0.1 password={SECRET}"),
        format!("mysql://me:{SECRET}@127.0.0.1/pleat"),
    ] {
        let sentence = house.fails(&["db", "stats", "--store", &odd], 3);
        assert!(!sentence.contains(SECRET), "{sentence}");
    }
    assert!(std::fs::read_dir(house.folder.path()).unwrap().next().is_none(), "nothing was made");
}

#[test]
fn the_environment_s_password_is_told_nowhere() {
    let commands: [&[&str]; 8] = [
        &["--help"],
        &["db", "copy", "--help"],
        &["--no-open"],
        &["export", "s1"],
        &["db", "check"],
        &["db", "backup", "b.db"],
        &["db", "stats", "--json"],
        &["--odd"],
    ];
    for address in [
        format!("postgres://me:{SECRET}@127.0.0.1:1/pleat"),
        format!("postgres://me:{SECRET}@127.0.0.1:port/pleat"),
        format!("postgres://me:{SECRET}@127.0.0.1:1/pleat?nonsense=1"),
        format!("postgres:///pleat?host=/nowhere&user=me&password={SECRET}"),
        format!("mysql://me:{SECRET}@127.0.0.1:1/pleat"),
    ] {
        let house = House { store: Some(address), ..House::new() };
        for words in commands {
            let output = house.command(words).env("PLEAT_LOG", "trace").output().unwrap();
            let all = said(&output) + &String::from_utf8_lossy(&output.stdout);
            assert!(!all.contains(SECRET), "{words:?}: {all}");
            assert_eq!(output.status.success(), words.contains(&"--help"), "{words:?}: {all}");
            assert!(!all.is_empty());
        }
    }
}

#[test]
fn a_password_that_is_kept_is_found_and_told_nowhere() {
    let house = House::new();
    std::fs::write(house.path(".pgpass"), format!("127.0.0.1:1:pleat:me:{SECRET}\n")).unwrap();
    let store = "postgres://me@127.0.0.1:1/pleat";
    for mode in [0o600, 0o644] {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(house.path(".pgpass"), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let output = house.command(&["db", "stats", "--store", store]).env("PLEAT_LOG", "trace").output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let sentence = said(&output);
        assert!(sentence.contains("postgres://127.0.0.1:1/pleat") && !sentence.contains(SECRET), "{sentence}");
        assert_eq!(sentence.contains("others can read the password file"), mode == 0o644, "{sentence}");
    }
}

#[test]
fn a_file_is_a_store_of_its_own() {
    let house = House::new();
    let file = house.path("elsewhere/mine.db");
    house.import("s1", &["--store", &format!("sqlite:{file}")]);
    house.import("s2", &[]);
    assert!(house.prints(&["export", "s1", "--store", &file]).contains("Done."));
    assert!(house.with_store(&file).prints(&["export", "s1"]).contains("Done."));
    assert!(house.fails(&["export", "s1"], 1).contains("`s1`"), "the data folder's is another");
}

#[test]
fn a_database_is_looked_after() {
    let house = House::new();
    let store = ["--store", "sqlite:mine.db"];
    let with = |words: &[&'static str]| [words, &store].concat();
    for words in [["db", "check"], ["db", "vacuum"], ["db", "stats"]] {
        assert!(house.fails(&with(&words), 1).contains("there is no database `mine.db`"));
    }
    assert!(house.prints(&with(&["db", "migrate"])).starts_with("`mine.db` is at version "));
    house.import("s1", &store);
    assert!(house.prints(&with(&["db", "check"])).contains("1 sessions looked at, nothing is wrong"));
    let stats: Value = serde_json::from_str(&house.prints(&with(&["db", "stats", "--json"]))).unwrap();
    assert_eq!((&stats["sessions"], &stats["messages"]), (&json!(1), &json!(2)));
    assert_eq!(stats["tables"]["message"], 2);
    assert!(house.prints(&with(&["db", "stats"])).contains("messages       2\n"));
    assert!(house.prints(&with(&["db", "vacuum"])).contains(" before, "));
    assert!(house.prints(&with(&["db", "backup", "backup.db"])).starts_with("`backup.db` ("));
    assert!(house.fails(&with(&["db", "backup", "backup.db"]), 1).contains("exists already"));
    assert_eq!(house.prints(&["export", "s1", "--store", "backup.db"]), house.prints(&with(&["export", "s1"])));
}

#[test]
fn a_database_is_copied_and_the_copy_compared() {
    let house = House::new();
    house.import("s1", &["--store", "a.db"]);
    house.import("s2", &["--store", "b.db"]);
    let copy = ["db", "copy", "--from", "sqlite:a.db", "--to", "c.db"];
    let told = house.prints(&copy);
    assert!(told.contains("`c.db` holds what `a.db` does") && told.contains("\nmessage "), "{told}");
    assert_eq!(house.prints(&copy), told);
    assert_eq!(house.prints(&["export", "s1", "--store", "c.db"]), house.prints(&["export", "s1", "--store", "a.db"]));
    let sentence = house.fails(&["db", "copy", "--from", "b.db", "--to", "c.db"], 3);
    assert!(sentence.contains("holds something else"), "{sentence}");
    assert!(house.fails(&["db", "copy", "--from", "none.db", "--to", "d.db"], 1).contains("`none.db`"));
    assert!(!std::path::Path::new(&house.path("d.db")).exists());
}

/// A server, killed when it is dropped.
struct Server {
    child: Child,
    link: String,
}

impl Server {
    fn start(house: &House, words: &[&str]) -> Self {
        let words = [&["--listen", "127.0.0.1:0", "--no-open"], words].concat();
        let mut child = house.command(&words).stdout(Stdio::piped()).spawn().unwrap();
        let mut printed = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut printed).unwrap();
        let link = printed.trim().split_once("http://").unwrap().1.to_owned();
        Self { child, link }
    }

    fn token(&self) -> &str {
        self.link.split_once("token=").unwrap().1
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn two_servers_do_not_share_a_file() {
    let house = House::new();
    let _server = Server::start(&house, &["--data", "d"]);
    for words in [["--store", "d/pleat.db"], ["--store", "sqlite:d/pleat.db"], ["--data", "d"]] {
        let words = [&["--listen", "127.0.0.1:0", "--no-open"], &words[..]].concat();
        assert!(house.fails(&words, 3).contains("another Pleat"));
    }
    let _other = Server::start(&house, &["--data", "d", "--store", "other.db"]);
}

#[test]
fn two_servers_share_a_database_on_a_server() {
    let Some(database) = Database::create() else { return };
    let house = House { store: Some(database.address()), ..House::new() };
    let servers = [Server::start(&house, &["--data", "d"]), Server::start(&house, &["--data", "d"])];
    assert_ne!(servers[0].link, servers[1].link, "each has a port");
    assert_eq!(servers[0].token(), servers[1].token(), "one login is good for both");
    #[cfg(target_os = "linux")]
    for server in &servers {
        let title = std::fs::read_to_string(format!("/proc/{}/cmdline", server.child.id())).unwrap();
        assert!(!title.contains(&database.name), "{title}");
    }
    assert!(!std::path::Path::new(&house.path("d/pleat.db")).exists());
    house.import("s1", &[]);
    assert!(house.prints(&["db", "check"]).contains("nothing is wrong"));
    drop(servers);
}

#[test]
fn conversations_move_to_a_server_and_back() {
    let Some(database) = Database::create() else { return };
    if database.address().contains("password=") {
        // It would have to stand on the command line.
        return;
    }
    let house = House::new();
    house.import("s1", &["--store", "a.db"]);
    let address = database.address();
    assert!(house.prints(&["db", "copy", "--from", "a.db", "--to", &address]).contains("holds what"));
    assert!(house.prints(&["db", "copy", "--from", &address, "--to", "b.db"]).contains("holds what"));
    let exported = house.prints(&["export", "s1", "--store", "a.db"]);
    assert_eq!(house.prints(&["export", "s1", "--store", "b.db"]), exported);
    assert_eq!(house.prints(&["export", "s1", "--store", &address]), exported);
    house.prints(&["db", "backup", "c.db", "--store", &address]);
    assert_eq!(house.prints(&["export", "s1", "--store", "c.db"]), exported);
    house.prints(&["db", "vacuum", "--store", &address]);
    house.prints(&["db", "stats", "--store", &address]);
}
