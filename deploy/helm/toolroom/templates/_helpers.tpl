{{- define "toolroom.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "toolroom.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "toolroom.labels" -}}
{{ include "toolroom.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "toolroom.image" -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}

{{/* The most servers there can be. */}}
{{- define "toolroom.most" -}}
{{- if .Values.autoscaling.enabled }}{{ .Values.autoscaling.maxReplicas }}{{ else }}{{ .Values.replicas }}{{ end -}}
{{- end -}}

{{/* What every process of Toolroom needs to know. */}}
{{- define "toolroom.env" -}}
- name: TOOLROOM_HOME
  value: /data/home
- name: HOME
  value: /data/home
- name: TOOLROOM_DATABASE
  valueFrom:
    secretKeyRef:
      name: {{ .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
{{- with .Values.redis.existingSecret }}
- name: TOOLROOM_REDIS
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.redis.key }}
{{- end }}
- name: TOOLROOM_SEAL_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.sealKey.existingSecret }}
      key: {{ .Values.sealKey.key }}
{{- end -}}
