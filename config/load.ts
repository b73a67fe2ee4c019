import { resolve } from 'node:path'
import { PatchbayError } from '../runtime/lib/errors.ts'
import { nearest } from '../runtime/lib/nearest.ts'
import { withoutUserinfo } from '../runtime/lib/url-userinfo.ts'
import { type EnvFile, readEnvFile, withEnvFile } from './env-file.ts'
import { type Config, SETTINGS, type Setting } from './schema.ts'
import { withoutServiceLinks } from './service-links.ts'

export type Environment = Readonly<Record<string, string | undefined>>

type Value = string | number | boolean | readonly string[]
type SettingName = keyof typeof SETTINGS

const PREFIX = 'PATCHBAY_'

const FLAGS = {
  '--allow-net': 'allowNet',
  '--allow-env': 'allowEnv',
  '--allow-run': 'allowRun',
  '--allow-read': 'allowRead',
  '--allow-listen': 'allowListen',
  '--dev-plugin': 'devPlugins',
} as const satisfies Record<string, SettingName>

const settings = Object.entries(SETTINGS) as [SettingName, Setting][]

/**
 * Reads the configuration from the environment and the grant flags (`--allow-net=plugin:host:port,…`), which add to
 * their variables. An empty variable counts as unset. Throws a `configuration` PatchbayError that lists every fault
 * with its cure in one sentence, and with its place where it comes from `file`. What Kubernetes sets for Services is passed over.
 */
export function loadConfig(given: Environment, flags: readonly string[] = [], file?: EnvFile): Config {
  const env = withoutServiceLinks(given)
  const named = (name: string): string => {
    const line = file !== undefined && env[name] === file.values[name] ? file.lines.get(name) : undefined
    return line === undefined ? name : `${name} (${file?.name}, line ${line})`
  }
  const faults = [...unknownVariables(env, named)]
  const config: Partial<Record<SettingName, Value | undefined>> = {}
  for (const [name, setting] of settings) {
    const text = env[setting.env]
    const parsed = text === undefined || text === '' ? { value: setting.default } : parse(setting, text)
    if ('fault' in parsed) faults.push(`${named(setting.env)} ${parsed.fault}`)
    else config[name] = setting.type === 'path' ? absolute(parsed.value) : parsed.value
  }
  for (const flag of flags) {
    const [name = '', ...rest] = flag.split('=')
    const target = FLAGS[name as keyof typeof FLAGS]
    if (target === undefined) faults.push(unknownFlag(name))
    else if (rest.length === 0) faults.push(`${name} needs a value such as ${name}=plugin:what`)
    else config[target] = [...((config[target] as readonly string[] | undefined) ?? []), ...splitList(rest.join('='))]
  }
  if (faults.length > 0) {
    const sentence = faults.join('; ')
    const reason = sentence.endsWith('?') ? sentence : `${sentence}.`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  return config as Config
}

let environment: Environment | undefined
/** Without the operator's file. */
let given: Environment | undefined

/**
 * Adds the variables of the operator's file to those of this process, once and before anything asks for them. Throws
 * `configuration` where the file is faulty.
 */
export function useEnvFile(): EnvFile | undefined {
  given = Object.freeze({ ...withoutServiceLinks(process.env) })
  const file = readEnvFile(given)
  environment = Object.freeze(withEnvFile(given, file))
  return file
}

/**
 * The environment as a reload finds it: that of this process, in which nothing changes, with `overlay` over it (undefined
 * unsets) and the operator's file as it is now. Throws `configuration` where the file is faulty.
 */
export function rereadEnvironment(overlay: Environment): { env: Environment; file: EnvFile | undefined } {
  given ??= processEnvironment()
  given = Object.freeze({ ...given, ...overlay })
  const file = readEnvFile(given)
  return { env: withEnvFile(given, file), file }
}

/**
 * The environment this process was started with, and the operator's file of variables; nothing else reads `process.env`,
 * from which the plugin guard later takes the secrets.
 */
export function processEnvironment(): Environment {
  environment ??= Object.freeze({ ...withoutServiceLinks(process.env) })
  return environment
}

/** Of commands that talk to an instance elsewhere. */
const OF_CLIENTS = new Set(['PATCHBAY_URL', 'PATCHBAY_API_KEY'])

function* unknownVariables(env: Environment, named: (name: string) => string): Generator<string> {
  const known = new Set(settings.map(([, setting]) => setting.env))
  const bare = new Map([...known].map((variable) => [variable.replace(PREFIX, ''), variable]))
  for (const name of Object.keys(env)) {
    if (!name.startsWith(PREFIX) || known.has(name) || OF_CLIENTS.has(name)) continue
    const near = bare.get(nearest(name.slice(PREFIX.length), bare.keys()) ?? '')
    yield near === undefined
      ? `${named(name)} is not a setting; unset it (npm run patchbay config lists them all)`
      : `${named(name)} is not a setting, did you mean ${near}?`
  }
}

function unknownFlag(name: string): string {
  const near = nearest(name, Object.keys(FLAGS))
  return near === undefined ? `${name} is not a flag` : `${name} is not a flag, did you mean ${near}?`
}

type Parsed = { value: Value | undefined } | { fault: string }

function parse(setting: Setting, text: string): Parsed {
  const shown = setting.secret ? '' : ` "${withoutUserinfo(text)}"`
  switch (setting.type) {
    case 'integer':
    case 'number': {
      const value = Number(text)
      const wellFormed = setting.type === 'integer' ? /^-?\d+$/.test(text) : Number.isFinite(value)
      const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = setting
      if (wellFormed && value >= min && value <= max) return { value }
      const kind = setting.type === 'integer' ? 'a whole number' : 'a number'
      return { fault: `must be ${kind}${bounds(setting)}, not${shown}` }
    }
    case 'boolean':
      if (/^(true|1|yes|on)$/i.test(text)) return { value: true }
      if (/^(false|0|no|off)$/i.test(text)) return { value: false }
      return { fault: `must be true or false, not${shown}` }
    case 'url':
      return URL.canParse(text)
        ? { value: text }
        : { fault: `must be a URL such as http://host:1234${shown && `, not${shown}`}` }
    case 'list':
      return { value: splitList(text) }
    default:
      if (setting.choices !== undefined && !setting.choices.includes(text)) {
        return { fault: `must be one of ${setting.choices.join(', ')}, not${shown}` }
      }
      if (setting.min !== undefined && text.length < setting.min) {
        return { fault: `must have at least ${setting.min} characters` }
      }
      return { value: text }
  }
}

/** A path is read from where the process was started; one that is not set stays so. */
function absolute(path: Value | undefined): string | undefined {
  return path === undefined ? undefined : resolve(String(path))
}

function bounds({ min, max }: Setting): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}`
  return max === undefined ? '' : ` of at most ${max}`
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}
