use super::*;

mod equality;
mod joined;
mod types;
mod view;

fn schema(json: Json) -> CelSchema {
    CelSchema::new(&serde_json::from_value(json).unwrap(), false)
}

fn resource(json: Json) -> CelSchema {
    CelSchema::new(&serde_json::from_value(json).unwrap(), true)
}
