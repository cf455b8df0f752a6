//! Metrics of the process, under the names that all of Prometheus' clients use. They are read from `/proc` when they are
//! asked for; where there is none, there are none.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

#[derive(Debug)]
pub(super) struct Process;

/// Clock ticks a second and bytes a page, as Linux tells them to programs everywhere where Kubernetes runs.
const TICKS: f64 = 100.0;
const PAGE: i64 = 4096;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Some(stat) = Stat::read() else {
            return Ok(());
        };
        let cpu = ConstCounter::new(stat.cpu_seconds);
        let out = encoder.encode_descriptor(
            "process_cpu_seconds",
            "Total user and system CPU time spent in seconds",
            None,
            cpu.metric_type(),
        )?;
        cpu.encode(out)?;
        let gauges = [
            (
                "process_resident_memory_bytes",
                "Resident memory size in bytes",
                stat.resident_bytes,
            ),
            (
                "process_virtual_memory_bytes",
                "Virtual memory size in bytes",
                stat.virtual_bytes,
            ),
            ("process_threads", "Number of OS threads", stat.threads),
            (
                "process_open_fds",
                "Number of open file descriptors",
                stat.open_files,
            ),
            (
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds",
                stat.started,
            ),
        ];
        for (name, help, value) in gauges {
            let gauge = ConstGauge::new(value);
            let out = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
            gauge.encode(out)?;
        }
        Ok(())
    }
}

/// What `/proc/self` says.
struct Stat {
    cpu_seconds: f64,
    resident_bytes: i64,
    virtual_bytes: i64,
    threads: i64,
    open_files: i64,
    started: i64,
}

impl Stat {
    fn read() -> Option<Self> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        // The name of the program, in parentheses, may hold anything.
        let (_, fields) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = fields.split(' ').collect();
        // Numbered from 3 in proc(5).
        let number = |n: usize| -> Option<f64> { fields.get(n.checked_sub(3)?)?.parse().ok() };
        let whole = |n: usize| -> Option<i64> { fields.get(n.checked_sub(3)?)?.parse().ok() };
        let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
        let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
        let age = Duration::try_from_secs_f64(uptime - number(22)? / TICKS).unwrap_or_default();
        let started = SystemTime::now().checked_sub(age)?;
        let started = started.duration_since(UNIX_EPOCH).ok()?.as_secs();
        let open_files = std::fs::read_dir("/proc/self/fd").ok()?.count();
        Some(Stat {
            cpu_seconds: (number(14)? + number(15)?) / TICKS,
            resident_bytes: whole(24)?.checked_mul(PAGE)?,
            virtual_bytes: whole(23)?,
            threads: whole(20)?,
            open_files: i64::try_from(open_files).ok()?,
            started: i64::try_from(started).ok()?,
        })
    }
}
