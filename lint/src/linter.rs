//! Dispatches documents to the checks for their kind.

use gavel_crd::definition::Definition;
use gavel_libraries::Server;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem};

use crate::context::Linter;
use crate::kinds::{DEFINITIONS, is_definition_of_misspelled_group};
use crate::{configuration, definition, references, registration, strict};

impl Linter {
    /// Whether the linter checks documents of this kind.
    pub fn is_subject(document: &Document) -> bool {
        registration::is_subject(document)
            || definition::is_subject(document)
            || configuration::is_subject(document)
    }

    /// The problem of a document that has the kind of a policy, binding, webhook configuration or definition, but whose API group is missing
    /// or looks misspelled: such a document would do nothing.
    pub fn misspelled_group(document: &Document) -> Option<Problem> {
        let misspells = is_definition_of_misspelled_group(document);
        let definitions = misspells.then_some(DEFINITIONS);
        let group = definitions.or_else(|| registration::misspelled_group(document))?;
        let message = format!("must name the group {group}, as {group}/v1 does");
        Some(document.problem(rule::OBJECT, "apiVersion", message))
    }

    /// The problems of the fields of a definition, policy, binding or webhook configuration that its kind does not have. A document that
    /// cannot be decoded as one of these kinds has none. The help names similar fields that the kind has in this API server.
    pub fn unknown_fields(document: &Document, server: Server) -> Vec<Problem> {
        if definition::is_subject(document) {
            return match Definition::read(document.value()) {
                Ok(_) => definition::unknown_fields(document, server).collect(),
                Err(_) => Vec::new(),
            };
        }
        match registration::decode(document) {
            Ok(decoded) => registration::unknown_fields(document, &decoded, server),
            Err(_) => Vec::new(),
        }
    }

    /// The problems for which this API server cannot decode an object of a built-in kind: fields that the kind does not have, and values of
    /// the wrong type. An object of any other kind has none.
    pub fn decoding_problems(document: &Document, server: Server) -> Vec<Problem> {
        let mut problems = Vec::new();
        strict::check_fields(document, server, &mut problems);
        problems
    }

    /// The problems of a single document, in the order of its text.
    pub fn document(&self, document: &Document) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !Linter::is_subject(document) {
            // The first of two joined documents may be a policy.
            problems.extend(document.joined().cloned());
            return problems;
        }
        problems.extend(document.duplicate_keys().iter().cloned());
        if definition::is_subject(document) {
            definition::check(self, document, &mut problems);
        } else if registration::is_subject(document) {
            registration::check(self, document, &mut problems);
        } else {
            configuration::check(self, document, &mut problems);
        }
        problems.sort_by_key(|problem| problem.range);
        problems
    }

    /// The problems between documents, such as references to missing objects.
    pub fn references(&self, documents: &[Document]) -> Vec<Problem> {
        references::check(self, documents)
    }

    /// The problems of a definition that replaces an older one: errors of the API server, and new constraints that stored objects may
    /// violate.
    pub fn update(&self, document: &Document, old: &Document) -> Vec<Problem> {
        definition::check_update(self, document, old)
    }
}
