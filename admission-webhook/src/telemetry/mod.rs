//! Telemetry: metrics and logs.

mod logs;
mod metrics;
mod process;

pub(crate) use logs::bounded;
pub use logs::{LogFormat, start_logs};
pub(crate) use metrics::{CheckLabels, Metrics, enforcement};
