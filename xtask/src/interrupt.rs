//! Signals. Ctrl-C removes unfinished files, then leaves with exit code 130; a file that gets too long ends nothing.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc::channel},
    time::Duration,
};

use signal_hook::{consts::SIGXFSZ, flag};

use crate::{
    console::Console,
    failure::{Failure, Kind},
};

/// Files under construction. Whoever publishes a set of files holds this lock, so that an interrupt finds either
/// none or all of them.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How long an interrupt may take to say what it is.
const PATIENCE: Duration = Duration::from_secs(1);

/// The unfinished files; no interrupt is served while this is held.
pub fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Forgets `path`: it is gone or in its place.
pub fn forget(path: &Path) {
    unfinished().remove(path);
}

/// Serves SIGINT, SIGTERM, SIGHUP and SIGXFSZ from now on; answers what it does not serve, and what that means. No output file may
/// be begun before.
pub fn install(console: Console) -> Vec<String> {
    let mut unserved = Vec::new();
    // Where a file reaches the limit of `ulimit -f`, the signal would end the process; with a handler, which need do nothing, the write
    // fails as it does on a full disk. A write to a pipe that nobody reads does so since Rust ignores SIGPIPE.
    if let Err(error) = flag::register(SIGXFSZ, Arc::default()) {
        unserved
            .push(format!("a file that gets longer than the system allows will end the process: {error}"));
    }
    let served = ctrlc::set_handler(move || {
        let paths = unfinished();
        for path in paths.iter() {
            // Nothing better can be done with an error at this point.
            let _ = std::fs::remove_file(path);
        }
        // A reader who takes nothing may have the outputs blocked, and an interrupt that waits for him would be none.
        let (said, wait) = channel::<()>();
        let _ = std::thread::Builder::new().spawn(move || {
            console.fail(&Failure::new(Kind::Interrupted, "interrupted"));
            drop(said);
        });
        let _ = wait.recv_timeout(PATIENCE);
        std::process::exit(Kind::Interrupted.exit_code().into());
    });
    if let Err(error) = served {
        unserved.push(format!(
            "interrupts are not served, an interrupted run may leave temporary files: {error}"
        ));
    }
    unserved
}
