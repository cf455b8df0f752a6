//! Finds functions and macros that an expression uses, but that the chosen Kubernetes version does not support yet.

use gavel_engine::ast::operators;
use gavel_engine::syntax::Macros;
use gavel_libraries::KubeVersion;
use gavel_libraries::reference::newer_names;
use gavel_protocol::{EnvironmentSpec, Environments, EvalRequest, Language};

/// Notes about an expression that does not compile. Each note names a function or macro, and the first Kubernetes version that supports it.
/// If the expression uses no newer name, the only note names the first later version that accepts the expression, if there is one.
pub(crate) fn notes(request: &EvalRequest) -> Vec<String> {
    let Language::Kubernetes {
        server,
        stored: false,
    } = request.environment.language
    else {
        return Vec::new();
    };
    let version = server.language();
    let newer = names(request, version);
    if !newer.is_empty() {
        return newer;
    }
    // No function or macro is newer. A later version may accept the expression because, for example, an operator has more overloads.
    let later = (version.minor.saturating_add(1)..=KubeVersion::NEWEST.minor).map(KubeVersion::v1);
    let compiles = |later: &KubeVersion| {
        let env = environment(request, *later, false);
        env.is_some_and(|env| env.compile(&request.expr).is_ok())
    };
    let first = later.into_iter().find(compiles);
    let note = |first| {
        format!("Kubernetes {first} is the first that accepts the expression; this is {version}")
    };
    first.map(note).into_iter().collect()
}

fn names(request: &EvalRequest, version: KubeVersion) -> Vec<String> {
    let env = environment(request, version, true)
        .and_then(|env| env.extend().macros(Macros::default()).build().ok());
    let Some(ast) = env.and_then(|env| env.parse(&request.expr).ok()) else {
        return Vec::new();
    };
    let notes = newer_names(&ast, version).into_iter().map(|newer| {
        let name = match newer.name.as_str() {
            operators::OPT_SELECT => "a.?b",
            operators::OPT_INDEX => "a[?b]",
            name => name,
        };
        let since = newer.since;
        format!("{name} needs Kubernetes {since} or later; this is {version}")
    });
    notes.collect()
}

fn environment(
    request: &EvalRequest,
    version: KubeVersion,
    stored: bool,
) -> Option<gavel_engine::env::Env> {
    let spec = EnvironmentSpec {
        language: Language::Kubernetes {
            server: version.into(),
            stored,
        },
        ..request.environment.clone()
    };
    Environments::default().environment(&spec).ok()
}
