//! Documents that were parsed from stored texts, kept for later evaluations within a memory limit.

use std::sync::atomic::{AtomicUsize, Ordering};

use gavel_engine::value::{Json, held_bytes};

/// The memory limit of one document, in bytes.
const LARGEST: usize = 16 << 10;

/// The memory limit of all documents of the process together, in bytes.
const LIMIT: usize = 16 << 20;

/// The memory of all documents of the process.
static HELD: Held = Held(AtomicUsize::new(0));

/// The memory of documents together, in bytes.
#[derive(Debug)]
struct Held(AtomicUsize);

/// A document that counts against the memory limit of all such documents.
#[derive(Debug)]
pub(crate) struct Parsed {
    document: Json,
    bytes: usize,
    held: &'static Held,
}

impl Parsed {
    /// Parses a JSON text; `None` if it is malformed or a memory limit would be exceeded.
    pub(crate) fn of(text: &str) -> Option<Self> {
        Self::within(&HELD, text)
    }

    fn within(held: &'static Held, text: &str) -> Option<Self> {
        let document: Json = serde_json::from_str(text).ok()?;
        let bytes = held_bytes(&document);
        let fits = bytes <= LARGEST && held.add(bytes);
        fits.then(|| Parsed {
            document,
            bytes,
            held,
        })
    }

    pub(crate) fn document(&self) -> &Json {
        &self.document
    }
}

impl Held {
    /// Adds the memory of a document, unless it would exceed the limit. Returns whether it was added.
    fn add(&self, bytes: usize) -> bool {
        let with = |held: usize| held.checked_add(bytes).filter(|held| *held <= LIMIT);
        let order = Ordering::Relaxed;
        self.0.fetch_update(order, order, with).is_ok()
    }
}

impl Drop for Parsed {
    fn drop(&mut self) {
        self.held.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_documents_is_bounded() {
        static OWN: Held = Held(AtomicUsize::new(0));
        let parse = |objects: usize| {
            let objects = vec!["{\"a\": 1}"; objects];
            Parsed::within(&OWN, &format!("[{}]", objects.join(",")))
        };
        assert!(parse(20).is_some());
        assert!(parse(30).is_none());
        let fill = || -> Vec<Parsed> { std::iter::from_fn(|| parse(20)).collect() };
        let all = fill();
        let held: usize = all.iter().map(|parsed| parsed.bytes).sum();
        assert_eq!(OWN.0.load(Ordering::Relaxed), held);
        assert!(held <= LIMIT && held > LIMIT - LARGEST, "{held}");
        drop(all);
        assert_eq!(OWN.0.load(Ordering::Relaxed), 0);
    }
}
