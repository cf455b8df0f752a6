//! Metrics of the process, under the names of Prometheus' client libraries. They are read when metrics are requested.

use metrics_process::collector::collect;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let found = collect();
        if let Some(seconds) = found.cpu_seconds_total {
            let cpu = ConstCounter::new(seconds);
            let help = "Total user and system CPU time spent in seconds";
            let out =
                encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?;
            cpu.encode(out)?;
        }
        for (name, help, value) in [
            (
                "process_resident_memory_bytes",
                "Resident memory size in bytes",
                found.resident_memory_bytes,
            ),
            (
                "process_virtual_memory_bytes",
                "Virtual memory size in bytes",
                found.virtual_memory_bytes,
            ),
            ("process_threads", "Number of OS threads", found.threads),
            (
                "process_open_fds",
                "Number of open file descriptors",
                found.open_fds,
            ),
            (
                "process_max_fds",
                "Maximum number of open file descriptors",
                found.max_fds,
            ),
            (
                "process_start_time_seconds",
                "Start time of the process since unix epoch in seconds",
                found.start_time_seconds,
            ),
        ] {
            let Some(value) = value else { continue };
            let gauge = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            let out = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
            gauge.encode(out)?;
        }
        Ok(())
    }
}
