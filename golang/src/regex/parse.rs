//! Parses Go's syntax of regular expressions (`regexp/syntax/parse.go` with the flags `Perl`) into a tree.

use regex_syntax::hir::{Hir, Look};

use super::class::{parse_bracketed, parse_escaped};
use super::consumed;
use super::error::{Problem, RegexError};
use super::escape::parse_escape;
use super::limits::Limits;
use super::node::{Node, Repeat, Shape};
use super::tree::Tree;
use crate::work::Work;

/// How often nested counted repetitions may repeat a node: `(a{50}){20}` repeats `a` 1000 times.
const MAX_REPEAT: u32 = 1000;

/// The units of work for a character or operator.
const WORK_PER_CHARACTER: usize = 256;

/// A parsed pattern.
pub(super) struct Parsed<T = Hir> {
    pub(super) tree: T,
    /// The number of capturing groups.
    pub(super) groups: usize,
    /// The height of the tree of nodes, at most 1000.
    pub(super) height: u32,
    /// The number of instructions in Go's program.
    pub(super) size: u64,
}

/// Parses a pattern. Groups are part of the result only with `keep_groups`, because groups make searches slower.
pub(super) fn parse<T: Tree>(
    pattern: &str,
    keep_groups: bool,
    work: &Work<'_>,
) -> Result<Parsed<T>, RegexError> {
    let mut parser = Parser {
        pattern,
        work,
        flags: Flags::default(),
        open: Vec::new(),
        current: Frame::new(Flags::default(), None),
        groups: 0,
        keep_groups,
        limits: Limits::new(),
    };
    parser.parse_all()?;
    parser.finish()
}

/// The flags that `(?imsU)` sets.
#[derive(Debug, Clone, Copy, Default)]
struct Flags {
    /// `i`: letters match in upper and lower case.
    fold: bool,
    /// `m`: `^` and `$` also match at the beginning and end of lines.
    multi_line: bool,
    /// `s`: `.` also matches a line feed.
    dot_all: bool,
    /// `U`: repetitions are lazy, and greedy if a `?` follows.
    lazy: bool,
}

/// A group that has not been closed yet.
#[derive(Debug)]
struct Frame<T> {
    /// The flags outside of the group.
    flags: Flags,
    /// The number of the group, if it captures.
    group: Option<u32>,
    alternatives: Vec<Node<T>>,
    /// The nodes of the last alternative so far.
    nodes: Vec<Node<T>>,
}

impl<T> Frame<T> {
    fn new(flags: Flags, group: Option<u32>) -> Self {
        Frame {
            flags,
            group,
            alternatives: Vec::new(),
            nodes: Vec::new(),
        }
    }
}

struct Parser<'p, T> {
    pattern: &'p str,
    work: &'p Work<'p>,
    flags: Flags,
    /// The groups around the current one, outermost first.
    open: Vec<Frame<T>>,
    current: Frame<T>,
    groups: u32,
    keep_groups: bool,
    limits: Limits,
}

impl<'p, T: Tree> Parser<'p, T> {
    fn parse_all(&mut self) -> Result<(), RegexError> {
        let mut rest = self.pattern;
        // If the previous token was a repetition operator, the pattern from that operator on.
        let mut last_repeat = None;
        while let Some(c) = rest.chars().next() {
            self.work.spend(WORK_PER_CHARACTER)?;
            let before = rest;
            let mut repeated = false;
            rest = after_first(rest);
            match c {
                '(' => rest = self.open_group(before)?,
                ')' => self.close_group()?,
                '|' => self.end_alternative()?,
                '^' => self.push_look(if self.flags.multi_line {
                    Look::StartLF
                } else {
                    Look::Start
                })?,
                '$' => self.push_look(if self.flags.multi_line {
                    Look::EndLF
                } else {
                    Look::End
                })?,
                '.' => self.push_dot()?,
                '[' => {
                    self.limits.allocate();
                    let (class, after) = parse_bracketed(before, self.flags.fold)?;
                    rest = after;
                    self.push(Node::class(class))?;
                }
                '*' | '+' | '?' => {
                    let repeat = match c {
                        '*' => Repeat::Star,
                        '+' => Repeat::Plus,
                        _ => Repeat::Quest,
                    };
                    rest = self.repeat(repeat, before, rest, last_repeat)?;
                    repeated = true;
                }
                '{' => match parse_count(rest) {
                    Some((repeat, after)) => {
                        let Some(repeat) = repeat else {
                            return Err(RegexError::syntax(
                                Problem::InvalidRepeatSize,
                                consumed(before, after),
                            ));
                        };
                        rest = self.repeat(repeat, before, after, last_repeat)?;
                        repeated = true;
                    }
                    None => self.push_literal(u32::from(c))?,
                },
                '\\' => rest = self.parse_backslash(before)?,
                _ => self.push_literal(u32::from(c))?,
            }
            last_repeat = repeated.then_some(before);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Parsed<T>, RegexError> {
        let node = self.alternate()?;
        if !self.open.is_empty() {
            return Err(self.error(Problem::MissingParen));
        }
        Ok(Parsed {
            tree: node.tree,
            height: node.height,
            size: node.size,
            groups: usize::try_from(self.groups).unwrap_or(usize::MAX),
        })
    }

    /// An error that quotes the whole pattern.
    fn error(&self, problem: Problem) -> RegexError {
        RegexError::syntax(problem, self.pattern)
    }

    /// Reads an escape outside of brackets; returns the rest of the text.
    fn parse_backslash(&mut self, text: &'p str) -> Result<&'p str, RegexError> {
        let after = after_first(text);
        let rest = after_first(after);
        match after.chars().next() {
            Some('A') => self.push_look(Look::Start)?,
            Some('b') => self.push_look(Look::WordAscii)?,
            Some('B') => self.push_look(Look::WordAsciiNegate)?,
            Some('z') => self.push_look(Look::End)?,
            // Go does not support `\C`, which would match a single byte.
            Some('C') => {
                return Err(RegexError::syntax(
                    Problem::InvalidEscape,
                    consumed(text, rest),
                ));
            }
            Some('Q') => {
                let (quoted, rest) = rest.split_once(r"\E").unwrap_or((rest, ""));
                for c in quoted.chars() {
                    self.work.spend(WORK_PER_CHARACTER)?;
                    self.push_literal(u32::from(c))?;
                }
                return Ok(rest);
            }
            _ => {
                self.limits.allocate();
                if let Some((class, rest)) = parse_escaped(text, self.flags.fold)? {
                    self.push(Node::class(class))?;
                    return Ok(rest);
                }
                self.limits.release();
                let (code_point, rest) = parse_escape(text)?;
                self.push_literal(code_point)?;
                return Ok(rest);
            }
        }
        Ok(rest)
    }

    fn push_literal(&mut self, code_point: u32) -> Result<(), RegexError> {
        self.limits.allocate();
        self.push(Node::literal(code_point, self.flags.fold))
    }

    fn push_look(&mut self, look: Look) -> Result<(), RegexError> {
        self.limits.allocate();
        self.push(Node::look(look))
    }

    fn push_dot(&mut self) -> Result<(), RegexError> {
        self.limits.allocate();
        self.push(Node::dot(self.flags.dot_all))
    }

    /// Adds a node to the current alternative.
    fn push(&mut self, node: Node<T>) -> Result<(), RegexError> {
        self.join_literals();
        self.limits.push(&node);
        self.current.nodes.push(node);
        self.check_limits()
    }

    /// Joins the last node with the one before it if both are literals. Called when no operator can follow the last node any more.
    fn join_literals(&mut self) {
        if let [.., before, last] = self.current.nodes.as_mut_slice()
            && matches!(last.shape, Shape::Literal { .. })
            && before.shape == last.shape
            && !last.joined
        {
            last.joined = true;
            self.limits.release();
        }
    }

    fn check_limits(&mut self) -> Result<(), RegexError> {
        let Some(newest) = self
            .current
            .nodes
            .last()
            .or(self.current.alternatives.last())
        else {
            return Ok(());
        };
        let frames = self.open.iter().chain([&self.current]);
        let stack = frames.flat_map(|frame| frame.alternatives.iter().chain(&frame.nodes));
        self.limits
            .check(newest, stack)
            .map_err(|problem| RegexError::syntax(problem, self.pattern))
    }

    /// Joins the nodes of the current alternative.
    fn concat(&mut self) -> Result<(), RegexError> {
        self.join_literals();
        let nodes = std::mem::take(&mut self.current.nodes);
        let node = if nodes.is_empty() {
            self.limits.allocate();
            Node::empty()
        } else {
            self.limits.combine(&nodes, Shape::Concat);
            Node::combine(nodes, Shape::Concat)
        };
        self.push(node)
    }

    fn end_alternative(&mut self) -> Result<(), RegexError> {
        self.add_alternative()?;
        if self.current.alternatives.len() == 1 {
            self.limits.allocate();
        }
        Ok(())
    }

    /// Ends the current alternative. If Go can merge this alternative and the previous one into a class, marks this one as joined.
    fn add_alternative(&mut self) -> Result<(), RegexError> {
        self.concat()?;
        let Some(mut node) = self.current.nodes.pop() else {
            return Ok(());
        };
        if let Some(before) = self.current.alternatives.last()
            && before.is_char_class()
            && node.is_char_class()
        {
            node.joined = true;
            self.limits.release();
        }
        self.current.alternatives.push(node);
        Ok(())
    }

    /// Ends the last alternative of the current group, and joins the group's alternatives to one node.
    fn alternate(&mut self) -> Result<Node<T>, RegexError> {
        self.add_alternative()?;
        let nodes = std::mem::take(&mut self.current.alternatives);
        self.limits.combine(&nodes, Shape::Alternation);
        let node = Node::combine(nodes, Shape::Alternation);
        self.limits.push(&node);
        self.current.alternatives.push(node);
        self.check_limits()?;
        Ok(self.current.alternatives.pop().unwrap_or_else(Node::empty))
    }

    fn close_group(&mut self) -> Result<(), RegexError> {
        let node = self.alternate()?;
        let Some(outer) = self.open.pop() else {
            return Err(self.error(Problem::UnexpectedParen));
        };
        let Frame { flags, group, .. } = std::mem::replace(&mut self.current, outer);
        self.flags = flags;
        let Some(index) = group else {
            return self.push(node);
        };
        let keep = self.keep_groups;
        self.push(node.group(|tree| match keep {
            true => tree.capture(index),
            false => tree,
        }))
    }

    fn enter(&mut self, capturing: bool) {
        self.limits.allocate();
        let group = capturing.then(|| {
            self.groups = self.groups.saturating_add(1);
            self.groups
        });
        let outer = std::mem::replace(&mut self.current, Frame::new(self.flags, group));
        self.open.push(outer);
    }

    /// Reads the start of a group, such as `(` or `(?:`, or flags such as `(?i)`; returns the rest of the text.
    fn open_group(&mut self, text: &'p str) -> Result<&'p str, RegexError> {
        let Some(special) = text.strip_prefix("(?") else {
            self.enter(true);
            return Ok(after_first(text));
        };
        // Go recognizes a named group only if a character follows `(?<` or `(?P<`.
        let named = [special.strip_prefix("P<"), special.strip_prefix('<')];
        if let Some(named) = named.into_iter().flatten().find(|named| !named.is_empty()) {
            let Some((name, rest)) = named.split_once('>') else {
                return Err(RegexError::syntax(Problem::InvalidNamedCapture, text));
            };
            if name.is_empty() || !name.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric()) {
                return Err(RegexError::syntax(
                    Problem::InvalidNamedCapture,
                    consumed(text, rest),
                ));
            }
            self.enter(true);
            return Ok(rest);
        }
        self.parse_flags(text, special)
    }

    /// Reads flags such as `i-s` up to the `:` that opens a group or the `)` that ends them.
    fn parse_flags(&mut self, text: &str, special: &'p str) -> Result<&'p str, RegexError> {
        let mut flags = self.flags;
        let mut on = true;
        let mut lacks_flag = false;
        let mut rest = special.chars();
        while let Some(c) = rest.next() {
            match c {
                'i' => flags.fold = on,
                'm' => flags.multi_line = on,
                's' => flags.dot_all = on,
                'U' => flags.lazy = on,
                '-' if on => {
                    on = false;
                    lacks_flag = true;
                    continue;
                }
                ':' | ')' if !lacks_flag => {
                    if c == ':' {
                        self.enter(false);
                    }
                    self.flags = flags;
                    return Ok(rest.as_str());
                }
                _ => break,
            }
            lacks_flag = false;
        }
        Err(RegexError::syntax(
            Problem::InvalidPerlOp,
            consumed(text, rest.as_str()),
        ))
    }

    /// Repeats the last node. `before` is the pattern from the operator on; `after` is the pattern behind the operator. Returns the rest of
    /// the pattern, after an optional `?`.
    fn repeat(
        &mut self,
        repeat: Repeat,
        before: &'p str,
        after: &'p str,
        last_repeat: Option<&'p str>,
    ) -> Result<&'p str, RegexError> {
        let swapped = after.strip_prefix('?');
        let after = swapped.unwrap_or(after);
        if let Some(last) = last_repeat {
            return Err(RegexError::syntax(
                Problem::InvalidRepeatOp,
                consumed(last, after),
            ));
        }
        let Some(node) = self.current.nodes.pop() else {
            return Err(RegexError::syntax(
                Problem::MissingRepeatArgument,
                consumed(before, after),
            ));
        };
        self.limits.allocate();
        let greedy = self.flags.lazy == swapped.is_some();
        let node = node.repeat(repeat, greedy);
        let counted = matches!(repeat, Repeat::Counted(min, max) if min >= 2 || max.is_some_and(|max| max >= 2));
        let copies = node.copies;
        self.current.nodes.push(node);
        self.check_limits()?;
        if counted && copies > u64::from(MAX_REPEAT) {
            return Err(RegexError::syntax(
                Problem::InvalidRepeatSize,
                consumed(before, after),
            ));
        }
        Ok(after)
    }
}

/// Reads `min}`, `min,}` or `min,max}`; returns the repetition, or `None` if its numbers are invalid, and the rest of the text.
fn parse_count(text: &str) -> Option<(Option<Repeat>, &str)> {
    let (min, rest) = parse_number(text)?;
    let (max, rest) = match rest.strip_prefix(',') {
        None => (Some(min), rest),
        Some(rest) if rest.starts_with('}') => (None, rest),
        Some(rest) => parse_number(rest).map(|(max, rest)| (Some(max), rest))?,
    };
    let rest = rest.strip_prefix('}')?;
    let valid = min <= MAX_REPEAT && max.is_none_or(|max| max <= MAX_REPEAT && min <= max);
    Some((valid.then_some(Repeat::Counted(min, max)), rest))
}

/// Reads a decimal number without leading zeros. A number that is too large for a repetition is read as the largest `u32`.
fn parse_number(text: &str) -> Option<(u32, &str)> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = consumed(text, rest);
    if digits.is_empty() || (digits.len() > 1 && digits.starts_with('0')) {
        return None;
    }
    Some((digits.parse().unwrap_or(u32::MAX), rest))
}

/// A text without its first character.
fn after_first(text: &str) -> &str {
    let mut rest = text.chars();
    rest.next();
    rest.as_str()
}
