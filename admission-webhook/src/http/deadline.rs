//! Deadlines of decisions, computed from the timeout that the API server sends as `?timeout=`.

use std::time::{Duration, Instant};

use gavel_golang::duration;

use crate::status::ApiError;

/// The timeout of a request without the parameter `timeout`: Kubernetes' default for webhooks. Longer timeouts than [`MAX_TIMEOUT`] are
/// invalid in Kubernetes.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_TIMEOUT: Duration = Duration::from_secs(30);

/// The deadline of a request that arrived at `arrived`. It leaves a tenth of the API server's timeout, but at most 500 ms, for the
/// response.
///
/// # Errors
///
/// 400 if the parameter `timeout` is not a duration above 0 in Go's syntax.
pub(crate) fn deadline(arrived: Instant, query: &str) -> Result<Instant, ApiError> {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let timeout = match parameters.find(|(key, _)| key == "timeout") {
        None => DEFAULT_TIMEOUT,
        Some((_, text)) => parse(&text).ok_or_else(|| {
            ApiError::bad_request(format!(
                "invalid timeout specified in the request URL: {text:?} must be a duration above 0 such as 10s"
            ))
        })?,
    };
    let timeout = timeout.min(MAX_TIMEOUT);
    let margin = timeout
        .checked_div(10)
        .unwrap_or_default()
        .min(Duration::from_millis(500));
    Ok(arrived
        .checked_add(timeout.saturating_sub(margin))
        .unwrap_or(arrived))
}

fn parse(text: &str) -> Option<Duration> {
    let nanos = u64::try_from(duration::parse(text)?).ok()?;
    (nanos > 0).then(|| Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_leaves_a_margin() {
        let arrived = Instant::now();
        let check = |query: &str, expected: Option<u64>| {
            let found = deadline(arrived, query).ok();
            assert_eq!(
                found.map(|deadline| deadline - arrived),
                expected.map(Duration::from_millis),
                "{query:?}"
            );
        };
        check("", Some(9_500));
        check("timeout=10s", Some(9_500));
        check("a=b&timeout=1%73", Some(900));
        check("timeout=1500ms&timeout=1s", Some(1_350));
        check("timeout=1h", Some(29_500));
        for bad in ["", "0s", "-1s", "10", "soon"] {
            check(&format!("timeout={bad}"), None);
        }
    }
}
