{{- /* Writes into an object what the values say: name, namespace and labels as Kustomize does, then the settings. */ -}}
{{- define "gavel.adapt" -}}
{{- $values := .root.Values }}
{{- $namespace := .root.Release.Namespace }}
{{- $object := .object }}
{{- $labels := dict "app.kubernetes.io/name" "gavel" }}
{{- $_ := set $object.metadata "labels" (merge (default (dict) $object.metadata.labels) $labels) }}
{{- $isWebhook := hasSuffix "WebhookConfiguration" $object.kind }}
{{- if not $isWebhook }}
{{- $_ := set $object.metadata "namespace" $namespace }}
{{- end }}
{{- if eq $object.kind "Service" }}
{{- $_ := set $object.spec "selector" $labels }}
{{- end }}
{{- if eq $object.kind "Deployment" }}
{{- $spec := $object.spec }}
{{- $_ := set $spec "selector" (dict "matchLabels" $labels) }}
{{- $_ := set $spec.template "metadata" (dict "labels" $labels) }}
{{- $container := first $spec.template.spec.containers }}
{{- $cluster := semver .root.Capabilities.KubeVersion.Version }}
{{- $version := default (printf "%d.%d" $cluster.Major $cluster.Minor) $values.kubernetesVersion }}
{{- $_ := set $container "image" $values.image }}
{{- $_ := set $container "args" (concat $container.args (list (printf "--kubernetes-version=%s" $version)) $values.extraArgs) }}
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
{{- $_ := set $webhook "failurePolicy" $values.failurePolicy }}
{{- $_ := set $webhook.clientConfig.service "namespace" $namespace }}
{{- $exempt := first $webhook.namespaceSelector.matchExpressions }}
{{- $_ := set $exempt "values" (concat (list $namespace) (without $exempt.values "gavel-system")) }}
{{- if $values.certManager }}
{{- $_ := set $object.metadata "annotations" (dict "cert-manager.io/inject-ca-from" (printf "%s/gavel" $namespace)) }}
{{- else }}
{{- $_ := set $webhook.clientConfig "caBundle" $values.caBundle }}
{{- end }}
{{- end }}
{{- end -}}
