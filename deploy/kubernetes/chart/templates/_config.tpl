{{/* The files of a controller, and of the commands beside it. */}}
{{- define "kraftctl.files" -}}
controller.properties: |
  process.roles=controller
  config.providers=env{{ if .Values.secretName }},secrets{{ end }}{{ if .Values.sasl.mechanism }},sasl{{ end }}
  config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
  {{- if .Values.secretName }}
  {{- include "kraftctl.secrets" . | nindent 2 }}
  {{- end }}
  node.id=${env:NODE_ID}
  controller.listener.names=CONTROLLER
  listener.security.protocol.map=CONTROLLER:{{ include "kraftctl.protocol" . }}
  listeners=CONTROLLER://:{{ .Values.ports.controller }}
  advertised.listeners=CONTROLLER://${env:POD_NAME}.{{ include "kraftctl.domain" . }}:{{ .Values.ports.controller }}
  controller.quorum.bootstrap.servers={{ join "," (concat .Values.existingQuorum (list (include "kraftctl.controllers" .))) }}
  controller.quorum.auto.join.enable=true
  log.dirs=/var/lib/kraftctl/data
  kraftctl.operate.listeners=http://:{{ .Values.ports.operate }}
  {{- if .Values.tls.enabled }}
  {{- include "kraftctl.stores" . | nindent 2 }}
  {{- end }}
  {{- if .Values.sasl.mechanism }}
  {{- include "kraftctl.sasl" . | nindent 2 }}
  sasl.enabled.mechanisms={{ .Values.sasl.mechanism }}
  sasl.mechanism.controller.protocol={{ .Values.sasl.mechanism }}
  {{- if hasPrefix "SCRAM" .Values.sasl.mechanism }}
  kraftctl.scram.users.path=/etc/kraftctl-sasl/users
  {{- end }}
  listener.name.controller.{{ lower .Values.sasl.mechanism }}.sasl.jaas.config=${sasl:/etc/kraftctl-sasl:jaas.config}
  {{- else if and .Values.tls.enabled (not (hasKey .Values.config "ssl.client.auth")) }}
  ssl.client.auth=required
  {{- end }}
  {{- range $key, $value := .Values.config }}
  {{ $key }}={{ if kindIs "string" $value }}{{ $value }}{{ else }}{{ toJson $value }}{{ end }}
  {{- end }}
client.properties: |
  security.protocol={{ include "kraftctl.protocol" . }}
  {{- if .Values.tls.enabled }}
  {{- include "kraftctl.stores" . | nindent 2 }}
  {{- include "kraftctl.clientKeys" . }}
  {{- end }}
  {{- $providers := list }}
  {{- if and .Values.secretName .Values.tls.enabled }}
  {{- $providers = append $providers "secrets" }}
  {{- include "kraftctl.secrets" . | nindent 2 }}
  {{- end }}
  {{- if .Values.sasl.mechanism }}
  {{- $providers = append $providers "sasl" }}
  {{- include "kraftctl.sasl" . | nindent 2 }}
  {{- end }}
  {{- with $providers }}
  config.providers={{ join "," . }}
  {{- end }}
  {{- if .Values.sasl.mechanism }}
  sasl.mechanism={{ .Values.sasl.mechanism }}
  sasl.jaas.config=${sasl:/etc/kraftctl-sasl:jaas.config}
  {{- end }}
format.sh: |
  {{- .Files.Get "files/format.sh" | trim | nindent 2 }}
stop.sh: |
  {{- .Files.Get "files/stop.sh" | trim | nindent 2 }}
{{- end -}}

{{/* With a hash: a pod that is not restarted yet keeps the files that it began with. */}}
{{- define "kraftctl.configName" -}}
{{ include "kraftctl.name" . }}-{{ include "kraftctl.files" . | sha256sum | trunc 10 }}
{{- end -}}

{{- define "kraftctl.protocol" -}}
{{- if .Values.sasl.mechanism -}}SASL_SSL{{- else -}}{{ ternary "SSL" "PLAINTEXT" .Values.tls.enabled }}{{- end -}}
{{- end -}}

{{/* The keys of SSL that a controller and the commands beside it share. */}}
{{- define "kraftctl.stores" -}}
ssl.keystore.type=PEM
ssl.keystore.location=/etc/kraftctl-tls/tls-combined.pem
ssl.truststore.type=PEM
ssl.truststore.location=/etc/kraftctl-tls/ca.crt
{{- end -}}

{{/* Keys of `config` that the commands beside a controller need, too: without them the first pod asks in vain. */}}
{{- define "kraftctl.clientKeys" -}}
{{- range list "ssl.key.password" "ssl.endpoint.identification.algorithm" "ssl.protocol" "ssl.enabled.protocols" "ssl.cipher.suites" -}}
{{- $listener := printf "listener.name.controller.%s" . -}}
{{- if or (hasKey $.Values.config $listener) (hasKey $.Values.config .) }}
  {{ . }}={{ ternary $listener . (hasKey $.Values.config $listener) | get $.Values.config }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Where both find the values of secretName. */}}
{{- define "kraftctl.secrets" -}}
config.providers.secrets.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider
config.providers.secrets.param.allowed.paths=/etc/kraftctl-secrets
{{- end -}}

{{/* Where both find the login module. */}}
{{- define "kraftctl.sasl" -}}
config.providers.sasl.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider
config.providers.sasl.param.allowed.paths=/etc/kraftctl-sasl
{{- end -}}
