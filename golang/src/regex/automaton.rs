//! Searches with regex-automata. A short text is searched in one call, a long text in steps, so that the search can be interrupted.

use std::ops::Range;
use std::sync::OnceLock;

use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::{Input, meta};
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

use super::parse::{self, Parsed};
use super::program::Program;
use super::stepping::{Failure, Reached, Stepping};
use super::table::Table;
use super::{Groups, range};
use crate::work::{Interrupted, Work};

/// The memory limit of an automaton, in bytes. Building an automaton of this size takes about 12 ms. Typical automata take a few
/// kilobytes. The automaton of `\pL{1000}` would take 15 MB; few patterns of this length need more.
const MAX_BYTES: usize = 1 << 18;

/// The maximum nesting depth of a pattern. Building an automaton is recursive, so deeper patterns get none.
const MAX_HEIGHT: u32 = 100;

/// The approximate size of a state, in bytes.
const BYTES_PER_STATE: usize = 32;

/// The limit of work for a search that cannot be interrupted: bytes times states.
const MAX_WORK_AT_ONCE: usize = 1 << 17;

/// A lower bound of the size of a pattern's automaton, in bytes.
// Recursion is bounded by `MAX_HEIGHT`.
fn least_bytes(hir: &Hir) -> usize {
    /// Ranges of characters can share the states of their last bytes.
    const BYTES_PER_RANGE: usize = 2;
    let sum = |all: &[Hir]| all.iter().map(least_bytes).fold(0, usize::saturating_add);
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().len().saturating_mul(BYTES_PER_RANGE)
        }
        HirKind::Repetition(Repetition { min, max, sub, .. }) => {
            let copies = usize::try_from(max.unwrap_or((*min).max(1))).unwrap_or(usize::MAX);
            least_bytes(sub).saturating_mul(copies)
        }
        HirKind::Capture(capture) => least_bytes(&capture.sub),
        HirKind::Concat(all) | HirKind::Alternation(all) => sum(all),
        _ => 0,
    }
}

/// A pattern compiled to an automaton.
#[derive(Debug)]
pub(super) struct Automaton {
    quick: meta::Regex,
    /// A faster automaton for tests of short texts, if the pattern is used many times and has few states.
    table: Option<Table>,
    states: usize,
    /// Whether the pattern contains `\B`, which also matches between the bytes of a character.
    splits_characters: bool,
    pattern: Box<str>,
    /// Whether the automaton finds the positions of the pattern's groups.
    keeps_groups: bool,
    /// The automata for long texts, built on first use. `None` for patterns that need `machine` instead.
    stepping: OnceLock<Option<Stepping>>,
    /// The program that searches long texts for groups, or if `stepping` is `None`. Built on first use.
    machine: OnceLock<Option<Program>>,
}

impl Automaton {
    /// Builds an automaton, unless it would be too large.
    pub(super) fn new(pattern: &str, parsed: &Parsed, keeps_groups: bool) -> Option<Automaton> {
        // Building a large automaton takes a millisecond before it fails.
        if parsed.height > MAX_HEIGHT || least_bytes(&parsed.tree) > MAX_BYTES {
            return None;
        }
        let captures = match keeps_groups {
            true => WhichCaptures::All,
            false => WhichCaptures::Implicit,
        };
        let config = meta::Config::new()
            .nfa_size_limit(Some(MAX_BYTES))
            .which_captures(captures)
            .dfa(false);
        let quick = meta::Builder::new()
            .configure(config)
            .build_from_hir(&parsed.tree)
            .ok()?;
        let looks = parsed.tree.properties().look_set();
        Some(Automaton {
            states: quick.memory_usage() / BYTES_PER_STATE,
            quick,
            table: None,
            splits_characters: looks.contains(Look::WordAsciiNegate),
            pattern: pattern.into(),
            keeps_groups,
            stepping: OnceLock::new(),
            machine: OnceLock::new(),
        })
    }

    /// Adds a table of all states for tests of short texts, if it would be small. `parsed` must be the pattern of the automaton.
    pub(super) fn with_table(self, parsed: &Parsed) -> Automaton {
        // A table would find matches of `\B` inside a character.
        let table = match self.splits_characters {
            true => None,
            false => Table::new(&parsed.tree),
        };
        Automaton { table, ..self }
    }

    /// Returns an automaton that searches every text as if it were long.
    #[cfg(test)]
    pub(super) fn of_many_states(self) -> Automaton {
        Automaton {
            states: usize::MAX,
            ..self
        }
    }

    /// Whether the pattern matches anywhere in the text.
    pub(super) fn is_match(&self, text: &str, work: &Work<'_>) -> Result<bool, Interrupted> {
        if self.is_quick(text, 0, work)? {
            if let Some(is_match) = self.table.as_ref().and_then(|table| table.is_match(text)) {
                return Ok(is_match);
            }
            return Ok(match self.splits_characters {
                // `\B` can match inside a character. `find` skips such matches; `is_match` may stop there and miss a later match.
                true => self.quick.find(text).is_some(),
                false => self.quick.is_match(text),
            });
        }
        match self.stepping() {
            Some(stepping) => match stepping.is_match(&mut stepping.start(), text, work) {
                Ok(is_match) => Ok(is_match),
                Err(Failure::Interrupted) => Err(Interrupted),
                Err(Failure::Unsupported) => Ok(self.quick.is_match(text)),
            },
            None => Ok(self.by_machine(text, 0, 0, work)?.is_some()),
        }
    }

    /// The first match that begins at byte `start` or later. `reached` caches the states of the automata between searches of one text.
    pub(super) fn find(
        &self,
        text: &str,
        start: usize,
        reached: &mut Option<Reached>,
        work: &Work<'_>,
    ) -> Result<Option<Range<usize>>, Interrupted> {
        if self.is_quick(text, start, work)? {
            return Ok(self.find_quickly(text, start));
        }
        let Some(stepping) = self.stepping() else {
            let slots = self.by_machine(text, start, 2, work)?;
            return Ok(slots.and_then(|slots| range(&slots)));
        };
        let reached = reached.get_or_insert_with(|| stepping.start());
        match stepping.find(reached, text, start, work) {
            Ok(found) => Ok(found),
            Err(Failure::Interrupted) => Err(Interrupted),
            Err(Failure::Unsupported) => Ok(self.find_quickly(text, start)),
        }
    }

    /// Like `find`, with the matches of the pattern's groups.
    pub(super) fn captures(
        &self,
        text: &str,
        start: usize,
        groups: usize,
        work: &Work<'_>,
    ) -> Result<Option<Groups>, Interrupted> {
        if !self.is_quick(text, start, work)? {
            let slots = groups.saturating_add(1).saturating_mul(2);
            let slots = self.by_machine(text, start, slots, work)?;
            return Ok(slots.map(|slots| slots.chunks(2).map(range).collect()));
        }
        let mut captures = self.quick.create_captures();
        let input = Input::new(text).range(start..);
        self.quick.captures(input, &mut captures);
        let group = |index| captures.get_group(index).map(|span| span.range());
        Ok(captures
            .is_match()
            .then(|| (0..=groups).map(group).collect()))
    }

    /// Whether to search the text in one call. Counts the work of that call in advance.
    fn is_quick(&self, text: &str, start: usize, work: &Work<'_>) -> Result<bool, Interrupted> {
        let most = text.len().saturating_sub(start).saturating_mul(self.states);
        let is_quick = most <= MAX_WORK_AT_ONCE || !work.is_bounded();
        if is_quick {
            work.spend(most)?;
        }
        Ok(is_quick)
    }

    fn find_quickly(&self, text: &str, start: usize) -> Option<Range<usize>> {
        let found = self.quick.find(Input::new(text).range(start..));
        found.map(|found| found.range())
    }

    fn stepping(&self) -> Option<&Stepping> {
        let new = || match self.splits_characters {
            true => None,
            false => Stepping::new(&self.parsed()?.tree, MAX_BYTES),
        };
        self.stepping.get_or_init(new).as_ref()
    }

    fn by_machine(
        &self,
        text: &str,
        start: usize,
        slots: usize,
        work: &Work<'_>,
    ) -> Result<Option<Vec<usize>>, Interrupted> {
        let new = || Program::compile(&self.parsed()?.tree, &Work::unbounded()).ok();
        match self.machine.get_or_init(new) {
            Some(program) => program.search(text, start, slots, work),
            None => Ok(None),
        }
    }

    /// Parses the pattern again, because the parsed pattern is not stored.
    fn parsed(&self) -> Option<Parsed> {
        parse::parse(&self.pattern, self.keeps_groups, &Work::unbounded()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn automata_have_at_least_the_bytes_of_their_lower_bound() {
        for pattern in [
            r"\pL",
            r"(?i)\pL{3}",
            r"(\pN|\p{Greek}){2,9}x*",
            r"[\pL\pN]{2,}",
            r"[^a]{100}",
            r"\PN{10}",
            r"(?i)[a-zäöü]{40}",
            r"\p{Han}+\p{Lu}?",
        ] {
            let parsed = parse::parse(pattern, false, &Work::unbounded()).unwrap();
            let bytes = Automaton::new(pattern, &parsed, false).unwrap();
            let bytes = bytes.quick.memory_usage();
            assert!(least_bytes(&parsed.tree) <= bytes, "{pattern}: {bytes}");
        }
        let large = r"(?i)(\pL\pN){400}";
        let parsed = parse::parse(large, false, &Work::unbounded()).unwrap();
        assert!(least_bytes(&parsed.tree) > MAX_BYTES);
    }
}
