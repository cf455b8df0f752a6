use gavel_apimachinery::version::KubeVersion;

use super::*;

mod equality;
mod joined;
mod types;
mod view;

fn server() -> Server {
    KubeVersion::v1(36).into()
}

fn schema(json: Json) -> CelSchema {
    CelSchema::for_server(&serde_json::from_value(json).unwrap(), false, server())
}

fn resource(json: Json) -> CelSchema {
    CelSchema::for_server(&serde_json::from_value(json).unwrap(), true, server())
}
