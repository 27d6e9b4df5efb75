{{- /* Whether anybody answers webhooks: one that must be asked and never answers blocks writes. */ -}}
{{- define "slurm-operator.answers" -}}
{{- if and .Values.operator.enabled .Values.webhook.enabled (gt (include "slurm-operator.replicas" . | int) 0) }}true{{ end }}
{{- end }}

{{- /* The Secret that is mounted, empty when the operator makes its own certificate. */ -}}
{{- define "slurm-operator.mounted" -}}
{{- if .Values.externalCertInjection.enabled }}
{{- required "externalCertInjection.secretName: name the Secret with tls.crt, tls.key and ca.crt" .Values.externalCertInjection.secretName }}
{{- else if .Values.certManager.enabled }}
{{- .Values.certManager.secretName }}
{{- end }}
{{- end }}

{{- /* How the API server finds a webhook; whom to trust is filled in by the operator. */ -}}
{{- define "slurm-operator.service" -}}
service:
  namespace: {{ include "slurm-operator.namespace" .root }}
  name: {{ include "slurm-operator.webhookName" .root }}
  port: 443
  path: {{ .path }}
{{- end }}

{{- /* When a webhook is asked, and what happens without an answer. */ -}}
{{- define "slurm-operator.terms" -}}
{{- $w := .root.Values.webhook -}}
{{- $wanted := include "slurm-operator.listed" ($w.namespaces | default .root.Values.operator.namespaces) | fromJsonArray -}}
admissionReviewVersions: [v1, v1beta1]
sideEffects: None
timeoutSeconds: {{ min (int $w.timeoutSeconds) (.patience | default 30) }}
failurePolicy: {{ $w.failurePolicy | default .terms.failurePolicy }}
matchPolicy: {{ $w.matchPolicy | default .terms.matchPolicy }}
{{- with .terms.matchConditions }}
matchConditions: {{- toYaml . | nindent 2 }}
{{- end }}
namespaceSelector:
  {{- if .terms.namespaceSelector }}
  {{- toYaml .terms.namespaceSelector | nindent 2 }}
  {{- else }}
  matchExpressions:
    {{- with $wanted }}
    - {key: kubernetes.io/metadata.name, operator: In, values: {{ toJson . }}}
    {{- end }}
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values: {{ concat (list "kube-system" "kube-public" "kube-node-lease") (.except | default list) | toJson }}
  {{- end }}
{{- end }}

{{- /*
While nobody answers, v1alpha1 is refused. Without webhooks it is not served at all: its objects would
be taken for v1beta1 as they are, and lose what has another place there.
*/ -}}
{{- define "slurm-operator.conversion" -}}
{{- if .root.Values.webhook.enabled -}}
strategy: Webhook
webhook:
  conversionReviewVersions: [v1]
  clientConfig:
    {{- include "slurm-operator.service" (dict "root" .root "path" "/convert") | nindent 4 }}
{{- else -}}
{{- $live := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" .name | default dict }}
{{- if has "v1alpha1" (dig "status" "storedVersions" (list) $live) }}
{{- fail (printf "%s: there are objects of %s stored as v1alpha1, which nobody would convert; leave it true, or write them as v1beta1 and take v1alpha1 out of status.storedVersions" "webhook.enabled" .name) }}
{{- end -}}
strategy: None
{{- end }}
{{- end }}

{{- define "slurm-operator.converted" -}}
{{ .Values.webhook.enabled }}
{{- end }}
