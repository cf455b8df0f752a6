//! Compiles an expression for a schema, and evaluates it for an object with a cost limit.

use std::error::Error;

use gavel::{Activation, Arena, CelSchema, EnvSet, EvalOptions, Server};
use serde_json::json;

fn main() -> Result<(), Box<dyn Error>> {
    let server: Server = "1.36".parse()?;
    let schema = serde_json::from_value(json!({
        "type": "object",
        "properties": {
            "replicas": {"type": "integer"},
            "hosts": {"type": "array", "maxItems": 16, "items": {"type": "string", "maxLength": 64}},
        },
    }))?;
    let schema = CelSchema::for_server(&schema, false, server);
    let kubernetes = EnvSet::new(server)?;
    let env = schema
        .declare("self", kubernetes.new_expressions().extend())
        .build()?;

    // The type checker knows the fields of the schema.
    assert!(env.compile("self.replica > 0").is_err());

    // Compile the expression once. Threads can share the program.
    let program = env.plan(&env.compile("self.hosts.all(h, h.endsWith('.example.com'))")?)?;

    // The object is borrowed, not converted.
    let object = json!({"replicas": 3, "hosts": ["a.example.com", "b.example.org"]});
    let (arena, mut activation) = (Arena::new(), Activation::new());
    activation.bind("self", schema.view(&object));
    let options = EvalOptions {
        cost_limit: Some(1_000),
        ..EvalOptions::default()
    };
    let evaluation = program.eval(&activation, &arena, &options);

    assert_eq!(evaluation.result?.as_bool(), Some(false));
    println!("false, {} cost units", evaluation.cost);
    Ok(())
}

#[cfg(test)]
#[test]
fn it_runs() {
    main().unwrap();
}
