//! The definitions in a stream of requests. A request can refer to the definition of an earlier request.

use std::collections::HashMap;
use std::sync::Arc;

use gavel_crd::CompiledCrd;
use gavel_crd::definition::Definition;
use gavel_engine::value::Json;
use gavel_libraries::Server;

use crate::request::{Fields, RequestError};

/// The definition to which a request refers.
#[derive(Debug)]
pub(crate) enum DefinitionSource {
    /// The definition itself.
    Inline(Json),
    /// The definition of the `crd` request with this id.
    Earlier(String),
}

/// The definitions of a stream.
#[derive(Debug, Default)]
pub(crate) struct NamedDefinitions {
    /// The definitions of `crd` requests, by their ids.
    named: HashMap<String, KnownDefinition>,
    /// The definition of the last `validate` request that contained a definition.
    last: Option<KnownDefinition>,
}

/// A definition and, as soon as it is needed, its compiled form for an API server.
#[derive(Debug)]
struct KnownDefinition {
    json: Json,
    loaded: Option<(Server, Arc<CompiledCrd>)>,
}

impl DefinitionSource {
    /// Reads the key `crd`.
    pub(crate) fn read(fields: &mut Fields) -> Result<Self, RequestError> {
        match fields.take("crd") {
            Some(Json::String(id)) => Ok(DefinitionSource::Earlier(id)),
            Some(json) => Ok(DefinitionSource::Inline(json)),
            None => Err(RequestError("crd must be set".to_owned())),
        }
    }
}

impl NamedDefinitions {
    /// Keeps the definition of a `crd` request, so that later requests can refer to it by the id of that request.
    pub(crate) fn remember(&mut self, id: &Json, definition: &Json) {
        if let Json::String(id) = id {
            self.named
                .insert(id.clone(), KnownDefinition::new(definition.clone()));
        }
    }

    /// Returns the compiled definition of a `validate` request. The compiled form of a definition is cached until a request names another
    /// API server.
    pub(crate) fn load(
        &mut self,
        source: DefinitionSource,
        server: Server,
    ) -> Result<Arc<CompiledCrd>, RequestError> {
        let entry = match source {
            DefinitionSource::Earlier(id) => self.named.get_mut(&id).ok_or_else(|| {
                RequestError(format!("crd: no earlier crd request has the id {id:?}"))
            })?,
            DefinitionSource::Inline(json) => {
                let same = self.last.take().filter(|last| last.json == json);
                self.last
                    .insert(same.unwrap_or_else(|| KnownDefinition::new(json)))
            }
        };
        entry.load(server)
    }
}

impl KnownDefinition {
    fn new(json: Json) -> Self {
        KnownDefinition { json, loaded: None }
    }

    fn load(&mut self, server: Server) -> Result<Arc<CompiledCrd>, RequestError> {
        if let Some((known, loaded)) = &self.loaded
            && *known == server
        {
            return Ok(Arc::clone(loaded));
        }
        let within = |error: String| RequestError(format!("crd: {error}"));
        let definition = Definition::read(&self.json).map_err(|error| within(error.to_string()))?;
        let crd = CompiledCrd::compile_for(&definition, server);
        let loaded = Arc::new(crd.map_err(|error| within(error.to_string()))?);
        self.loaded = Some((server, Arc::clone(&loaded)));
        Ok(loaded)
    }
}
