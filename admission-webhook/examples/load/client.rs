//! The client of the load test: one thread that polls many connections and never sleeps.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::work::Work;

/// A non-blocking connection.
pub(crate) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// When the next request of a connection is sent.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// As soon as the previous request is answered.
    AsFastAsPossible,
    /// At fixed intervals. A request that is sent late, because the previous answer was late, is timed from when it was due.
    Every(Duration),
}

/// Sends requests over all connections; returns the sorted response times.
pub(crate) fn load(
    connections: &mut [Connection],
    work: &Work,
    time: Duration,
    pace: Pace,
) -> Outcome<Vec<Duration>> {
    let start = Instant::now();
    let until = start.checked_add(time).ok_or("no such time")?;
    let mut times = Vec::new();
    let mut due = start;
    let count = u32::try_from(connections.len())?;
    for connection in connections.iter_mut() {
        connection.due = due;
        if let Pace::Every(interval) = pace {
            due = after(due, interval.checked_div(count).unwrap_or_default());
        }
    }
    loop {
        let mut in_flight = false;
        for connection in connections.iter_mut() {
            let now = Instant::now();
            if connection.began.is_none() && now >= connection.due && now < until {
                connection.began = Some(match pace {
                    Pace::AsFastAsPossible => now,
                    Pace::Every(_) => connection.due,
                });
            }
            let Some(began) = connection.began else {
                continue;
            };
            in_flight = true;
            if connection.is_answered(work)? {
                times.push(began.elapsed());
                connection.began = None;
                if let Pace::Every(interval) = pace {
                    connection.due = after(connection.due, interval);
                }
            }
        }
        if !in_flight && Instant::now() >= until {
            times.sort_unstable();
            return Ok(times);
        }
    }
}

fn after(time: Instant, wait: Duration) -> Instant {
    time.checked_add(wait).unwrap_or(time)
}

/// A connection with its state.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    /// When the next request is to be sent.
    due: Instant,
    /// When the measured time of the request in flight began.
    began: Option<Instant>,
    /// The number of bytes of the request that have been sent.
    sent: usize,
    /// The part of the answer that has arrived.
    answer: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: Box<dyn Stream>) -> Self {
        Connection {
            stream,
            due: Instant::now(),
            began: None,
            sent: 0,
            answer: Vec::new(),
        }
    }

    /// Sends and receives as much as possible. Returns whether the whole answer has arrived.
    ///
    /// # Errors
    ///
    /// The connection fails, or the answer is not the expected one.
    fn is_answered(&mut self, work: &Work) -> Outcome<bool> {
        while let Some(rest @ [_, ..]) = work.request.get(self.sent..) {
            match self.stream.write(rest) {
                Ok(sent) => self.sent = self.sent.saturating_add(sent),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        let mut buffer = [0; 4096];
        let read = match self.stream.read(&mut buffer) {
            Ok(0) => return Err("the connection ended".into()),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let more = buffer.get(..read).unwrap_or_default();
        self.answer.extend_from_slice(more);
        let text = std::str::from_utf8(&self.answer)?;
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return Ok(false);
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.parse::<usize>().ok())?
        });
        if length.is_none_or(|length| body.len() < length) {
            return Ok(false);
        }
        if !head.starts_with(work.expected) || body.contains("\"allowed\":false") {
            return Err(text.into());
        }
        self.answer.clear();
        self.sent = 0;
        Ok(true)
    }
}
