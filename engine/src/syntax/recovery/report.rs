//! The wording of syntax errors.

use super::{Fault, FaultReader, Halt};
use crate::source::Offset;
use crate::syntax::token::{Token, TokenKind};

/// The maximum number of reported syntax errors. At the next one, parsing stops with the error `More than 100 syntax errors`.
const MAX_REPORTS: usize = 100;

impl FaultReader<'_> {
    pub(super) fn report_fault(&mut self, fault: &Fault) -> Result<(), Halt> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        let next = self.token(0)?;
        match fault {
            Fault::Mismatch => {
                let message = format!(
                    "mismatched input {} expecting {}",
                    self.quoted(next),
                    self.expected()
                );
                self.report(next.offset, &message)
            }
            Fault::NoAlternative { tokens } => {
                let last = self.token(*tokens)?;
                let message = no_alternative(&self.text(next, last));
                self.report(last.offset, &message)
            }
        }
    }

    pub(super) fn report_unwanted(&mut self) -> Result<(), Halt> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        let token = self.token(0)?;
        let message = format!(
            "extraneous input {} expecting {}",
            self.quoted(token),
            self.expected()
        );
        self.report(token.offset, &message)
    }

    pub(super) fn report_missing(&mut self) -> Result<(), Halt> {
        if self.recovering {
            return Ok(());
        }
        self.recovering = true;
        let token = self.token(0)?;
        let message = format!("missing {} at {}", self.expected(), self.quoted(token));
        self.report(token.offset, &message)
    }

    pub(super) fn report(&mut self, offset: Offset, message: &str) -> Result<(), Halt> {
        self.reports = self.reports.saturating_add(1);
        let location = self.source.location(offset);
        if self.reports > MAX_REPORTS {
            self.issues.report(
                location,
                format!("Syntax error: More than {MAX_REPORTS} syntax errors"),
            );
            return Err(Halt::Reported);
        }
        self.issues
            .report(location, format!("Syntax error: {message}"));
        Ok(())
    }

    fn quoted(&self, token: Token) -> String {
        match token.kind {
            TokenKind::Eof => quote("<EOF>"),
            _ => quote(token.text(self.source.text())),
        }
    }

    /// The source text from one token to another, without characters that form no token.
    fn text(&self, first: Token, last: Token) -> String {
        if first.kind == TokenKind::Eof {
            return "<EOF>".to_owned();
        }
        let (mut text, mut at) = (String::new(), first.start);
        let between = self
            .unknown
            .iter()
            .filter(|unknown| unknown.start >= first.start && unknown.end <= last.end);
        for unknown in between {
            text.push_str(
                self.source
                    .text()
                    .get(at..unknown.start)
                    .unwrap_or_default(),
            );
            at = unknown.end;
        }
        text.push_str(self.source.text().get(at..last.end).unwrap_or_default());
        text
    }
}

fn quote(text: &str) -> String {
    format!(
        "'{}'",
        text.replace('\t', "\\t")
            .replace('\n', "\\n")
            .replace('\r', "\\r")
    )
}

/// The message for a text that fits no alternative. If the text is one character and then a keyword, such as `.true`, the message says that
/// an identifier was expected.
fn no_alternative(text: &str) -> String {
    let mut chars = text.chars();
    let keyword = chars
        .next()
        .map(|_| chars.as_str())
        .filter(|rest| matches!(*rest, "true" | "false" | "null"));
    match keyword {
        Some(keyword) => format!("mismatched input '{keyword}' expecting IDENTIFIER"),
        None => format!("no viable alternative at input {}", quote(text)),
    }
}
