{{- define "kraftctl.name" -}}
{{- default (printf "%s-%s" .Release.Name .Chart.Name | replace "kraftctl-kraftctl" "kraftctl") .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{- define "kraftctl.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kraftctl.labels" -}}
{{ include "kraftctl.selector" . }}
app.kubernetes.io/component: controller
app.kubernetes.io/part-of: kafka
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{/* The domain of the pods: their names stay the same, their addresses do not. */}}
{{- define "kraftctl.domain" -}}
{{ include "kraftctl.name" . }}.{{ .Release.Namespace }}.svc.{{ .Values.clusterDomain }}
{{- end -}}

{{/* host:port of each controller, with commas. */}}
{{- define "kraftctl.controllers" -}}
{{- $found := list -}}
{{- range $each := untilStep 0 (int .Values.replicas) 1 -}}
{{- $ordinal := add (int $.Values.firstNodeId) $each -}}
{{- $found = append $found (printf "%s-%d.%s:%d" (include "kraftctl.name" $) $ordinal (include "kraftctl.domain" $) (int $.Values.ports.controller)) -}}
{{- end -}}
{{- join "," $found -}}
{{- end -}}

{{- define "kraftctl.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "kraftctl.tlsSecret" -}}
{{ default (printf "%s-tls" (include "kraftctl.name" .)) .Values.tls.secretName }}
{{- end -}}
