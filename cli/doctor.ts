import { pino } from 'pino'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { nearest } from '../runtime/lib/nearest.ts'
import type { Environment } from '../runtime/plugin/grants/net-rule.ts'
import type { GrantFlags } from '../runtime/plugin/grants/permissions.ts'
import { loadPlugins } from '../runtime/plugin/host.ts'
import { defaultModelUses, endingModels } from '../runtime/plugin/model-ends.ts'
import { checkProvider, keyedProviders, type ProviderCheckup } from '../runtime/plugin/provider-health.ts'

interface Diagnosis {
  text: string
  /** Everything that is configured works. */
  healthy: boolean
}

interface DoctorOptions {
  config: GrantFlags & { readonly port?: number; readonly adminPort?: number | undefined }
  env: Environment
  dir?: string
  settingsFile?: string
  /** Default: the process's clock. */
  nowMs?: number
}

/** What `patchbay doctor <topic>` looks at. */
const TOPICS: Readonly<Record<string, (options: DoctorOptions) => Promise<Diagnosis>>> = {
  providers: diagnoseProviders,
  sip: (options) => askNode('sip', options),
  webrtc: (options) => askNode('webrtc', options),
  audio: (options) => askNode('audio', options),
  database: (options) => askNode('database', options),
}

/** Without a topic: what needs no running instance. */
const ALWAYS = ['providers']

const ASK_TIMEOUT_MS = 40_000

/** Has the running api node look at it: only there are the ports, the addresses and the passwords in use. */
async function askNode(topic: string, { config }: DoctorOptions): Promise<Diagnosis> {
  const port = config.adminPort ?? (config.port ?? 8080) + 1000
  try {
    const response = await fetch(`http://127.0.0.1:${port}/doctor/${topic}`, {
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    })
    if (!response.ok) throw new Error(`it answered ${response.status}`)
    const findings = (await response.json()) as { ok: boolean; text: string }[]
    return {
      text: findings.map(({ ok, text }) => `${topic}  ${ok ? 'ok    ' : 'FAULT '}  ${text}`).join('\n'),
      healthy: findings.every(({ ok }) => ok),
    }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const text = `${topic}  not asked  no api node answers on admin port ${port} (${why}); start Patchbay, or set PATCHBAY_ADMIN_PORT`
    return { text, healthy: false }
  }
}

/** Looks at each topic and says what works, how fast, and what to do about the rest. Throws `configuration`. */
export async function runDoctor(topics: readonly string[], options: DoctorOptions): Promise<Diagnosis> {
  const unknown = topics.find((topic) => !(topic in TOPICS))
  if (unknown !== undefined) {
    const near = nearest(unknown, Object.keys(TOPICS))
    const reason = `The doctor knows ${Object.keys(TOPICS).join(', ')}, not "${unknown}"${near ? `; did you mean "${near}"?` : ''}`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const names = topics.length > 0 ? topics : ALWAYS
  const diagnoses = await Promise.all(names.flatMap((name) => TOPICS[name]?.(options) ?? []))
  return {
    text: diagnoses.map(({ text }) => text).join('\n\n'),
    healthy: diagnoses.every(({ healthy }) => healthy),
  }
}

const STATES = { ok: 'ok', refused: 'REFUSED', failed: 'FAILED' } as const

/** Asks each provider that has its key for something that costs nothing. */
export async function diagnoseProviders(options: DoctorOptions): Promise<Diagnosis> {
  const { env, nowMs = Date.now(), ...rest } = options
  const stop = new AbortController()
  try {
    const registry = await loadPlugins({ ...rest, env, log: pino({ level: 'silent' }), signal: stop.signal })
    const broken = registry.plugins.flatMap(({ name, fault }): ProviderCheckup[] =>
      fault ? [{ provider: name, kinds: '', state: 'failed', message: fault.message }] : [],
    )
    const keyed = await Promise.all(keyedProviders(registry).map((name) => checkProvider(registry, name)))
    const checkups = [...broken, ...keyed]
    const width = Math.max(...checkups.map(({ provider }) => provider.length), 0)
    const asked = checkups.flatMap((checkup) => (checkup.state === 'no_key' ? [] : line(checkup, checkup.state, width)))
    const unused = checkups.filter(({ state }) => state === 'no_key')
    const offered = unused.map(({ provider, message }) => `  ${provider.padEnd(width)}  ${message}`)
    const endings = endingModels(registry, defaultModelUses(registry), nowMs)
    return {
      text: [
        asked.join('\n') || 'No provider that needs a key is set up: nothing to ask.',
        ...(endings.length > 0
          ? [endings.map(({ text, isOver }) => `models  ${isOver ? 'FAULT ' : 'ENDING'}  ${text}`).join('\n')]
          : []),
        ...(unused.length > 0 ? [`No fault, only not set up:\n${offered.join('\n')}`] : []),
      ].join('\n\n'),
      healthy:
        checkups.every(({ state }) => state === 'ok' || state === 'no_key') && endings.every(({ isOver }) => !isOver),
    }
  } finally {
    stop.abort()
  }
}

function line(
  { provider, kinds, latencyMs, message }: ProviderCheckup,
  state: keyof typeof STATES,
  width: number,
): string {
  const time = latencyMs === undefined ? '' : `${latencyMs.toFixed(0)} ms`
  return `${provider.padEnd(width)}  ${STATES[state].padEnd(10)}  ${state === 'ok' ? `${time.padStart(8)}  ${kinds}` : message}`
}
