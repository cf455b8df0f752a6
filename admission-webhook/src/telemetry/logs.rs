//! Logs on standard error, one entry per line: text for people, or JSON for programs.

use tracing_subscriber::EnvFilter;

/// The size limit of a text that a log line or a message quotes from a request, in bytes.
const MAX_TEXT: usize = 512;

/// The beginning of a text from a request, within the size limit.
pub(crate) fn bounded(text: &str) -> &str {
    let end = text.floor_char_boundary(MAX_TEXT);
    text.get(..end).unwrap_or_default()
}

/// The format of the log lines that the server writes to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: one object per line.
    Json,
}

/// Starts logging. `level` is the least severe level that Gavel's own crates log, such as `info`; libraries log at the level `warn`.
///
/// # Errors
///
/// The level is invalid, or logging has started already.
pub fn start_logs(format: LogFormat, level: &str) -> Result<(), String> {
    // kube logs each failed request as an error. Gavel itself logs what fails and what that means.
    let libraries = "warn,kube_client::client::builder=off";
    let filter = format!(
        "{libraries},gavel_admission_webhook={level},gavel_cluster={level},gavel_state={level}"
    );
    let filter = EnvFilter::try_new(filter).map_err(|error| error.to_string())?;
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_target(false);
    let started = match format {
        LogFormat::Text => {
            use std::io::IsTerminal;
            logs.with_ansi(std::io::stderr().is_terminal()).try_init()
        }
        LogFormat::Json => logs.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| error.to_string())
}
