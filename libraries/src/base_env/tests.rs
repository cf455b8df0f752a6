use super::*;

fn env(minor: u32) -> Env {
    match base_env(Server::new(KubeVersion::v1(minor))) {
        Ok(env) => env,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn functions_come_with_their_version() {
    let check = |name: &str, first: u32| {
        for minor in [23, first.saturating_sub(1), first, 36, 1000] {
            let found = env(minor).declarations().function(name).is_some();
            assert_eq!(found, minor >= first, "{name} in 1.{minor}");
        }
    };
    check("size", 0);
    check("strings.quote", 29);
    check("optional.of", 28);
    check("first", 28);
    check("cel.@mapInsert", 32);
}

#[test]
fn language_options_come_with_their_version() {
    for (minor, expected) in [(27, false), (28, true)] {
        let env = env(minor);
        assert_eq!(
            env.declarations().options().cross_type_numeric_comparisons,
            expected
        );
        assert_eq!(env.parse("a.?b").is_ok(), expected);
        assert_eq!(env.declarations().find_type(OPTIONAL).is_some(), expected);
    }
}

#[test]
fn removed_features_have_a_successor() {
    for gated in FEATURES {
        if let Some(removed) = gated.removed {
            let successor = FEATURES.iter().find(|other| other.introduced == removed);
            assert!(successor.is_some(), "{gated:?}");
        }
    }
}
