import { createHash } from 'node:crypto'
import fs from 'node:fs'
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

// As they are before plugins are held to their grants: what is kept here is the process's own.
const { mkdirSync, readFileSync, renameSync, writeFileSync } = fs

let cache: { directory: string; kept: string } | undefined

/**
 * Keeps on disk what Node makes of every module loaded from now on in this thread, for the processes that load it next:
 * V8's code by Node's compile cache, and the TypeScript without its types, which that cache leaves out. In `folder`, or
 * where NODE_COMPILE_CACHE says; a folder that can't be written costs time alone. NODE_DISABLE_COMPILE_CACHE=1 turns it off.
 */
export function cacheModules(folder = join(cacheFolder(), 'patchbay', 'modules')): void {
  const { directory } = module.enableCompileCache(folder)
  if (directory === undefined) return
  const kept = join(directory, 'typescript')
  try {
    mkdirSync(kept, { recursive: true, mode: 0o700 })
  } catch {
    return
  }
  cache = { directory, kept }
  module.registerHooks({
    load(url, context, next) {
      if (context.format !== 'module-typescript' || !url.startsWith('file:')) return next(url, context)
      return { format: 'module', source: javascriptOf(fileURLToPath(url), kept), shortCircuit: true }
    },
  })
}

/** What a `Worker` is to begin with, so that it keeps its modules where this thread does, and then is `entry`. */
export function threadEntry(entry: URL): URL {
  const program = programOf(entry)
  return program === undefined ? entry : new URL(`data:text/javascript,${encodeURIComponent(program)}`)
}

/** What Node is to be called with for a process that keeps its modules where this thread does, and then is `entry`. */
export function processEntry(entry: URL): string[] {
  const program = programOf(entry)
  return program === undefined ? [fileURLToPath(entry)] : ['--input-type=module', '--eval', program]
}

function programOf(entry: URL): string | undefined {
  if (cache === undefined) return undefined
  const { directory, kept } = cache
  // Without a cache this module is loaded as any other: here it comes along as JavaScript.
  return `${javascriptOf(import.meta.filename, kept)}
cacheModules(${JSON.stringify(directory)})
const { importPacked } = await import(${JSON.stringify(new URL('packed-packages.ts', import.meta.url).href)})
importPacked()
await import(${JSON.stringify(entry.href)})`
}

function cacheFolder(): string {
  return process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
}

/** One file for each module, whatever its versions: of which source it was made by which Node is in its last line. */
function javascriptOf(path: string, kept: string): string {
  const source = readFileSync(path, 'utf8')
  const file = join(kept, `${sha256(path)}.js`)
  const mark = `\n//${sha256(process.version + source)}`
  const known = read(file)
  if (known?.endsWith(mark)) return known
  const javascript = `${withoutTypes(source)}${mark}`
  try {
    // Others may read it meanwhile, and several may write it.
    const own = `${file}.${process.pid}`
    writeFileSync(own, javascript, { mode: 0o600 })
    renameSync(own, file)
  } catch {
    // A disk that is full or may not be written.
  }
  return javascript
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** Lines and columns stay where they are. */
function withoutTypes(source: string): string {
  const { emitWarning } = process
  // The function is experimental and says so once a process; that it is used here is no news for operators.
  process.emitWarning = () => {}
  try {
    return module.stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
