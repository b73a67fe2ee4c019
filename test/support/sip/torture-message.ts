import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A torture test message of RFC 4475 by its name there. */
export function tortureMessage(name: string): Buffer {
  const [file] = globSync(`torture/*/${name}.dat`, { cwd: import.meta.dirname })
  if (file === undefined) throw new Error(`RFC 4475 has no message ${name}`)
  return readFileSync(join(import.meta.dirname, file))
}
