package environment

import "k8s.io/apimachinery/pkg/util/version"

// CompatibilityVersion is the version that new expressions must be compatible with.
func (e *EnvSet) CompatibilityVersion() *version.Version { return e.compatibilityVersion }
