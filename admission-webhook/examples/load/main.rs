//! Load for `gavel serve`, on loopback: how many reviews a second, how fast, in how much memory. Run by `.ci/load`.
//!
//! For each kind of work the binary is started anew, on the second processor alone, and asked over 8 connections that are
//! kept: first as fast as it answers, then at half that rate. All connections are served by one thread that never sleeps, on
//! the first processor, where `.ci/load` puts it; so what is measured is what the server does with one processor, and the
//! client takes nothing of it. The limit is a handler of the same server that does nothing: `GET /livez`.

#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod client;
mod served;
mod work;

use client::{Pace, load};
use served::Served;
use work::Work;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const CONNECTIONS: u32 = 8;

fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1);
    let gavel = PathBuf::from(arguments.next().ok_or("usage: load GAVEL [SECONDS]")?);
    let seconds = arguments
        .next()
        .and_then(|text| text.to_str()?.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(5));
    println!(
        "| work | transport | requests/s | of the empty handler | CPU a request | p50 | p99 | p99 at half load | memory after a second, at the end, at most |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|");
    for tls in [false, true] {
        let mut limit = None;
        for work in Work::all() {
            let found = measure(&gavel, &work, tls, time)?;
            let limit = *limit.get_or_insert(found.rate);
            println!(
                "| {} | {} | {:.0} | {:.0} % | {:.1} µs | {} µs | {} µs | {} µs | {} MB |",
                work.name,
                if tls { "TLS" } else { "plain" },
                found.rate,
                100.0 * found.rate / limit,
                found.cpu.as_secs_f64() * 1e6,
                found.p50.as_micros(),
                found.p99.as_micros(),
                found.p99_at_half.as_micros(),
                found
                    .memory
                    .map(|kilobytes| format!("{:.1}", kilobytes / 1024.0))
                    .join(", "),
            );
        }
    }
    Ok(())
}

/// What was found.
struct Found {
    rate: f64,
    /// Of the server, for one request.
    cpu: Duration,
    p50: Duration,
    p99: Duration,
    p99_at_half: Duration,
    /// Resident kilobytes: after a second of load, at the end, at most.
    memory: [f64; 3],
}

fn measure(gavel: &Path, work: &Work, tls: bool, time: Duration) -> Outcome<Found> {
    let server = Served::start(gavel, work, tls)?;
    let mut connections = (0..CONNECTIONS)
        .map(|_| server.connect())
        .collect::<Outcome<Vec<_>>>()?;
    let mut load = |time, pace| load(&mut connections, work, time, pace);
    // Once for all that is done the first time only.
    load(Duration::from_secs(1), Pace::AsFastAsPossible)?;
    let early = server.kilobytes("VmRSS:")?;
    let before = server.cpu()?;
    let times = load(time, Pace::AsFastAsPossible)?;
    let took = server.cpu()?.saturating_sub(before);
    let rate = as_f64(times.len()) / time.as_secs_f64();
    let interval = Duration::from_secs_f64(2.0 * f64::from(CONNECTIONS) / rate.max(1.0));
    let at_half = load(time, Pace::Every(interval))?;
    Ok(Found {
        rate,
        cpu: took.div_f64(as_f64(times.len()).max(1.0)),
        p50: percentile(&times, 50),
        p99: percentile(&times, 99),
        p99_at_half: percentile(&at_half, 99),
        memory: [
            early,
            server.kilobytes("VmRSS:")?,
            server.kilobytes("VmHWM:")?,
        ],
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of requests are far below 2^52"
)]
fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The time that so many of a hundred of the sorted times do not exceed.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let rank = times.len().saturating_mul(percent).div_ceil(100);
    let time = times.get(rank.saturating_sub(1));
    time.copied().unwrap_or_default()
}
