//! Every row's example is true in each environment that has the row.

use gavel_engine::check::is_mixed_comparison;
use gavel_engine::env::Env;
use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::value::{Arena, Value};
use gavel_libraries::{CEL_FEATURES, EnvSet, FEATURES, Feature, KubeVersion, cel_env};

#[test]
fn examples_are_true_in_the_versions_that_have_them() {
    for minor in 23..=KubeVersion::NEWEST.minor {
        let version = KubeVersion::v1(minor);
        let envs = EnvSet::new(version).unwrap();
        for gated in FEATURES.iter().filter(|gated| gated.is_in(version)) {
            assert_true(envs.new_expressions(), gated.feature, &version.to_string());
        }
    }
}

#[test]
fn examples_are_true_in_the_language_of_the_specification() {
    let env = cel_env().unwrap();
    for feature in CEL_FEATURES {
        assert_true(&env, *feature, "cel");
    }
}

fn assert_true(env: &Env, feature: Feature, name: &str) {
    let Feature::Functions(library, tables) = feature else {
        return;
    };
    let mixed = env.options().cross_type_numeric_comparisons;
    let rows = tables.iter().copied().flatten();
    for row in rows.filter(|row| mixed || !is_mixed_comparison(row.id)) {
        let example = row.example;
        let context = format!("{name}: {library}: {}: {example}", row.id);
        let checked = env.compile(example);
        let checked = checked.unwrap_or_else(|issues| panic!("{context}\n{issues}"));
        let program = env.plan(&checked);
        let program = program.unwrap_or_else(|error| panic!("{context}\n{error}"));
        let arena = Arena::new();
        let evaluation = program.eval(&Activation::new(), &arena, &EvalOptions::default());
        match evaluation.result {
            Ok(Value::Bool(true)) => {}
            other => panic!("{context}\n{other:?}"),
        }
    }
}
