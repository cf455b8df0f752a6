//! Documents that were parsed from stored texts, kept for later evaluations within a memory limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use gavel_engine::value::{Json, held_bytes};

/// The memory limit of one document, in bytes.
const LARGEST: usize = 16 << 10;

/// The memory limit of all documents of the process together, in bytes.
const LIMIT: usize = 16 << 20;

/// The memory of all documents, in bytes.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A document that counts against the memory limit of all such documents.
#[derive(Debug)]
pub(crate) struct Parsed {
    document: Json,
    bytes: usize,
}

impl Parsed {
    /// Parses a JSON text; `None` if it is malformed or a memory limit would be exceeded.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let document: Json = serde_json::from_str(text).ok()?;
        let bytes = held_bytes(&document);
        let with = |held: usize| held.checked_add(bytes).filter(|held| *held <= LIMIT);
        let fits = bytes <= LARGEST
            && (HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, with)).is_ok();
        fits.then(|| Parsed { document, bytes })
    }

    pub(crate) fn document(&self) -> &Json {
        &self.document
    }
}

impl Drop for Parsed {
    fn drop(&mut self) {
        HELD.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_documents_is_bounded() {
        let text = format!("[{}]", vec!["{\"a\": 1}"; 20].join(","));
        assert!(Parsed::of(&text).is_some());
        let large = format!("[{}]", vec!["{\"a\": 1}"; 30].join(","));
        assert!(Parsed::of(&large).is_none());
        let fill = || -> Vec<Parsed> { std::iter::from_fn(|| Parsed::of(&text)).collect() };
        let all = fill();
        assert!(all.len() > 1_000, "{}", all.len());
        assert!(HELD.load(Ordering::Relaxed) <= LIMIT);
        assert!(Parsed::of(&text).is_none());
        drop(all);
        assert!(fill().len() > 1_000);
    }
}
