//! Reads the manifests of a run from files, folders and standard input. Inputs that cannot be used are reported and skipped, so that one
//! run reports all problems.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gavel_lint::Linter;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem, Source};
use gavel_state::as_built_in;
use glob::Pattern;

use crate::args::FolderArgs;
use crate::exit_code::Exit;
use crate::progress::Progress;
use crate::{input, report};

/// A problem of the inputs of a run as a whole, not of one file.
pub(crate) fn unusable(message: impl Into<String>) -> Problem {
    Problem::new("unusable-input", message)
}

/// Reads manifests, and keeps the problems of the inputs that could not be used.
#[derive(Debug)]
pub(crate) struct Manifests {
    folders: FolderArgs,
    /// The problems of the inputs that could not be used.
    unusable: Vec<Problem>,
    /// The texts of these problems.
    reported: HashSet<String>,
    progress: Progress,
    /// The folders that were read without their subfolders.
    shallow: Vec<PathBuf>,
}

/// A file of manifests.
#[derive(Debug)]
pub(crate) struct ManifestFile {
    /// The path; `-` is standard input.
    pub(crate) path: Arc<Path>,
    /// The text.
    pub(crate) text: Source,
    /// The objects of the file, including the items of lists.
    pub(crate) objects: Vec<Document>,
    /// The problems of documents that cannot be read.
    pub(crate) problems: Vec<Problem>,
}

impl ManifestFile {
    /// Reads the objects in the text of a file.
    pub(crate) fn new(path: Arc<Path>, text: &str) -> Self {
        let reading = input::documents_of(text, &path).in_file(&path);
        let documents = reading.documents.into_iter();
        ManifestFile {
            path,
            text: Source::new(text),
            objects: documents.flat_map(Document::into_objects).collect(),
            problems: reading.problems,
        }
    }
}

impl Manifests {
    /// Creates a reader of manifests. `folders` says which files of folders it reads.
    pub(crate) fn new(folders: FolderArgs, progress: Progress) -> Self {
        Manifests {
            folders,
            unusable: Vec::new(),
            reported: HashSet::new(),
            progress,
            shallow: Vec::new(),
        }
    }

    /// Also leaves out the files and subfolders of folders that match these globs.
    pub(crate) fn exclude(&mut self, globs: &[Pattern]) {
        self.folders.exclude.extend_from_slice(globs);
    }

    /// Reads the objects in the files at `paths`. For a folder, reads the files in the folder.
    pub(crate) fn objects(&mut self, paths: &[PathBuf]) -> Vec<Document> {
        let mut objects = Vec::new();
        for file in self.files(paths) {
            self.report_all(file.problems);
            objects.extend(file.objects);
        }
        objects
    }

    /// Like [`Self::objects`], and reports each duplicate key, because kubectl rejects objects with duplicate keys.
    pub(crate) fn strict_objects(&mut self, paths: &[PathBuf]) -> Vec<Document> {
        let objects = self.objects(paths);
        for object in &objects {
            self.report_all(object.duplicate_keys().to_vec());
        }
        objects
    }

    /// Like [`Self::strict_objects`], for files that contain policies: objects of Gavel's own kinds are read as the built-in kinds with the
    /// same names, and objects of misspelled groups are reported.
    pub(crate) fn policies(&mut self, paths: &[PathBuf]) -> Vec<Document> {
        let mut objects = self.strict_objects(paths);
        objects.retain(|document| !self.refuse_misspelled(document));
        objects.into_iter().map(as_built_in).collect()
    }

    /// Reads the files at `paths`. For a folder, reads the files in the folder. Files that cannot be read are reported.
    pub(crate) fn files(&mut self, paths: &[PathBuf]) -> Vec<ManifestFile> {
        let named = self.named(paths);
        self.progress.expect(named.len());
        let mut files = Vec::new();
        for read in in_parallel(&named, |path| read(path)) {
            match read {
                Ok(file) => files.push(file),
                Err(problem) => self.report(problem),
            }
            self.progress.step();
        }
        files
    }

    /// The paths of the files at `paths`, each file once. A folder is replaced by the files in it.
    pub(crate) fn named(&mut self, paths: &[PathBuf]) -> Vec<PathBuf> {
        let mut named = Vec::new();
        for path in paths {
            let recursive = self.folders.recursive;
            if !recursive && path.is_dir() {
                self.shallow.push(path.clone());
            }
            let (mut found, problems) = input::files(path, recursive);
            if found.is_empty() && problems.is_empty() {
                self.report(gavel_manifest::no_files(path, recursive));
            }
            self.report_all(problems);
            found.retain(|file| !self.folders.excludes(file, path));
            named.extend(found);
        }
        gavel_manifest::distinct(named)
    }

    /// Reports that the inputs contain nothing that the command needs. If subfolders that were not read have manifests, the message
    /// suggests `-R`.
    pub(crate) fn complain_of_nothing(&mut self, message: &str) {
        let read = |folder: &PathBuf, recursive| {
            gavel_manifest::files(folder, recursive).map_or(0, |files| files.len())
        };
        let below = self
            .shallow
            .iter()
            .map(|folder| read(folder, true).saturating_sub(read(folder, false)));
        match below.fold(0, usize::saturating_add) {
            0 => self.complain(message),
            files => {
                let files = report::count(files, "file");
                self.complain(format!(
                    "{message}; add -R to read {files} in subfolders too"
                ));
            }
        }
    }

    /// Whether a document is a policy, binding, webhook configuration or definition whose API group looks misspelled. Such a document is
    /// reported.
    pub(crate) fn refuse_misspelled(&mut self, document: &Document) -> bool {
        let problem = Linter::misspelled_group(document);
        let is_misspelled = problem.is_some();
        problem.into_iter().for_each(|problem| self.report(problem));
        is_misspelled
    }

    /// Reports that an object cannot be used.
    pub(crate) fn refuse(&mut self, document: &Document, message: impl Into<String>) {
        self.report(document.problem(rule::OBJECT, "", message));
    }

    /// Reports that the inputs as a whole cannot be used.
    pub(crate) fn complain(&mut self, message: impl Into<String>) {
        self.report(unusable(message));
    }

    /// Reports that an input cannot be used. The problem is printed to standard error at once; formats for programs contain it too. A
    /// problem of a file that is read twice, for example because two arguments name it, is reported once.
    pub(crate) fn report(&mut self, problem: Problem) {
        if !self.reported.insert(problem.to_string()) {
            return;
        }
        self.progress.aside(|| report::problem(&problem));
        self.unusable.push(problem);
    }

    /// Reports several problems of inputs.
    pub(crate) fn report_all(&mut self, problems: Vec<Problem>) {
        for problem in problems {
            self.report(problem);
        }
    }

    /// Writes a file of the run's results. Returns whether the file was written; otherwise it is reported.
    pub(crate) fn write(&mut self, path: &Path, text: &str) -> bool {
        let written = std::fs::write(path, text);
        written
            .map_err(|error| self.report(Problem::unreadable(path, error)))
            .is_ok()
    }

    /// The progress bar of the run.
    pub(crate) fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// Whether an input could not be used.
    pub(crate) fn unusable(&self) -> bool {
        !self.unusable.is_empty()
    }

    /// The problems of the inputs that could not be used, in the order in which they were reported.
    pub(crate) fn problems(&self) -> &[Problem] {
        &self.unusable
    }

    /// The exit status of a run that found `wrong` invalid objects or expressions.
    pub(crate) fn exit(&self, wrong: usize) -> Exit {
        match (self.unusable(), wrong) {
            (true, _) => Exit::Usage,
            (false, 0) => Exit::Success,
            (false, _) => Exit::Rejected,
        }
    }
}

fn read(path: &Path) -> Result<ManifestFile, Problem> {
    let text = input::text(path)?;
    if path.as_os_str() == "-" && text.is_empty() {
        return Err(Problem::unreadable(path, "standard input is empty"));
    }
    Ok(ManifestFile::new(Arc::from(path), &text))
}

/// Applies `work` to each item on as many threads as there are cores. The results are in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let threads = cores.min(items.len());
    if threads <= 1 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(n) else {
                return done;
            };
            done.push((n, work(item)));
        }
    };
    let mut done: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        let results = threads.into_iter().flat_map(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        results.collect()
    });
    done.sort_by_key(|(n, _)| *n);
    done.into_iter().map(|(_, result)| result).collect()
}
