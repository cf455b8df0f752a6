{{- /* Writes into an object what the values say: name, namespace and labels as Kustomize does, then the settings. */ -}}
{{- define "gavel.adapt" -}}
{{- $values := .root.Values }}
{{- $namespace := .root.Release.Namespace }}
{{- $object := .object }}
{{- $labels := dict "app.kubernetes.io/name" "gavel" }}
{{- $_ := set $object.metadata "labels" (merge (default (dict) $object.metadata.labels) $labels) }}
{{- $isWebhook := hasSuffix "WebhookConfiguration" $object.kind }}
{{- if not (or $isWebhook (has $object.kind (list "ClusterRole" "ClusterRoleBinding" "CustomResourceDefinition"))) }}
{{- $_ := set $object.metadata "namespace" $namespace }}
{{- end }}
{{- range $subject := $object.subjects }}{{ $_ := set $subject "namespace" $namespace }}{{ end }}
{{- if and $values.cluster.params (eq $object.kind "ClusterRole") (eq $object.metadata.name "gavel-params") }}
{{- $_ := set $object "rules" $values.cluster.params }}
{{- end }}
{{- $isClient := or $values.cluster.enabled $values.selfSigned }}
{{- if and $isClient (eq $object.kind "ServiceAccount") }}
{{- $_ := set $object "automountServiceAccountToken" true }}
{{- end }}
{{- if and $isClient (eq $object.kind "NetworkPolicy") }}
{{- $_ := set $object.spec "egress" (list (dict "ports" (list (dict "protocol" "TCP" "port" 443) (dict "protocol" "TCP" "port" 6443) (dict "protocol" "UDP" "port" 53) (dict "protocol" "TCP" "port" 53)))) }}
{{- end }}
{{- if eq $object.kind "Service" }}
{{- $_ := set $object.spec "selector" $labels }}
{{- end }}
{{- if eq $object.kind "Deployment" }}
{{- $spec := $object.spec }}
{{- $_ := set $spec "selector" (dict "matchLabels" $labels) }}
{{- $_ := set $spec.template "metadata" (dict "labels" $labels) }}
{{- $container := first $spec.template.spec.containers }}
{{- $args := list }}
{{- $left := list }}
{{- if $values.cluster.enabled }}{{ $left = append $left "policies" }}{{ end }}
{{- if $values.selfSigned }}{{ $left = append $left "tls" }}{{ end }}
{{- range $arg := $container.args }}
{{- if and $values.cluster.enabled (hasPrefix "--policies=" $arg) }}{{ $arg = "--cluster" }}{{ end }}
{{- if and $values.selfSigned (hasPrefix "--cert=" $arg) }}{{ $arg = printf "--self-signed=gavel.%s.svc,gavel.%s.svc.cluster.local" $namespace $namespace }}{{ end }}
{{- if and $values.selfSigned (hasPrefix "--key=" $arg) }}{{ $arg = "--tls-secret=gavel-tls" }}{{ end }}
{{- $args = append $args $arg }}
{{- end }}
{{- if not $values.cluster.enabled }}
{{- $cluster := semver .root.Capabilities.KubeVersion.Version }}
{{- $version := default (printf "%d.%d" $cluster.Major $cluster.Minor) $values.kubernetesVersion }}
{{- $args = append $args (printf "--kubernetes-version=%s" $version) }}
{{- end }}
{{- $_ := set $container "image" $values.image }}
{{- $_ := set $container "args" (concat $args $values.extraArgs) }}
{{- if $isClient }}{{ $_ := set $spec.template.spec "automountServiceAccountToken" true }}{{ end }}
{{- range $holder := list (dict "of" $container "field" "volumeMounts") (dict "of" $spec.template.spec "field" "volumes") }}
{{- $kept := list }}
{{- range $volume := get $holder.of $holder.field }}{{ if not (has $volume.name $left) }}{{ $kept = append $kept $volume }}{{ end }}{{ end }}
{{- $_ := set $holder.of $holder.field $kept }}
{{- end }}
{{- $_ := set $container "resources" $values.resources }}
{{- if $values.autoscaling }}{{ $_ := unset $spec "replicas" }}{{ else }}{{ $_ := set $spec "replicas" $values.replicas }}{{ end }}
{{- end }}
{{- if eq $object.kind "Certificate" }}
{{- if $object.spec.dnsNames }}
{{- $_ := set $object.spec "dnsNames" (list (printf "gavel.%s.svc" $namespace) (printf "gavel.%s.svc.cluster.local" $namespace)) }}
{{- end }}
{{- end }}
{{- if $isWebhook }}
{{- $webhook := first $object.webhooks }}
{{- if eq $object.metadata.name "gavel" }}{{ $_ := set $webhook "failurePolicy" $values.failurePolicy }}{{ end }}
{{- $_ := set $webhook.clientConfig.service "namespace" $namespace }}
{{- with $webhook.namespaceSelector }}
{{- $exempt := first .matchExpressions }}
{{- $_ := set $exempt "values" (concat (list $namespace) (without $exempt.values "gavel-system")) }}
{{- end }}
{{- if $values.selfSigned }}
{{- $_ := unset $object.metadata "annotations" }}
{{- else if $values.certManager }}
{{- $_ := set $object.metadata "annotations" (dict "cert-manager.io/inject-ca-from" (printf "%s/gavel" $namespace)) }}
{{- else }}
{{- $_ := set $webhook.clientConfig "caBundle" $values.caBundle }}
{{- end }}
{{- end }}
{{- end -}}
