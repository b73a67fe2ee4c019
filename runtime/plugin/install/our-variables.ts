/** Settings of Patchbay itself that have no prefix. */
const OURS: ReadonlySet<string> = new Set([
  'PORT',
  'PUBLIC_URL',
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_SENTINELS',
  'JWT_API_SECRET',
  'JWT_API_SECRET_VERIFY',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_SERVICE_NAME',
  'SMTP_URL',
])

/** Whether a variable holds a setting or secret of Patchbay itself, which no third-party plugin may read. */
export function isOurVariable(name: string): boolean {
  return OURS.has(name) || name.startsWith('PATCHBAY_')
}
