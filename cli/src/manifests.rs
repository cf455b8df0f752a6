//! The manifests of a run. What cannot be used is told and passed over, so that one run tells everything.

use std::fmt::Display;
use std::path::PathBuf;

use gavel_engine::value::Json;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Reading};

use crate::exit_code::Exit;
use crate::progress::Progress;
use crate::{input, report};

/// Reads manifests, and remembers whether one could not be used.
#[derive(Debug)]
pub(crate) struct Manifests {
    recursive: bool,
    unusable: bool,
    progress: Progress,
}

impl Manifests {
    /// `recursive`: the folders in folders are read, too.
    pub(crate) fn new(recursive: bool, progress: Progress) -> Self {
        Manifests {
            recursive,
            unusable: false,
            progress,
        }
    }

    /// The objects of files, those in folders included.
    pub(crate) fn objects(&mut self, paths: &[PathBuf]) -> Vec<Document> {
        let mut objects = Vec::new();
        let files = self.files(paths);
        self.progress.expect(files.len());
        for path in files {
            match input::manifest(&path) {
                Ok(Reading {
                    documents,
                    problems,
                }) => {
                    let documents = documents.into_iter();
                    objects.extend(documents.flat_map(Document::into_objects));
                    problems.iter().for_each(|problem| self.complain(problem));
                }
                Err(problem) => self.complain(&problem),
            }
            self.progress.step();
        }
        objects
    }

    fn files(&mut self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for path in paths {
            match gavel_manifest::files(path, self.recursive) {
                Ok(found) => files.extend(found),
                Err(problem) => self.complain(&problem),
            }
        }
        files
    }

    /// Tells that an object cannot be used.
    pub(crate) fn refuse(&mut self, document: &Document, message: impl Into<String>) {
        self.complain(&document.problem(rule::OBJECT, "", message));
    }

    /// Tells that something cannot be used.
    pub(crate) fn complain(&mut self, message: &impl Display) {
        self.unusable = true;
        self.progress.aside(|| report::complain(message));
    }

    /// How far the run has come.
    pub(crate) fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// Notes that something could not be used, of which others tell.
    pub(crate) fn set_unusable(&mut self) {
        self.unusable = true;
    }

    /// Whether something could not be used.
    pub(crate) fn unusable(&self) -> bool {
        self.unusable
    }

    /// How a run ends in which so much was found to be wrong.
    pub(crate) fn exit(&self, wrong: usize) -> Exit {
        match (self.unusable, wrong) {
            (true, _) => Exit::Usage,
            (false, 0) => Exit::Success,
            (false, _) => Exit::Rejected,
        }
    }
}

/// Whether an object is a CustomResourceDefinition.
pub(crate) fn is_definition(document: &Document) -> bool {
    let text = |key| document.value().get(key).and_then(Json::as_str);
    let group = text("apiVersion").and_then(|version| version.split_once('/'));
    group.is_some_and(|(group, _)| group == "apiextensions.k8s.io")
        && text("kind") == Some("CustomResourceDefinition")
}
