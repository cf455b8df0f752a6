//! Lists of the functions and macros of environments, for documentation and messages.

use std::collections::HashSet;

use gavel_apimachinery::server::Server;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::check::is_mixed_comparison;
use gavel_engine::cost::Formula;
use gavel_engine::decl::{Form, Implementation, Overload};
use gavel_engine::env::Env;
use gavel_engine::syntax::{Macro, Receiver};

use crate::base_env::{FEATURES, Feature, Gated};
use crate::cel_env::{CEL_FEATURES, cel_env};
use crate::env_set::EnvSet;

mod example;
mod markdown;
mod newer;

pub use example::{ExampleError, example_cost};
pub use newer::{Newer, newer_names};

/// The functions and macros of environments.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The functions, in the order of the features that contain them. A library can have several features.
    pub functions: Vec<FunctionEntry>,
    /// The macros.
    pub macros: Vec<MacroEntry>,
}

/// An overload of a function.
#[derive(Debug, Clone)]
pub struct FunctionEntry {
    /// The library that the overload belongs to.
    pub library: &'static str,
    /// The row that declares the overload.
    pub row: &'static Overload,
    /// The first Kubernetes version that has the overload: 1.0 if all versions have it; `None` if no version has it.
    pub since: Option<KubeVersion>,
    /// The cost of evaluating the whole example, in cost units.
    pub example_cost: u64,
}

/// A macro.
#[derive(Debug, Clone)]
pub struct MacroEntry {
    /// The name with its receiver: `x.all`, `cel.bind`.
    pub name: String,
    /// The number of arguments without the receiver; `None` means any number.
    pub arguments: Option<usize>,
    /// The first Kubernetes version that has the macro: 1.0 if all versions have it; `None` if no version has it.
    pub since: Option<KubeVersion>,
}

/// The cost of a call, without its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallCost {
    /// The call has no cost of its own.
    Nothing,
    /// A fixed number of cost units.
    Fixed(u64),
    /// The cost grows with the arguments.
    BySize,
}

impl Listing {
    /// The functions and macros that a Kubernetes version offers to new expressions.
    ///
    /// # Errors
    ///
    /// An environment cannot be built, or an example is not true.
    pub fn kubernetes(version: KubeVersion) -> Result<Listing, ExampleError> {
        let server = Server::new(version);
        let envs = EnvSet::new(server)?;
        let env = envs.new_expressions();
        let mut listing = Listing::default();
        let mut seen = Seen::default();
        for gated in FEATURES {
            if gated.is_in(server) && gated.introduced <= version {
                listing.add(&gated.feature, env, &mut seen, Some(gated.introduced))?;
            }
        }
        Ok(listing)
    }

    /// The language of the specification with all extension libraries.
    ///
    /// # Errors
    ///
    /// An environment cannot be built, or an example is not true.
    pub fn cel() -> Result<Listing, ExampleError> {
        let mut listing = Listing::default();
        listing.add_cel(&mut Seen::default())?;
        Ok(listing)
    }

    /// The functions and macros of the newest Kubernetes version, then those that only the specification has.
    ///
    /// # Errors
    ///
    /// An environment cannot be built, or an example is not true.
    pub fn all() -> Result<Listing, ExampleError> {
        let mut listing = Listing::kubernetes(KubeVersion::NEWEST)?;
        let mut seen = Seen {
            overloads: listing.functions.iter().map(|entry| entry.row.id).collect(),
            macros: listing.macros.iter().map(MacroEntry::key).collect(),
        };
        listing.add_cel(&mut seen)?;
        Ok(listing)
    }

    /// The listing as a Markdown document.
    pub fn to_markdown(&self) -> String {
        markdown::document(self)
    }

    fn add_cel(&mut self, seen: &mut Seen) -> Result<(), ExampleError> {
        let env = cel_env()?;
        for feature in CEL_FEATURES {
            self.add(feature, &env, seen, None)?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        feature: &Feature,
        env: &Env,
        seen: &mut Seen,
        since: Option<KubeVersion>,
    ) -> Result<(), ExampleError> {
        let mixed = env.declarations().options().cross_type_numeric_comparisons;
        match *feature {
            Feature::Functions(library, _) => {
                let rows = feature.rows();
                for row in rows.filter(|row| mixed || !is_mixed_comparison(row.id)) {
                    // If several rows declare the same overload, the first row is used.
                    if seen.overloads.insert(row.id) {
                        self.functions.push(FunctionEntry {
                            library,
                            row,
                            since: since.map(|since| first_version(row, since)),
                            example_cost: example_cost(env, row)?,
                        });
                    }
                }
            }
            Feature::Macros(table) => {
                for row in table {
                    let entry = MacroEntry::new(row, since);
                    if seen.macros.insert(entry.key()) {
                        self.macros.push(entry);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The first version that has a row. This is the version that introduced the row's feature. For comparisons of two numeric types, it is the
/// version that introduced [`Feature::CrossTypeNumericComparisons`].
fn first_version(row: &Overload, introduced: KubeVersion) -> KubeVersion {
    let mixed = |gated: &&Gated| matches!(gated.feature, Feature::CrossTypeNumericComparisons);
    match FEATURES.iter().find(mixed) {
        Some(gated) if is_mixed_comparison(row.id) => gated.introduced,
        _ => introduced,
    }
}

#[derive(Default)]
struct Seen {
    overloads: HashSet<&'static str>,
    macros: HashSet<(String, Option<usize>)>,
}

impl FunctionEntry {
    /// The signature as documentation shows it. The `()` after the names of opaque types, which the parser of signatures needs, is
    /// omitted.
    pub fn signature(&self) -> String {
        let mut parts = self.row.signature.split("()").peekable();
        let mut signature = String::new();
        while let Some(part) = parts.next() {
            signature.push_str(part);
            if parts.peek().is_some() && !part.ends_with(char::is_alphanumeric) {
                signature.push_str("()");
            }
        }
        signature
    }

    /// The cost of a call.
    pub fn cost(&self) -> CallCost {
        match (self.row.calls.implementation, self.row.calls.cost.formula) {
            (Implementation::Planned, _) if self.row.calls.form != Some(Form::Not) => {
                CallCost::Nothing
            }
            (_, Formula::Fixed(units)) => CallCost::Fixed(units),
            (_, Formula::Sizes(_) | Formula::Traversal { .. } | Formula::Split { .. }) => {
                CallCost::BySize
            }
        }
    }
}

impl MacroEntry {
    fn new(row: &Macro, since: Option<KubeVersion>) -> Self {
        let name = match row.receiver {
            Receiver::None => row.name.to_owned(),
            Receiver::Any => format!("x.{}", row.name),
            Receiver::Namespace(namespace) => format!("{namespace}.{}", row.name),
        };
        MacroEntry {
            name,
            arguments: row.arguments,
            since,
        }
    }

    fn key(&self) -> (String, Option<usize>) {
        (self.name.clone(), self.arguments)
    }
}

impl std::fmt::Display for CallCost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CallCost::Nothing => f.write_str("–"),
            CallCost::Fixed(units) => units.fmt(f),
            CallCost::BySize => f.write_str("by size"),
        }
    }
}

/// A version as the lists show it: `always`, `1.28`.
pub fn since_text(since: KubeVersion) -> String {
    match since.minor {
        0 => "always".to_owned(),
        _ => since.to_string(),
    }
}
