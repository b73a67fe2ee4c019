import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import * as JsonSchema from 'typebox/schema'
import { PatchbayError } from '../lib/errors.ts'
import { printable } from '../lib/printable.ts'
import { buildInfo } from '../process/build-info.ts'
import { type Manifest, type Permissions, PLUGIN_KINDS, type PluginKind } from './contract.ts'
import { parseListenRule } from './grants/listen-rule.ts'
import { parseNetRule } from './grants/net-rule.ts'

const VariableName = Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$' })
const Names = Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 1000 })

export const PermissionsSchema = Type.Object(
  {
    net: Type.Optional(Names),
    env: Type.Optional(Type.Array(VariableName)),
    run: Type.Optional(Names),
    read: Type.Optional(Names),
    listen: Type.Optional(Names),
  },
  { additionalProperties: false },
)

const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$' })
const EndSchema = Type.Object(
  {
    on: Day,
    successor: Type.Optional(Type.String({ minLength: 1 })),
    advice: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    source: Type.String({ minLength: 1, maxLength: 300 }),
    checked: Day,
  },
  { additionalProperties: false },
)

const ProvidesSchema = Type.Object(
  {
    models: Type.Optional(Names),
    ends: Type.Optional(Type.Record(Type.String(), EndSchema)),
    voices: Type.Optional(Names),
    described: Type.Optional(Type.String({ pattern: '^\\w+(\\.\\w+)*$' })),
    notice: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    understands: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_-]+$' })),
    preference: Type.Optional(Type.Number({ minimum: 0, maximum: 1000 })),
    voiceNames: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 200 }))),
    languages: Type.Optional(Names),
    languagesOf: Type.Optional(Type.Record(Type.String(), Names)),
    defaultVoices: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1 }))),
    defaultModel: Type.Optional(Type.String({ minLength: 1 })),
    defaultVoice: Type.Optional(Type.String({ minLength: 1 })),
    open: Type.Optional(Type.Union([Type.Boolean(), VariableName])),
    names: Type.Optional(Names),
    namesOption: Type.Optional(Type.String({ pattern: '^\\w+$' })),
    openDefaultModel: Type.Optional(Type.String({ minLength: 1 })),
    chosenBy: Type.Optional(VariableName),
  },
  { additionalProperties: false },
)

const ManifestSchema = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$' }),
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+' }),
    specification: Type.Optional(Type.Integer({ minimum: 1 })),
    engines: Type.Optional(
      Type.Object(
        { patchbay: Type.String({ pattern: '^>=\\d+\\.\\d+\\.\\d+( <\\d+\\.\\d+\\.\\d+)?$' }) },
        { additionalProperties: false },
      ),
    ),
    description: Type.Optional(Type.String({ maxLength: 500 })),
    provides: Type.Object(Object.fromEntries(PLUGIN_KINDS.map((kind) => [kind, Type.Optional(ProvidesSchema)])), {
      additionalProperties: false,
      minProperties: 1,
    }),
    permissions: PermissionsSchema,
    optional: Type.Optional(PermissionsSchema),
    reasons: Type.Optional(Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 200 }))),
    key: Type.Optional(
      Type.Object(
        {
          env: VariableName,
          with: Type.Optional(Type.Array(VariableName)),
          unless: Type.Optional(VariableName),
          otherModels: Type.Optional(Type.Boolean()),
        },
        { additionalProperties: false },
      ),
    ),
    process: Type.Optional(Type.Literal('node')),
    models: Type.Optional(Type.String({ pattern: '^[a-z0-9-]+\\.json$' })),
    engine: Type.Optional(
      Type.Object(
        {
          package: Type.String({ pattern: '^(@[a-z0-9-]+/)?[a-z0-9][a-z0-9._-]*$' }),
          version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
          license: Type.String({ minLength: 1, maxLength: 300 }),
          megabytes: Type.Number({ exclusiveMinimum: 0 }),
          digests: Type.Record(
            Type.String({ pattern: '^(@[a-z0-9-]+/)?[a-z0-9][a-z0-9._-]*@\\d+\\.\\d+\\.\\d+$' }),
            Type.String({ pattern: '^sha512-[A-Za-z0-9+/]{86}==$' }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
    options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { additionalProperties: false },
)

const manifestValidator = Compile(ManifestSchema)

/** A plugin's folder: its manifest, or why it can't be used. Nothing in it has run. */
export interface PluginFolder {
  /** The folder's name, which is the plugin's. */
  readonly name: string
  readonly dir: string
  readonly manifest: Manifest | undefined
  readonly fault: PatchbayError | undefined
  /** A third-party plugin, written with `@patchbay/plugin`. */
  readonly isInstalled?: boolean
  /** Its author is at work on it: a change of its files counts for the sessions that begin afterwards. */
  readonly isWatched?: boolean
  /** Throws `plugin` where its files are no longer those that were installed: asked before each start of its process. */
  readonly requireUnchanged?: () => Promise<void>
  /** Why a kind can't be used before the operator has downloaded a model for it, with the cure. */
  readonly unready?: Readonly<Partial<Record<PluginKind, string>>>
}

/** Reads `<dir>/<name>/plugin.json` of every folder, sorted by name. A broken manifest is that folder's fault alone. */
export async function readManifests(dir: string): Promise<PluginFolder[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch((cause) => {
    const reason = `The plugin folder "${dir}" can't be read; name an existing one`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  })
  const names = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
  return Promise.all(names.sort().map((name) => readFolder(name, join(dir, name))))
}

/** Reads the manifest of one folder. */
export async function readFolder(name: string, dir: string): Promise<PluginFolder> {
  try {
    return {
      name,
      dir,
      manifest: parseManifest(name, await readFile(join(dir, 'plugin.json'), 'utf8')),
      fault: undefined,
    }
  } catch (cause) {
    const why = printable(cause instanceof Error ? cause.message : String(cause))
    const reason = `Plugin "${name}" can't be used: ${why}; correct ${join(dir, 'plugin.json')}`
    return { name, dir, manifest: undefined, fault: new PatchbayError('plugin', { params: { reason }, cause }) }
  }
}

/** Validates the text of a plugin.json that lies in the folder `name`. Throws an Error that says what is wrong. */
export function parseManifest(name: string, text: string): Manifest {
  const manifest: unknown = JSON.parse(text)
  if (!manifestValidator.Check(manifest))
    throw new Error(firstFault(manifestValidator.Errors(manifest), 'the manifest'))
  if (manifest.name !== name) throw new Error(`its name is "${manifest.name}" but its folder is "${name}"`)
  requireServed(manifest as Manifest)
  for (const [kind, provides] of Object.entries(manifest.provides)) checkDefaults(kind, provides)
  if (/\p{C}/u.test(manifest.title ?? '')) throw new Error('its title has characters that can’t be printed')
  for (const { net = [], listen = [] } of [manifest.permissions, manifest.optional ?? {}] as Permissions[]) {
    for (const entry of net) parseNetRule(entry, {})
    for (const entry of listen) parseListenRule(entry, {})
  }
  return manifest as Manifest
}

/** Of the contract in `@patchbay/plugin`, the newest version that plugins are written for. */
const SPECIFICATION = 1

/** Throws where the manifest wants another contract, or another Patchbay, than this one. */
function requireServed({ specification = SPECIFICATION, engines }: Manifest): void {
  if (specification > SPECIFICATION) {
    throw new Error(
      `it is written for specification ${specification} of plugins, and this Patchbay has ${SPECIFICATION}; update Patchbay`,
    )
  }
  const { version } = buildInfo()
  const [, least = '', below] = /^>=(\S+)(?: <(\S+))?$/.exec(engines?.patchbay ?? '') ?? []
  if ((least !== '' && isLower(version, least)) || (below !== undefined && !isLower(version, below))) {
    throw new Error(`it needs Patchbay ${engines?.patchbay}, and this is ${version}`)
  }
}

/** Whether a version of three numbers comes before another. */
function isLower(version: string, other: string): boolean {
  const [a, b] = [version, other].map((text) => text.split('.').map((part) => Number.parseInt(part, 10)))
  const at = [0, 1, 2].find((n) => a?.[n] !== b?.[n])
  return at !== undefined && (a?.[at] ?? 0) < (b?.[at] ?? 0)
}

function checkDefaults(kind: string, provides: Manifest['provides']['llm']): void {
  const { models, voices, defaultModel, defaultVoice } = provides ?? {}
  for (const [field, value, list] of [
    ['defaultModel', defaultModel, models] as const,
    ['defaultVoice', defaultVoice, voices] as const,
  ]) {
    if (value !== undefined && list && list.length > 0 && !list.includes(value)) {
      throw new Error(`${field} "${value}" of ${kind} is not in its list`)
    }
  }
  for (const [model, { successor }] of Object.entries(provides?.ends ?? {})) {
    if (successor === undefined || !models?.length || models.includes(successor)) continue
    throw new Error(`ends of ${kind} names "${successor}" in place of "${model}", which is not in its list`)
  }
  const stray = Object.values(provides?.defaultVoices ?? {}).find((voice) => voices && !voices.includes(voice))
  if (stray !== undefined) throw new Error(`defaultVoices of ${kind} has "${stray}", which is not in its list`)
}

interface SchemaFault {
  keyword: string
  instancePath: string
  message: string
}

/** The fault that helps most in one line: `/provides/llm/models must be array`. */
export function firstFault(faults: readonly SchemaFault[], whole: string): string {
  const fault = faults.find(({ keyword }) => keyword !== 'boolean') ?? faults[0]
  const stray = faults.find(({ keyword }) => keyword === 'boolean')
  if (fault?.keyword === 'additionalProperties' && stray) return `${stray.instancePath} is unknown`
  return fault ? `${fault.instancePath || whole} ${fault.message}` : `${whole} is not valid`
}

/**
 * Where a plugin runs: with the role (`none`), behind its handles and the guard; in a process of its own that can do
 * nothing but what was granted (`process`); or in a Node process of its own, for its native code's sake (`node`).
 */
export type Isolation = 'none' | 'process' | 'node'

/** Settings of one plugin in config/plugins.json. */
export interface PluginSettings {
  /**
   * The plugin this is another instance of: with a base URL, key and options of its own, under the name of the entry, such
   * as `openai:groq`.
   */
  plugin?: string
  /** What people call the instance. */
  title?: string
  /** Variables as the instance sees them; `${NAME}` stands for one of the process. */
  env?: Record<string, string>
  isolation?: Exclude<Isolation, 'node'>
  /** What the operator lets it use. */
  grant?: Permissions
  /** Of what an installed plugin asks for, what it may not use, whatever it was granted. */
  deny?: Permissions
  /** The operator's options, validated against the manifest's JSON Schema. */
  options?: Record<string, unknown>
}

const SettingsSchema = Type.Record(
  Type.String({ pattern: '^[a-z0-9-]+(:[a-z0-9-]+)?$' }),
  Type.Object(
    {
      grant: Type.Optional(PermissionsSchema),
      deny: Type.Optional(PermissionsSchema),
      options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
      plugin: Type.Optional(Type.String()),
      title: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
      env: Type.Optional(Type.Record(VariableName, Type.String())),
      isolation: Type.Optional(Type.Union([Type.Literal('none'), Type.Literal('process')])),
    },
    { additionalProperties: false },
  ),
)
const settingsValidator = Compile(SettingsSchema)

/** Reads config/plugins.json: settings per plugin. An absent file grants nothing. Throws `configuration`. */
export async function readPluginSettings(file: string): Promise<Readonly<Record<string, PluginSettings>>> {
  try {
    const settings: unknown = JSON.parse(await readFile(file, 'utf8'))
    if (settingsValidator.Check(settings)) return settings as Record<string, PluginSettings>
    throw new Error(firstFault(settingsValidator.Errors(settings), 'the file'))
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {}
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new PatchbayError('configuration', { params: { reason: `${file}: ${why}` }, cause })
  }
}

/** Why these options don't fit the manifest's schema, or undefined when they do. */
export function faultOfOptions(manifest: Manifest, options: Readonly<Record<string, unknown>>): string | undefined {
  if (manifest.options === undefined) {
    const [stray] = Object.keys(options)
    return stray === undefined ? undefined : `/${stray} is unknown: the plugin has no options`
  }
  const validator = JsonSchema.Compile(manifest.options)
  if (validator.Check(options)) return undefined
  const [, faults] = validator.Errors(options)
  return firstFault(faults, 'options')
}
