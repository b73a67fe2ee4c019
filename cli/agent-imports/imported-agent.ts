import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freeName } from '../agent-files/free-name.ts'
import { secretName } from '../agent-files/with-secrets.ts'
import type { ExportReader } from './export-reader.ts'

type Kind = 'LLM' | 'STT' | 'TTS'

/** Whose a language model is that is named without its provider. */
const FAMILIES: readonly (readonly [RegExp, string])[] = [
  [/^gpt|^o\d/, 'openai'],
  [/^claude/, 'anthropic'],
  [/^gemini/, 'google'],
]

const PLUGINS = join(import.meta.dirname, '../../plugins')
const MAX_NAME = 64
const MAX_PROCEDURES = 32
const MAX_PROCEDURE_NAME = 36
const MAX_WHEN = 500

/** An agent of another product, as it will stand in a file. */
export class ImportedAgent {
  /** Of its file. */
  readonly name: string
  readonly fields: Record<string, unknown>
  readonly #tools: Record<string, unknown>[] = []
  readonly #procedures: Step[] = []
  readonly #prompt: string[] = []

  /** @param taken the names of files that others have; its own is added */
  constructor(shown: string, taken: Set<string>) {
    this.name = freeName(shown, taken)
    taken.add(this.name)
    this.fields = { agent_name: shown }
  }

  /** A part of the system prompt. */
  prompt(text: string): void {
    if (text.trim() !== '') this.#prompt.push(text.trim())
  }

  /** Sets a field from a value of the export, unless it has none. */
  set(field: string, from: ExportReader, value: unknown, why?: string): void {
    if (value === undefined) return
    this.fields[field] = value
    from.mapped(field, why)
  }

  /** A provider with its model: only where Patchbay has both. */
  provider(kind: Kind, name: ExportReader, model: ExportReader, names: Readonly<Record<string, string>>): void {
    const given = name.text()
    if (given === undefined) return
    const plugin = names[given.toLowerCase()]
    const provides = plugin === undefined ? undefined : provided(plugin, kind)
    if (plugin === undefined || provides === undefined) {
      name.dropped(`Patchbay has no ${kind} provider for it; the instance's default is used`)
      model.dropped(`it is a model of ${given}`)
      return
    }
    this.set(`${kind}_provider`, name, plugin)
    const wanted = model.text()
    if (wanted === undefined) return
    const field = kind === 'TTS' ? 'TTS_voice' : `${kind}_model`
    const isKnown = provides.models === undefined || provides.models.length === 0 || provides.models.includes(wanted)
    if (isKnown || kind === 'TTS') this.set(field, model, wanted)
    else model.dropped(`${plugin} does not list it (any more); its default model is used`)
  }

  /** A language model that is named alone: only where it is of a family that Patchbay has. */
  modelOfFamily(model: ExportReader): void {
    const name = model.text() ?? ''
    const family = FAMILIES.find(([prefix]) => prefix.test(name))
    if (family === undefined) model.dropped('Patchbay has no LLM provider for it; the instance’s default is used')
    else this.provider('LLM', model, model, { [name.toLowerCase()]: family[1] })
  }

  /** A tool; its name is made fit and unique. Gives the name. */
  tool(tool: Record<string, unknown>): string {
    const wanted = String(tool.name ?? '')
      .replace(/[^A-Za-z0-9_-]+/g, '_')
      .replace(/^(?![A-Za-z_])/, '_')
      .slice(0, MAX_NAME - 3)
    let name = wanted
    for (let i = 2; this.#tools.some((one) => one.name === name); i++) name = `${wanted}_${i}`
    this.#tools.push({ ...tool, name })
    return name
  }

  /** Headers whose values are secrets: names take their place. */
  headers(tool: string, headers: ExportReader): Record<string, string> | undefined {
    const given = headers.items()
    if (given.length === 0) return undefined
    return Object.fromEntries(
      given.map((header) => {
        const secret = secretName(this.name, tool, header.key)
        header.mapped(`tools ${tool} headers`, `set \${${secret}}: secrets are not written into files`)
        return [header.key, `\${${secret}}`]
      }),
    )
  }

  /** A step, state or node of a flow: instructions for when they fit. */
  procedure(name: string, when: string, text: string, tools: string[] = []): void {
    this.#procedures.push({ name, when, text, ...(tools.length === 0 ? {} : { tools }) })
  }

  /** Everything in its place. Call it once. */
  finished(): Record<string, unknown> {
    const { fields } = this
    if (this.#tools.length > 0) fields.tools = this.#tools
    const steps = namedProcedures(this.#procedures)
    if (steps.length > 0) fields.procedures = steps.slice(0, MAX_PROCEDURES)
    for (const step of steps.slice(MAX_PROCEDURES)) this.#prompt.push(asSection(step))
    fields.system_prompt = this.#prompt.join('\n\n') || `You are ${String(fields.agent_name)}.`
    return fields
  }
}

/** Where procedures are, for the report. */
export const PROCEDURES = 'procedures'

interface Step {
  name: string
  when: string
  text: string
  tools?: string[]
}

/** With names as procedures have them, also where one leads to another. */
function namedProcedures(steps: readonly Step[]): Step[] {
  const taken = new Set<string>()
  const names = new Map<string, string>()
  const named = steps.map((step) => {
    const plain = freeName(step.name, new Set()).replace(/[^a-z0-9]+/g, '_')
    const begun = /^[a-z]/.test(plain) ? plain : `step_${plain}`
    const free = freeName(begun.slice(0, MAX_PROCEDURE_NAME), taken)
    taken.add(free)
    const name = free.replace(/-/g, '_')
    if (!names.has(step.name)) names.set(step.name, name)
    return { ...step, name, when: step.when.slice(0, MAX_WHEN) }
  })
  const leads = (text: string): string =>
    text.replace(/^Then "([^"\n]+)":/gm, (whole, to: string) => (names.has(to) ? `Then "${names.get(to)}":` : whole))
  return named.map((step) => ({ ...step, text: leads(step.text) }))
}

function asSection({ name, when, text, tools = [] }: Step): string {
  const use = tools.length === 0 ? '' : `\n\nTools of this step: ${tools.join(', ')}.`
  return `## ${name}\n\nWhen: ${when}\n\n${text}${use}`
}

function provided(plugin: string, kind: Kind): { models?: string[] } | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(PLUGINS, plugin, 'plugin.json'), 'utf8'))
    return manifest.provides[kind.toLowerCase()]
  } catch {
    return undefined
  }
}

/** A text of the export with our placeholders; filters and functions have no counterpart, stay, and are reported. */
export function filledText(from: ExportReader, field: string, names: Readonly<Record<string, string>>): string {
  const unknown = new Set<string>()
  const text = (from.text() ?? '').replace(/\{\{\s*([^{}]{1,200}?)\s*\}\}/g, (whole, inside: string) => {
    const known = names[inside]
    if (known !== undefined) return `{{${known}}}`
    if (/^[A-Za-z_]\w*$/.test(inside)) return `{{${inside}}}`
    unknown.add(whole)
    return whole
  })
  from.mapped(field, unknown.size === 0 ? undefined : `no variable of Patchbay: ${[...unknown].join(', ')}`)
  return text
}
