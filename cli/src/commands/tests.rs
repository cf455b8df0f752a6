//! Helpers for tests of `gavel check` and `gavel test`, and tests of the output that `docs/` shows for these commands.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use clap::Parser;

use super::{check, test};
use crate::args::{Cli, Command};
use crate::exit_code::Exit;

/// A folder that is removed at the end of the test.
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("gavel-run-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        TestFolder(path)
    }

    /// Adds a file.
    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        let file = self.0.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
        self
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs `gavel check` or `gavel test`. Arguments that begin with `./` are paths in the folder. Returns the outcome and the output, without
/// the path of the folder.
pub(crate) fn run_in(folder: &Path, args: &[&str]) -> (Exit, String) {
    let args = args.iter().map(|arg| match arg.strip_prefix("./") {
        Some(path) => folder.join(path).display().to_string(),
        None => (*arg).to_owned(),
    });
    let args = std::iter::once("gavel".to_owned()).chain(args);
    let out = Shared::default();
    let printed = Box::new(out.clone());
    let exit = match Cli::try_parse_from(args).unwrap().command {
        Command::Check(args) => check::write(&args, printed),
        Command::Test(args) => test::write(&args, printed),
        _ => panic!("another command"),
    };
    let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
    let prefix = format!("{}/", folder.display());
    let text = anstream::adapter::strip_str(&text).to_string();
    (exit.unwrap(), text.replace(&prefix, ""))
}

/// A buffer that all its clones share: the command writes to one clone, and the test reads another.
#[derive(Debug, Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
