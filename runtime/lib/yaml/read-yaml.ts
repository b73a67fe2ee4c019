import { type Document, isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml'

/** What is wrong with a value that people wrote, and where. `line` is missing where it is no file. */
export interface YamlFault {
  path: readonly (string | number)[]
  message: string
  line?: number
}

/** A fault as a line: `tests/a.yaml:4: caller.say needs a text`. */
export function faultLine(file: string, { path, message, line = 1 }: YamlFault): string {
  return `${file}:${line}: ${path.length === 0 ? '' : `${path.join('.')} `}${message}`
}

/** A YAML file is read in one go, by people: more is no file of theirs. */
export const MAX_YAML_BYTES = 1 << 20
/** Nobody needs one; more are a bomb. */
const MAX_ALIASES = 20
const MAX_FAULTS = 50
const MAX_DEPTH = 64

export type YamlText =
  | { faults?: undefined; value: unknown; document: Document; lineOf(path: YamlFault['path']): number }
  | { faults: YamlFault[] }

/**
 * Reads one YAML document, or JSON, within bounds of its size, depth and aliases; keys occur once, and `<<` merges nothing.
 *
 * @param firstLine the line of the file at which the text begins
 */
export function readYaml(text: string, { maxBytes = MAX_YAML_BYTES, firstLine = 1 } = {}): YamlText {
  const whole = (message: string): YamlText => ({ faults: [{ path: [], message, line: firstLine }] })
  if (Buffer.byteLength(text) > maxBytes) return whole(`is larger than ${maxBytes >> 10} KiB`)
  // Before the parser, which descends into each level.
  if (isTooDeep(text)) return whole('is nested too deeply')
  const lines = new LineCounter()
  const lineAt = (offset: number): number => lines.linePos(offset).line + firstLine - 1
  try {
    const document = parseDocument(text, { lineCounter: lines, uniqueKeys: true, merge: false })
    if (document.errors.length > 0) {
      const faults = document.errors.slice(0, MAX_FAULTS).map(({ message, pos }) => ({
        path: [],
        message: message.split('\n')[0] ?? message,
        line: lineAt(pos[0]),
      }))
      return { faults }
    }
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES })
    return { value, document, lineOf: (path) => lineAt(offsetOf(document, path)) }
  } catch (error) {
    return whole(error instanceof Error ? error.message : String(error))
  }
}

/** Counts what opens a level: brackets beside each other, indented lines and dashes. */
function isTooDeep(text: string): boolean {
  let open = 0
  for (const char of text) {
    if (char === '[' || char === '{') open++
    else if (char === ']' || char === '}') open--
    if (open > MAX_DEPTH) return true
  }
  for (const [opening] of text.matchAll(/^[ ]*(?:[-?:][ \t]+)*/gm)) {
    if (opening.replace(/[ \t]/g, '').length > MAX_DEPTH || opening.length > 16 * MAX_DEPTH) return true
  }
  return false
}

/** Where that stands in the text, or where what it would be in begins. */
function offsetOf(document: Document, path: readonly (string | number)[]): number {
  let node: Node | null = document.contents
  let at = node?.range?.[0] ?? 0
  for (const part of path) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String((key as { value?: unknown })?.value ?? key) === String(part))
      if (pair === undefined) break
      at = (pair.key as Node | null)?.range?.[0] ?? at
      node = pair.value as Node | null
    } else if (isSeq(node)) {
      node = (node.items[Number(part)] as Node | undefined) ?? null
      at = node?.range?.[0] ?? at
    } else break
  }
  return at
}
