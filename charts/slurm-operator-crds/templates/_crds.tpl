{{- define "slurm-operator-crds.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/part-of: slurm-operator
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "slurm-operator-crds.converted" -}}
{{ .Values.conversion.enabled }}
{{- end }}

{{- /* Without a converter, objects of v1alpha1 would be taken for v1beta1 as they are. */ -}}
{{- define "slurm-operator-crds.conversion" -}}
{{- if .root.Values.conversion.enabled -}}
strategy: Webhook
webhook:
  conversionReviewVersions: [v1]
  clientConfig:
    service:
      namespace: {{ .root.Values.operator.namespace | default .root.Release.Namespace }}
      name: {{ .root.Values.operator.service }}
      port: 443
      path: /convert
{{- else -}}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" .name | default dict }}
{{- if has "v1alpha1" (dig "status" "storedVersions" (list) $live) }}
{{- fail (printf "%s: there are objects of %s stored as v1alpha1, which nobody would convert; leave it true, or write them as v1beta1 and take v1alpha1 out of status.storedVersions" "conversion.enabled" .name) }}
{{- end -}}
strategy: None
{{- end }}
{{- end }}
