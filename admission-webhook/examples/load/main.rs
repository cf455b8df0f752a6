//! Measures `gavel serve` under load on loopback: reviews per second, response times, and memory. `.ci/load` runs it.
//!
//! For each kind of work, a new server process is started on the second processor, where nothing else runs. It receives requests over 8
//! connections that are kept alive. The client is one thread that never sleeps; `.ci/load` puts it on the first processor. So the figures
//! show what the server does with one processor that it does not share with the client.
//!
//! Two baselines bound the results: `GET /livez`, whose handler does nothing, and a review that is parsed but matches no policy. In short
//! turns, the client alternates between the baselines and the work, and sends requests as fast as the server answers. Then it sends only
//! the work's requests, at half the maximum rate. Turns with CPU steal are discarded.

#![expect(clippy::print_stdout, reason = "the program prints a table")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Duration;

mod client;
mod served;
mod work;

use client::{Connection, Pace, load};
use served::Served;
use work::Work;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const CONNECTIONS: u32 = 8;

const TURN: Duration = Duration::from_millis(100);

fn main() -> Outcome<()> {
    let mut arguments = std::env::args_os().skip(1);
    let gavel = PathBuf::from(
        arguments
            .next()
            .ok_or("usage: load GAVEL [SECONDS [WORK]]")?,
    );
    let seconds = arguments
        .next()
        .and_then(|text| text.to_str()?.parse().ok());
    let time = Duration::from_secs(seconds.unwrap_or(5));
    let wanted = arguments.next().unwrap_or_default();
    let wanted = wanted.to_str().ok_or("WORK must be a part of a name")?;
    println!(
        "| work | transport | requests/s | requests/s relative to `GET /livez` | relative to parsing alone | CPU per request | p50 | p99 | p99 at half load | memory after one second, at the end, at its peak |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    let turns = time.as_millis().div_ceil(TURN.as_millis());
    for tls in [false, true] {
        let works = Work::all();
        let [idle, undecided, ..] = works.as_slice() else {
            return Err("no work".into());
        };
        let mut limits = [
            Target::start(&gavel, idle, tls)?,
            Target::start(&gavel, undecided, tls)?,
        ];
        for work in works.iter().filter(|work| work.name.contains(wanted)) {
            let found = measure(&mut limits, Target::start(&gavel, work, tls)?, turns)?;
            println!(
                "| {} | {} | {:.0} | {:.0} % | {:.0} % | {:.1} µs | {} µs | {} µs | {} µs | {} MB |",
                work.name,
                if tls { "TLS" } else { "plain" },
                found.rate,
                100.0 * found.of_idle,
                100.0 * found.of_undecided,
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

/// A server under measurement, with the requests that are sent to it.
struct Target<'w> {
    server: Served,
    connections: Vec<Connection>,
    work: &'w Work,
}

impl<'w> Target<'w> {
    /// Starts a server and warms it up: sends requests for a second, so that one-time work is not measured.
    fn start(gavel: &Path, work: &'w Work, tls: bool) -> Outcome<Self> {
        let server = Served::start(gavel, work, tls)?;
        let connections = (0..CONNECTIONS).map(|_| server.connect());
        let mut target = Target {
            connections: connections.collect::<Outcome<Vec<_>>>()?,
            server,
            work,
        };
        target.load(Duration::from_secs(1), Pace::AsFastAsPossible)?;
        Ok(target)
    }

    fn load(&mut self, time: Duration, pace: Pace) -> Outcome<Vec<Duration>> {
        load(&mut self.connections, self.work, time, pace)
    }

    /// Sends requests for one turn and returns the number of answers. The response times are added to `turns` only if no CPU time was
    /// stolen during the turn.
    fn turn(&mut self, pace: Pace, turns: &mut Vec<Vec<Duration>>) -> Outcome<usize> {
        let before = stolen()?;
        let times = self.load(TURN, pace)?;
        let answers = times.len();
        if stolen()? == before {
            turns.push(times);
        }
        Ok(answers)
    }
}

/// The CPU time that a hypervisor has taken from the machine, in hundredths of a second; 0 if unknown.
fn stolen() -> Outcome<u64> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    // The first line holds `cpu`, user, nice, system, idle, iowait, irq, softirq, steal: see proc(5).
    let steal = stat.split_ascii_whitespace().nth(8);
    Ok(steal.map_or(Ok(0), str::parse)?)
}

/// The results for one kind of work. `rate` is in answers per second; `of_idle` and `of_undecided` are the ratios of this rate to the rates
/// of the two baselines.
struct Found {
    rate: f64,
    of_idle: f64,
    of_undecided: f64,
    /// The CPU time of the server per request.
    cpu: Duration,
    p50: Duration,
    p99: Duration,
    /// The 99th percentile of the response times at half the maximum rate: the median over the turns.
    p99_at_half: Duration,
    /// Resident memory in kilobytes: after a second of load, at the end, and at its peak.
    memory: [f64; 3],
}

fn measure(
    [idle, undecided]: &mut [Target<'_>; 2],
    mut target: Target<'_>,
    turns: u128,
) -> Outcome<Found> {
    let early = target.server.kilobytes("VmRSS:")?;
    let mut found = [const { Vec::new() }; 3];
    let [idle_turns, undecided_turns, own_turns] = &mut found;
    let before = target.server.cpu()?;
    let mut answers = 0_usize;
    for _ in 0..turns {
        idle.turn(Pace::AsFastAsPossible, idle_turns)?;
        undecided.turn(Pace::AsFastAsPossible, undecided_turns)?;
        let answered = target.turn(Pace::AsFastAsPossible, own_turns)?;
        answers = answers.saturating_add(answered);
    }
    let took = target.server.cpu()?.saturating_sub(before);
    let [of_idle, of_undecided, rate] = found.each_ref().map(|turns| rate(turns));
    let [.., own] = found;
    let wanted = own.len();
    let mut times = own.concat();
    times.sort_unstable();
    let interval = Duration::from_secs_f64(2.0 * f64::from(CONNECTIONS) / rate.max(1.0));
    let mut at_half = Vec::<Vec<_>>::new();
    // At half load the processor is sometimes idle, and a hypervisor takes idle processors first. So more turns are discarded, and more are
    // tried.
    for _ in 0..turns.saturating_mul(5) {
        if at_half.len() < wanted {
            target.turn(Pace::Every(interval), &mut at_half)?;
        }
    }
    if at_half.is_empty() {
        return Err("a hypervisor took time from the machine in every turn".into());
    }
    let mut at_half: Vec<_> = at_half.iter().map(|times| percentile(times, 99)).collect();
    at_half.sort_unstable();
    Ok(Found {
        rate,
        of_idle: rate / of_idle.max(1.0),
        of_undecided: rate / of_undecided.max(1.0),
        cpu: took.div_f64(as_f64(answers).max(1.0)),
        p50: percentile(&times, 50),
        p99: percentile(&times, 99),
        p99_at_half: percentile(&at_half, 50),
        memory: [
            early,
            target.server.kilobytes("VmRSS:")?,
            target.server.kilobytes("VmHWM:")?,
        ],
    })
}

/// The number of answers per second: the median over the turns.
fn rate(turns: &[Vec<Duration>]) -> f64 {
    let mut counts: Vec<_> = turns.iter().map(Vec::len).collect();
    counts.sort_unstable();
    let middle = counts.get(counts.len() / 2).copied();
    as_f64(middle.unwrap_or_default()) / TURN.as_secs_f64()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of requests are far below 2^52"
)]
fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The `percent` percentile of the sorted times.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    let rank = times.len().saturating_mul(percent).div_ceil(100);
    let time = times.get(rank.saturating_sub(1));
    time.copied().unwrap_or_default()
}
