{{/* Refuses values whose pods could not start, or would listen otherwise than was meant. Each text names the value, what
is allowed, and the next step; what one value alone may be is in values.schema.json. */}}
{{- define "kraftctl.refuse" -}}
{{- include "kraftctl.refuseNames" . -}}
{{- include "kraftctl.refuseClients" . -}}
{{- include "kraftctl.refuseSecrets" . -}}
{{- include "kraftctl.refuseConfig" . -}}
{{- include "kraftctl.refuseResources" . -}}
{{- include "kraftctl.refuseOfRelease" . -}}
{{- end -}}

{{- define "kraftctl.refuseNames" -}}
{{- $name := include "kraftctl.name" . -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- fail (printf "fullnameOverride: objects would be named %s, and a Service has small letters, digits and dashes, of which a letter is first. Next step: set fullnameOverride, or choose another name of the release" $name) -}}
{{- end -}}
{{- if eq (int .Values.ports.controller) (int .Values.ports.operate) -}}
{{- fail (printf "ports.controller and ports.operate are both %d, and a pod listens at two ports. Next step: set another ports.operate" (int .Values.ports.operate)) -}}
{{- end -}}
{{- $service := printf "%s.%s" $name .Release.Namespace -}}
{{- range .Values.existingQuorum -}}
{{- $host := index (splitList ":" .) 0 -}}
{{- range list (include "kraftctl.domain" $) (printf "%s.svc" $service) $service $name -}}
{{- if or (eq $host .) (hasSuffix (printf ".%s" .) $host) -}}
{{- fail (printf "existingQuorum has %s, which is a controller of this release: none would begin a quorum, and all would wait for one. Next step: name those of the quorum that exists, or set existingQuorum=[]" $host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Each of these controllers may lead a quorum that exists, whose controllers and brokers may be anywhere. */}}
{{- define "kraftctl.refuseClients" -}}
{{- $clients := .Values.networkPolicy.clients -}}
{{- if and .Values.existingQuorum .Values.networkPolicy.enabled (or (not $clients) (eq (toJson $clients) "[{\"podSelector\":{}}]")) -}}
{{- fail (printf "existingQuorum needs networkPolicy.clients: with its default, these controllers would lead, and controllers and brokers outside the namespace would not reach them. Next step: name the peers of the controllers that exist, of all brokers and tools; if all are in this namespace, {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %s}}}" .Release.Namespace) -}}
{{- end -}}
{{- end -}}

{{/* A pod waits for ever for a secret that nothing makes, and a secret that nothing reads protects nothing. */}}
{{- define "kraftctl.refuseSecrets" -}}
{{- $own := printf "%s-tls" (include "kraftctl.name" .) -}}
{{- if and .Values.tls.enabled (not .Values.tls.secretName) (not .Values.tls.issuerRef) -}}
{{- fail (printf "tls.enabled needs tls.secretName, a secret with tls-combined.pem (private key, then certificates) and ca.crt, or tls.issuerRef, an issuer of cert-manager, which writes one. Next step: set one of the two; for a secret that is named %s already, set tls.secretName=%s" $own $own) -}}
{{- end -}}
{{- if and (not .Values.tls.enabled) (or .Values.tls.secretName .Values.tls.issuerRef) -}}
{{- fail "tls.secretName and tls.issuerRef need tls.enabled: without it controllers listen in clear text. Next step: set tls.enabled=true, or leave both out" -}}
{{- end -}}
{{- if and .Values.sasl.mechanism (not .Values.tls.enabled) -}}
{{- fail "sasl.mechanism needs tls.enabled: without TLS passwords or their proofs can be read. Next step: set tls.enabled=true" -}}
{{- end -}}
{{- if and .Values.sasl.mechanism (not .Values.sasl.secretName) -}}
{{- fail "sasl.mechanism needs sasl.secretName, a secret with the key jaas.config. Next step: make one, and set its name" -}}
{{- end -}}
{{- if and .Values.sasl.secretName (not .Values.sasl.mechanism) -}}
{{- fail "sasl.secretName needs sasl.mechanism: without it controllers ask for no password. Next step: set sasl.mechanism=PLAIN or SCRAM-SHA-512, or leave sasl.secretName out" -}}
{{- end -}}
{{- end -}}

{{/* A number of a file of values is a floating-point one, whose text would have an exponent. */}}
{{- define "kraftctl.text" -}}
{{- if and (kindIs "float64" .) (eq (float64 .) (floor .)) -}}{{- printf "%.0f" . -}}{{- else -}}{{- toString . -}}{{- end -}}
{{- end -}}

{{/* A quantity of Kubernetes as a number, and the key of that quantity. */}}
{{- define "kraftctl.number" -}}
{{- $key := index . 0 -}}
{{- $text := include "kraftctl.text" (index . 1) -}}
{{- $suffix := regexFind "[A-Za-z]*$" $text -}}
{{- $factors := dict "" 1.0 "n" 1e-9 "u" 1e-6 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 "Ei" 1152921504606846976.0 -}}
{{- if or (not (regexMatch "^[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+|[A-Za-z]*)$" $text)) (not (hasKey $factors $suffix)) -}}
{{- fail (printf "%s is %s, and a quantity is a number, with nothing, an exponent or one of n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei after it. Next step: write %s so" $key $text $key) -}}
{{- end -}}
{{- mulf (float64 (trimSuffix $suffix $text)) (get $factors $suffix) -}}
{{- end -}}

{{- define "kraftctl.refuseResources" -}}
{{- $limits := default dict .Values.resources.limits -}}
{{- range $name, $limit := $limits -}}
{{- $_ := include "kraftctl.number" (list (printf "resources.limits.%s" $name) $limit) -}}
{{- end -}}
{{- range $name, $requested := default dict .Values.resources.requests -}}
{{- $number := include "kraftctl.number" (list (printf "resources.requests.%s" $name) $requested) | float64 -}}
{{- if hasKey $limits $name -}}
{{- $limit := get $limits $name -}}
{{- if gt $number (include "kraftctl.number" (list (printf "resources.limits.%s" $name) $limit) | float64) -}}
{{- fail (printf "resources.requests.%s is %s and resources.limits.%s %s: Kubernetes makes no pod whose limit is lower. Next step: set a limit of %s or more" $name (include "kraftctl.text" $requested) $name (include "kraftctl.text" $limit) (include "kraftctl.text" $requested)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if hasKey $limits "memory" -}}
{{- if lt (include "kraftctl.number" (list "resources.limits.memory" $limits.memory) | float64) 134217728.0 -}}
{{- fail (printf "resources.limits.memory is %s: a small controller takes 64 MiB (docs/sizing.md), and the commands beside it as much. Next step: set 128Mi or more, and requests.memory not above it" (include "kraftctl.text" $limits.memory)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
