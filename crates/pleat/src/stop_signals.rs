//! The signals that ask a program to end: Ctrl-C, and where there are such SIGTERM and SIGHUP.

/// Listens to them. They no longer end the program by themselves from then on, even after this is dropped.
#[cfg(unix)]
pub(crate) struct StopSignals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` where whoever started us wants it ignored (`nohup`).
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl StopSignals {
    /// Inside of a runtime.
    pub(crate) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) },
        })
    }

    /// Waits for the next of them.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            () = hung_up(self.hang_up.as_mut()) => {}
        }
    }
}

#[cfg(unix)]
async fn hung_up(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether SIGHUP is ignored, by the mask of ignored signals that Linux tells (proc(5)); elsewhere it is not known.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is the first.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// Listens to Ctrl-C.
#[cfg(not(unix))]
pub(crate) struct StopSignals;

#[cfg(not(unix))]
impl StopSignals {
    /// Inside of a runtime.
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
