//! Matches short texts with a deterministic automaton that has a table of all its states. A match takes fewer instructions than a search
//! that builds states when it reaches them. Building the table takes longer, so only patterns that are used many times have one.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::Hir;

/// The memory limit of a table, in bytes.
const MAX_BYTES: usize = 1 << 13;

/// The memory limit of the construction of a table, in bytes. It bounds the time of the construction, too.
const MAX_CONSTRUCTION_BYTES: usize = 1 << 15;

/// The size limit of the texts that are matched with a table, in bytes. Other automata can skip parts of a long text that cannot match.
const MAX_TEXT: usize = 256;

/// The table of a pattern's states: for each state and byte, the next state.
#[derive(Debug)]
pub(super) struct Table {
    states: dense::DFA<Vec<u32>>,
    start: StateID,
}

impl Table {
    /// Builds the table of a pattern; `None` if it would be too large.
    pub(super) fn new(hir: &Hir) -> Option<Table> {
        let config = thompson::Config::new()
            .which_captures(WhichCaptures::None)
            .nfa_size_limit(Some(MAX_CONSTRUCTION_BYTES));
        let nfa = thompson::Compiler::new()
            .configure(config)
            .build_from_hir(hir)
            .ok()?;
        let (start_kind, anchored) = match nfa.is_always_start_anchored() {
            true => (StartKind::Anchored, Anchored::Yes),
            false => (StartKind::Unanchored, Anchored::No),
        };
        let config = dense::Config::new()
            .start_kind(start_kind)
            .accelerate(false)
            .dfa_size_limit(Some(MAX_BYTES))
            .determinize_size_limit(Some(MAX_CONSTRUCTION_BYTES));
        let states = dense::Builder::new()
            .configure(config)
            .build_from_nfa(&nfa)
            .ok()?;
        let start = Input::new("").anchored(anchored);
        let start = states.start_state_forward(&start).ok()?;
        Some(Table { states, start })
    }

    /// Whether the pattern matches anywhere in the text; `None` if the text is too long.
    pub(super) fn is_match(&self, text: &str) -> Option<bool> {
        if text.len() > MAX_TEXT {
            return None;
        }
        let mut state = self.start;
        for byte in text.bytes() {
            state = self.states.next_state(state, byte);
            // The automaton reports a match one byte after its end.
            if self.states.is_special_state(state) {
                if self.states.is_match_state(state) {
                    return Some(true);
                }
                if self.states.is_dead_state(state) {
                    return Some(false);
                }
                if self.states.is_quit_state(state) {
                    return None;
                }
            }
        }
        let last = self.states.next_eoi_state(state);
        Some(self.states.is_match_state(last))
    }
}
