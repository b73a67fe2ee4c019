/** Finds dialect in docs, comments and messages: `node scripts/words.ts [room]`. A test holds each room to scripts/words.json. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const DIALECT =
  /\b(?:whoever|whomever|whom|(?:what|that|which) (?:is|are) none|told of|ones? that takes? over|comes? to (?:no|none|nothing)|how-manieth)\b|\bof others'/gi
const ROOMS = '{api,cli,config,deploy,docs,examples,packages,plugins,runtime,scripts,store,web,workers}/**'
const FILES = [`${ROOMS}/*.{ts,tsx,md,lua,sh,yml,yaml,service,json}`, '{README,CONTRIBUTING,SECURITY}.md', 'main.ts']
/** Built files, other people's code, what this script is made of, and words that a conversation listens for. */
const LEFT_OUT = /(?:^|\/)(?:node_modules|dist)\/|^scripts\/words\.|\/languages\/\w\w\.ts$/

export interface Finding {
  /** `docs`, `runtime/call`. */
  room: string
  file: string
  line: number
  word: string
}

/** Every word of the dialect in a text, with its line from 1. */
export const dialectOf = (text: string): { word: string; line: number }[] =>
  [...text.matchAll(DIALECT)].map(({ 0: word, index }) => ({ word, line: text.slice(0, index).split('\n').length }))

export function findings(): Finding[] {
  const files = globSync(FILES, { cwd: ROOT }).filter((file) => !LEFT_OUT.test(file))
  return files.toSorted().flatMap((file) => {
    const room = file
      .split('/')
      .slice(0, file.startsWith('runtime/') ? 2 : 1)
      .join('/')
    return dialectOf(readFileSync(join(ROOT, file), 'utf8')).map((found) => ({ room, file, ...found }))
  })
}

if (import.meta.main) {
  for (const { room, file, line, word } of findings())
    if (room.startsWith(process.argv[2] ?? '')) console.log(`${file}:${line}: ${word}`)
}
