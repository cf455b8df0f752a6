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

/// Why a document is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unkept {
    /// The text is malformed, or its document takes too much memory by itself.
    Never,
    /// All documents together would take too much memory.
    Now,
}

impl Parsed {
    /// Parses a JSON text.
    pub(crate) fn of(text: &str) -> Result<Self, Unkept> {
        Self::within(&HELD, text)
    }

    fn within(held: &'static Held, text: &str) -> Result<Self, Unkept> {
        // A document takes more memory than its text.
        if !held.has_room_for(text.len()) {
            return Err(Unkept::Now);
        }
        let document: Json = serde_json::from_str(text).map_err(|_| Unkept::Never)?;
        let bytes = held_bytes(&document);
        if bytes > LARGEST {
            return Err(Unkept::Never);
        }
        if !held.add(bytes) {
            return Err(Unkept::Now);
        }
        Ok(Parsed {
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
    fn has_room_for(&self, bytes: usize) -> bool {
        with(self.0.load(Ordering::Relaxed), bytes).is_some()
    }

    /// Adds the memory of a document, unless it would exceed the limit. Returns whether it was added.
    fn add(&self, bytes: usize) -> bool {
        let order = Ordering::Relaxed;
        let added = self.0.fetch_update(order, order, |held| with(held, bytes));
        added.is_ok()
    }
}

/// The memory with that of another document; `None` if it would exceed the limit.
fn with(held: usize, bytes: usize) -> Option<usize> {
    held.checked_add(bytes).filter(|held| *held <= LIMIT)
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
        assert!(parse(20).is_ok());
        assert_eq!(parse(30).err(), Some(Unkept::Never));
        let fill = || -> Vec<Parsed> { std::iter::from_fn(|| parse(20).ok()).collect() };
        let all = fill();
        let held: usize = all.iter().map(|parsed| parsed.bytes).sum();
        assert_eq!(OWN.0.load(Ordering::Relaxed), held);
        assert!(held <= LIMIT && held > LIMIT - LARGEST, "{held}");
        assert_eq!(parse(20).err(), Some(Unkept::Now));
        drop(all);
        assert_eq!(OWN.0.load(Ordering::Relaxed), 0);
    }
}
