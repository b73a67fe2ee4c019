import { isDeepStrictEqual } from 'node:util'
import { Document, isMap, parseDocument } from 'yaml'
import { readYaml } from '../../runtime/lib/yaml/read-yaml.ts'
import { unknownKeys } from '../../runtime/lib/yaml/unknown-keys.ts'
import type { Kind } from './kinds.ts'

/** A file of an agent, a campaign or a test as people write it. */
export interface ManagedFile {
  /** `agents/reception.md`. */
  path: string
  /** `reception`. */
  name: string
  /** As written, the prompt among them; fields that are left out are missing. */
  fields: Record<string, unknown>
  text: string
  /** The line of the file at which that field begins. */
  lineOf(path: readonly (string | number)[]): number
}

export type Fields = Readonly<Record<string, unknown>>

const FENCE = '---'

/** Reads a file; what is wrong is a sentence with its line. */
export function readManagedFile(
  text: string,
  { path, name, kind }: { path: string; name: string; kind: Kind },
): ManagedFile | { faults: string[] } {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text
  const unix = plain.split('\n', 1)[0]?.endsWith('\r') ? plain.replaceAll('\r\n', '\n') : plain
  const parts = kind.body === undefined ? { yaml: unix, body: undefined } : partsOf(unix)
  if (parts === undefined) return { faults: [`${path}:1: must begin with a line --- and YAML up to a second one`] }
  const { yaml, body } = parts
  const read = readYaml(yaml, { firstLine: body === undefined ? 1 : 2 })
  const say = (line: number | undefined, message: string): string => `${path}:${line ?? 1}: ${message}`
  if (read.faults !== undefined) return { faults: read.faults.map(({ line, message }) => say(line, message)) }
  if (typeof read.value !== 'object' || read.value === null || Array.isArray(read.value)) {
    return { faults: [say(1, 'must hold names and values')] }
  }
  const fields = { ...(read.value as Record<string, unknown>) }
  const unknown = unknownKeys(fields, kind.schema)
  if (kind.body !== undefined && kind.body in fields)
    unknown.push({ path: [kind.body], message: `\`${kind.body}\` stands below the second ---` })
  if (unknown.length > 0) return { faults: unknown.map((fault) => say(read.lineOf(fault.path), fault.message)) }
  if (kind.body !== undefined && body !== undefined) fields[kind.body] = body
  const { folderField } = kind
  const folder = name.split('/').slice(0, -1)
  if (folderField !== undefined && folder.length > 0) fields[folderField] = folder.join('/')
  const bodyLine = yaml.split('\n').length + 2
  return {
    path,
    name,
    fields,
    text: plain,
    lineOf: (at) => (at[0] === kind.body ? bodyLine : read.lineOf(at)),
  }
}

/** The file with these fields; what a file that is there says besides, such as comments, stays. */
export function managedFileText(fields: Fields, kind: Kind, before?: string): string {
  const { body, folderField } = kind
  const parts = before === undefined ? undefined : body === undefined ? { yaml: before, body: '' } : partsOf(before)
  const document = parts === undefined ? new Document({}) : parseDocument(parts.yaml, { merge: false })
  if (!isMap(document.contents)) document.contents = document.createNode({}) as typeof document.contents
  const given = Object.entries(fields).filter(([name]) => name !== body && name !== folderField)
  for (const name of Object.keys((document.toJS() as object | null) ?? {})) {
    if (!given.some(([one]) => one === name)) document.delete(name)
  }
  for (const [name, value] of given) {
    if (!isDeepStrictEqual((document.toJS() as Fields)[name], value)) document.set(name, document.createNode(value))
  }
  const yaml = document.toString({ lineWidth: 0 })
  return body === undefined ? yaml : `${FENCE}\n${yaml}${FENCE}\n\n${String(fields[body] ?? '')}\n`
}

/** The YAML between the fences, and the text below without the blank line before it and the line's end behind it. */
function partsOf(text: string): { yaml: string; body: string } | undefined {
  if (!text.startsWith(`${FENCE}\n`)) return undefined
  const end = text.indexOf(`\n${FENCE}\n`, FENCE.length)
  if (end < 0) return undefined
  const yaml = text.slice(FENCE.length + 1, end + 1)
  return {
    yaml,
    body: text
      .slice(end + FENCE.length + 2)
      .replace(/^\n/, '')
      .replace(/\n$/, ''),
  }
}
