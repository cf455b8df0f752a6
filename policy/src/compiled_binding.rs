//! Compiles ValidatingAdmissionPolicyBindings.

use crate::api::ValidatingAdmissionPolicyBinding;
use crate::hooks::Bound;
use crate::matching::Matcher;
use crate::params::ParamSelection;

/// A compiled binding.
#[derive(Debug)]
pub struct CompiledBinding {
    binding: ValidatingAdmissionPolicyBinding,
    pub(crate) matcher: Matcher,
    pub(crate) params: Option<ParamSelection>,
}

impl CompiledBinding {
    /// Compiles a binding whose defaults are set.
    pub fn new(binding: ValidatingAdmissionPolicyBinding) -> Self {
        let spec = &binding.spec;
        CompiledBinding {
            matcher: Matcher::new(spec.match_resources.as_ref()),
            params: spec.param_ref.as_ref().map(ParamSelection::new),
            binding,
        }
    }

    /// The name of the binding.
    pub fn name(&self) -> &str {
        &self.binding.metadata.name
    }

    /// The binding as the API object.
    pub fn binding(&self) -> &ValidatingAdmissionPolicyBinding {
        &self.binding
    }
}

impl Bound for CompiledBinding {
    fn policy_name(&self) -> &str {
        &self.binding.spec.policy_name
    }
}
