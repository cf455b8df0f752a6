//! Tests that expressions on the libraries' values are evaluated without allocations.

use gavel_engine::program::{Activation, EvalOptions};
use gavel_engine::types::Type;
use gavel_engine::value::Arena;
use gavel_libraries::{EnvSet, Server};
use serde_json::json;

#[test]
fn values_of_the_libraries_allocate_nothing() {
    let set = EnvSet::new(Server::default()).unwrap();
    let builder = set.new_expressions().extend().variable("o", Type::Dyn);
    let env = builder.build().unwrap();
    let object = json!({
        "name": "web", "memory": "512Mi", "sizes": ["1Gi", "100m", "2e3", "7"], "address": "10.1.2.3", "network": "10.0.0.0/8",
    });
    let mut arena = Arena::new();
    for rule in [
        "quantity(o.memory).isLessThan(quantity('1Gi')) && quantity(o.memory).compareTo(quantity('64Mi')) >= 0",
        "o.sizes.all(s, quantity(s).isLessThan(quantity('2Gi')))",
        "o.sizes.exists(s, quantity(s).add(quantity('1')).sub(1) == quantity(o.memory)) || true",
        "cidr(o.network).containsIP(ip(o.address)) && ip(o.address).family() == 4",
        "!format.dns1123Label().validate(o.name).hasValue()",
    ] {
        let program = env.plan(&env.compile(rule).unwrap()).unwrap();
        let mut run = || {
            arena.reset();
            let mut activation = Activation::new();
            activation.bind("o", &object);
            let options = EvalOptions::default();
            let evaluation = program.eval(&activation, &arena, &options);
            assert_eq!(evaluation.result.unwrap().as_bool(), Some(true), "{rule}");
        };
        // An arena keeps memory from one evaluation to the next. It is enough after two evaluations.
        (0..2).for_each(|_| run());
        let allocations = allocation_counter::measure(run);
        assert_eq!(allocations.count_total, 0, "{rule}");
    }
}
