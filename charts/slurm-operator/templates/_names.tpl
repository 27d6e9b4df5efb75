{{- define "slurm-operator.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 55 | trimSuffix "-" }}
{{- end }}

{{- /* For what belongs to no namespace, where releases of several namespaces meet. */ -}}
{{- define "slurm-operator.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name }}
{{- $both := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- .Values.fullnameOverride | default $both | trunc 47 | trimSuffix "-" }}
{{- end }}

{{- define "slurm-operator.webhookName" -}}
{{ include "slurm-operator.name" . }}-webhook
{{- end }}

{{- define "slurm-operator.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace }}
{{- end }}

{{- define "slurm-operator.selector" -}}
app.kubernetes.io/name: {{ include "slurm-operator.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "slurm-operator.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/part-of: slurm-operator
{{ include "slurm-operator.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "slurm-operator.serviceAccount" -}}
{{- $account := .Values.operator.serviceAccount }}
{{- $account.name | default (ternary (include "slurm-operator.name" .) "default" $account.create) }}
{{- end }}

{{- /* A file for SchedMD's chart names their image, and our flags mean nothing to what is in it. */ -}}
{{- define "slurm-operator.image" -}}
{{- $image := .Values.operator.image }}
{{- $ours := "docker.io/shoal/shoal" }}
{{- if eq ($image.repository | default "") "ghcr.io/slinkyproject/slurm-operator" }}
{{- printf "%s:%s" $ours .Chart.AppVersion }}
{{- else if hasSuffix "slinkyproject/slurm-operator" ($image.repository | default "") }}
{{- fail (printf "operator.image.repository: %s holds another operator; name an image of shoal, such as a copy of %s:%s" $image.repository $ours .Chart.AppVersion) }}
{{- else if $image.digest }}
{{- printf "%s@%s" ($image.repository | default $ours) $image.digest }}
{{- else }}
{{- printf "%s:%s" ($image.repository | default $ours) ($image.tag | default .Chart.AppVersion | toString) }}
{{- end }}
{{- end }}
