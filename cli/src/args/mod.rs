//! The flags and arguments of the commands, with their help texts.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};

use gavel_apimachinery::quantity::Quantity;
use gavel_engine::types::Type;
use gavel_libraries::KubeVersion;
use gavel_policy::cel::PER_CALL_LIMIT;
use gavel_protocol::kubernetes_version;

use crate::findings::Format;

mod about;
mod audit;
mod check;
mod cost;
mod folders;
mod lint;
mod mutate;
mod requester;
mod serve;
mod test;
mod upgrade_check;

pub(crate) use about::{CompletionsArgs, ManArgs, VersionArgs};
pub(crate) use audit::AuditArgs;
pub(crate) use check::{CheckArgs, OperationName};
pub(crate) use cost::CostArgs;
pub(crate) use folders::FolderArgs;
pub(crate) use lint::{ExplainArgs, ExplainOutput, LintArgs, Versions, kubernetes_versions};
pub(crate) use mutate::{MutateArgs, MutateOutput};
pub(crate) use requester::RequesterArgs;
pub(crate) use serve::{AuthorizerMode, LogFormat, ServeArgs};
pub(crate) use test::TestArgs;
pub(crate) use upgrade_check::UpgradeCheckArgs;

/// CEL exactly as Kubernetes evaluates it.
#[derive(Debug, Parser)]
#[command(name = "gavel", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Evaluate admission policies over existing objects in a cluster or in manifests
    ///
    /// Evaluates policies over existing objects, as if each object were created now.
    ///
    /// The exit status is 0 if no object violates a policy, 1 if one does, and 2 if something cannot be read.
    Audit(Box<AuditArgs>),
    /// Evaluate policies and definitions over manifests, without a cluster
    ///
    /// Policies, bindings, params and CustomResourceDefinitions are recognized by their kind. All other objects are checked, including the
    /// namespaces and roles that policies read, and the params that a policy matches. Each finding is printed on one line as
    /// file:line: kind/name: verdict: message; the verdict is denied, warned or audited. The exit status is 0 if all objects are admitted, 1
    /// if an object is denied or a policy or definition is invalid, and 2 if an input cannot be used or nothing was checked.
    Check(Box<CheckArgs>),
    /// Evaluate an expression
    ///
    /// The exit status is 0 if the expression has a value, 1 if it cannot be compiled or evaluated, and 2 if the command line or an input
    /// is invalid.
    Eval(Box<EvalArgs>),
    /// List the functions that expressions can use
    ///
    /// Lists the functions and macros of an environment with their signatures, the first Kubernetes version that has them,
    /// and the cost of a call.
    Functions(FunctionsArgs),
    /// Find mistakes in policies, definitions and other objects that contain expressions, without a cluster
    ///
    /// Lints CustomResourceDefinitions and their rules, admission policies and bindings, match conditions of webhooks, structured
    /// authentication and authorization configuration, and device selectors. An error is a mistake that an API server rejects; warnings and
    /// notes are about objects that it accepts. The exit status is 0 without errors, 1 with errors, and 2 if an input cannot be used or
    /// nothing was linted.
    Lint(Box<LintArgs>),
    /// Show what rules and expressions cost, and which bounds bring costs down
    ///
    /// Estimates the costs of CustomResourceDefinition rules and policy expressions without evaluating them. Shows each cost, its share of
    /// the limit, how often the rule runs, the most expensive parts of its expression, and the bounds that reduce the cost. The exit status
    /// is 0 if all costs are within their limits, 1 if a limit is exceeded, and 2 if an input cannot be used.
    Cost(CostArgs),
    /// Explain a rule of gavel lint
    ///
    /// Prints what the rule finds, why that is a mistake, and an example before and after its correction. Without an argument, lists all
    /// rules.
    Explain(ExplainArgs),
    /// Apply mutating admission policies to manifests and print the results, without a cluster
    ///
    /// Mutates each object as in a request that creates it. The exit status is 0 if all objects are admitted, 1 if a policy
    /// denies one, and 2 if an input cannot be used.
    Mutate(MutateArgs),
    /// Rehearse an upgrade: report which results, costs and messages change in another Kubernetes version
    ///
    /// Prints the position of each change, the answers of both versions and, in brackets, the names of the rows of docs/versions.md that
    /// explain the change. Prints the texts of these rows at the end. The exit status is 0 if no answer changes, 1 if an answer changes,
    /// and 2 if an input cannot be used.
    UpgradeCheck(UpgradeCheckArgs),
    /// Run the tests of policies and CustomResourceDefinitions
    ///
    /// A test file has the kind PolicyTest. Gavel also runs the test files of kaptest, and those of kyverno test that are about Kubernetes'
    /// own policy kinds. The exit status is 0 if all tests pass, 1 if a test fails or the coverage is too low, and 2 if an input cannot be
    /// used or there was no test.
    Test(TestArgs),
    /// Validate custom resources as an API server does, without a cluster
    ///
    /// Prints each problem on one line as file:line:column: field: message. The exit status is 0 if all objects are valid, 1 if an object
    /// or a definition is invalid, and 2 if an input cannot be used.
    Validate(ValidateArgs),
    /// Answer JSON requests from standard input, one per line
    ///
    /// Reads one request per line and writes one answer per line, in order, until standard input ends. docs/batch.md describes the requests.
    /// For example: {"id": 1, "op": "eval", "expr": "x + 1", "vars": {"x": "int"}, "bindings": {"x": 1}}
    Batch,
    /// Run the admission webhook: answer the AdmissionReviews of an API server
    ///
    /// Answers each AdmissionReview as the API server would if it evaluated the same policies itself.
    ///
    /// Serves until SIGTERM, then drains the requests in flight. Logs go to standard error.
    Serve(Box<ServeArgs>),
    /// Print the version of gavel and the Kubernetes versions that it supports
    Version(VersionArgs),
    /// Print shell completions
    ///
    /// To load them: source <(gavel completions bash)
    Completions(CompletionsArgs),
    /// Print the man page, or write the man pages of all commands into a folder
    Man(ManArgs),
}

/// The arguments of `gavel eval`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvalArgs {
    /// The expression; - reads it from standard input
    #[arg(required_unless_present = "file", allow_negative_numbers = true)]
    pub(crate) expr: Option<String>,

    /// Read the expression from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "expr")]
    pub(crate) file: Option<PathBuf>,

    /// Declare a variable with a type such as int, list(string), map(string, dyn), optional(int); can be repeated
    #[arg(long, value_name = "NAME=TYPE", value_parser = variable)]
    pub(crate) var: Vec<(String, Type)>,

    /// Bind a variable to a JSON value, or to a YAML or JSON file (@- is standard input); can be repeated. Without --var, the variable has the
    /// type dyn
    #[arg(long, value_name = "NAME=JSON|NAME=@FILE", value_parser = binding)]
    pub(crate) bind: Vec<(String, Binding)>,

    /// Bind the variable authorizer to an authorizer that decides by these RBAC manifests: a YAML or JSON file, or a folder of files. Needs
    /// --as
    #[arg(long, value_name = "FILE|FOLDER", requires = "user")]
    pub(crate) rbac: Vec<PathBuf>,

    /// The user whose permissions the variable authorizer checks: a name, or system:serviceaccount:NAMESPACE:NAME
    #[arg(long = "as", value_name = "USER", requires = "rbac")]
    pub(crate) user: Option<String>,

    /// A group of that user; can be repeated
    #[arg(long = "as-group", value_name = "GROUP", requires = "rbac")]
    pub(crate) groups: Vec<String>,

    /// Compile and evaluate as this Kubernetes version does
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// Compile the expression as Kubernetes compiles stored expressions; new expressions can use fewer functions
    #[arg(long)]
    pub(crate) stored: bool,

    /// The functions that expressions can use
    #[arg(long, value_enum, default_value_t = Environment::Kubernetes)]
    pub(crate) env: Environment,

    /// The CEL container, a prefix with which names are resolved; only with --env cel
    #[arg(long, value_name = "NAME")]
    pub(crate) container: Option<String>,

    /// Exit with status 1 if the value is false or null, as jq -e does
    #[arg(short, long)]
    pub(crate) exit_status: bool,

    /// Show the static and the actual cost
    #[arg(long)]
    pub(crate) cost: bool,

    /// Show the values of the sub-expressions that are evaluated, in the format text; in macros, the values for all elements
    #[arg(long)]
    pub(crate) explain: bool,

    /// The cost limit of the evaluation, in cost units
    #[arg(long, value_name = "UNITS", value_parser = number(0..=u64::MAX), default_value_t = PER_CALL_LIMIT)]
    pub(crate) cost_limit: u64,

    /// Stop the evaluation after this time, such as 500ms or 10s
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<std::time::Duration>,

    /// How to print the outcome; json prints an answer in the format of gavel batch
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
}

const EXAMPLES: &str = "Examples:
  gavel eval '[1, 2, 3].map(x, x * 2)'
  gavel eval 'object.spec.replicas <= 5' --bind object=@deployment.yaml --explain
  gavel eval 'x + duration(\"1h\")' --var x=timestamp --bind 'x=\"2026-01-31T12:00:00Z\"' --cost";

/// The arguments of `gavel validate`.
#[derive(Debug, Args)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub(crate) struct ValidateArgs {
    /// A CustomResourceDefinition: a YAML or JSON file, or a folder of files; can be repeated
    #[arg(long, value_name = "FILE|FOLDER", required = true)]
    pub(crate) crd: Vec<PathBuf>,

    /// The objects before the update. Gavel matches old and new objects by kind, namespace and name
    #[arg(long, value_name = "FILE|FOLDER")]
    pub(crate) old: Vec<PathBuf>,

    /// Objects: YAML or JSON files of one or several documents, folders of them, or - for standard input
    #[arg(required = true, value_name = "OBJECT")]
    pub(crate) objects: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) folders: FolderArgs,

    /// Ignore objects whose kind has no definition, and documents that are not Kubernetes objects
    #[arg(long)]
    pub(crate) ignore_missing_schemas: bool,

    /// The namespace of objects that do not name one
    #[arg(short, long, default_value = "default")]
    pub(crate) namespace: String,

    /// How to treat unknown and duplicate fields, as with kubectl --validate
    #[arg(long, value_enum, default_value_t = FieldValidation::Strict)]
    pub(crate) validate: FieldValidation,

    /// The Kubernetes version of the API server
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// How to print problems; json prints one line per object: the Status that an API server would return
    #[arg(short, long, value_enum, default_value_t = Format::Text)]
    pub(crate) output: Format,
}

const VALIDATE_EXAMPLES: &str = "Examples:
  gavel validate --crd crds/ route.yaml
  gavel validate --crd crds/ -R manifests/ --output json
  kubectl get gateways -A -o yaml | gavel validate --crd crds/ -";

/// How unknown and duplicate fields are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FieldValidation {
    /// Unknown and duplicate fields are errors
    Strict,
    /// Unknown and duplicate fields are warnings
    Warn,
    /// Unknown and duplicate fields are not reported
    Ignore,
}

impl From<FieldValidation> for gavel_policy::api::FieldValidation {
    fn from(validation: FieldValidation) -> Self {
        match validation {
            FieldValidation::Strict => Self::Strict,
            FieldValidation::Warn => Self::Warn,
            FieldValidation::Ignore => Self::Ignore,
        }
    }
}

/// The functions that expressions can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Environment {
    /// The functions of an API server
    Kubernetes,
    /// The functions of the CEL specification, with all its extension libraries
    Cel,
}

/// The arguments of `gavel functions`.
#[derive(Debug, Args)]
pub(crate) struct FunctionsArgs {
    /// The Kubernetes version whose functions are listed
    #[arg(long, value_name = "VERSION", default_value_t, value_parser = kubernetes_version)]
    pub(crate) kubernetes_version: KubeVersion,

    /// The environment whose functions are listed
    #[arg(long, value_enum, default_value_t = Environment::Kubernetes)]
    pub(crate) env: Environment,

    /// The output format
    #[arg(short, long, value_enum, default_value_t = FunctionsOutput::Text)]
    pub(crate) output: FunctionsOutput,
}

/// The formats in which `gavel functions` lists the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FunctionsOutput {
    /// For people: a table
    Text,
    /// For documentation, with examples
    Markdown,
    /// For programs: one line of JSON
    Json,
}

/// The output formats that several commands share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Text,
    /// For programs: JSON, one object per line
    Json,
}

/// The source of a variable's value: the text of JSON, or a file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Binding {
    Json(String),
    File(PathBuf),
}

fn named(text: &str) -> Result<(&str, &str), String> {
    match text.split_once('=') {
        Some((name, rest)) if !name.is_empty() => Ok((name, rest)),
        _ => Err("must be NAME=…".to_owned()),
    }
}

fn variable(text: &str) -> Result<(String, Type), String> {
    let (name, ty) = named(text)?;
    let ty = gavel_protocol::read_type(ty).map_err(|error| error.to_string())?;
    Ok((name.to_owned(), ty))
}

fn binding(text: &str) -> Result<(String, Binding), String> {
    let (name, value) = named(text)?;
    let value = match value.strip_prefix('@') {
        Some("") => return Err("must name a file after @".to_owned()),
        Some(path) => Binding::File(path.into()),
        None => Binding::Json(value.to_owned()),
    };
    Ok((name.to_owned(), value))
}

/// Parses a positive duration in the format of Go: `500ms`, `1m30s`.
fn duration(text: &str) -> Result<std::time::Duration, String> {
    let nanos = gavel_golang::duration::parse(text).and_then(|nanos| u64::try_from(nanos).ok());
    match nanos {
        Some(nanos) if nanos > 0 => Ok(std::time::Duration::from_nanos(nanos)),
        _ => Err("must be a duration above 0 such as 500ms, 10s or 1m30s".to_owned()),
    }
}

/// A parser of whole numbers in `range`.
pub(crate) fn number<T: FromStr + PartialOrd + Display + Clone>(
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok();
        let number = number.filter(|number| range.contains(number));
        let (least, most) = (range.start(), range.end());
        number.ok_or_else(|| format!("must be a whole number from {least} to {most}"))
    }
}

/// Parses a positive number of bytes, written as a Kubernetes quantity: `7Mi`, `512k`, `1000000`.
pub(crate) fn bytes<T: TryFrom<i64> + Default + PartialOrd>(text: &str) -> Result<T, String> {
    let quantity = Quantity::parse(text)
        .ok()
        .and_then(|quantity| quantity.as_integer().ok());
    match quantity.and_then(|count| T::try_from(count).ok()) {
        Some(count) if count > T::default() => Ok(count),
        _ => Err("must be a number of bytes above 0 such as 7Mi, 512k or 1000000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_in_their_range() {
        for (text, expected) in [
            ("0", Some(0)),
            ("100", Some(100)),
            ("101", None),
            ("-1", None),
            ("92.5", None),
            ("abc", None),
        ] {
            let error = "must be a whole number from 0 to 100".to_owned();
            assert_eq!(number(0..=100_u8)(text), expected.ok_or(error), "{text}");
        }
    }
}
