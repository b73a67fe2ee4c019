/**
 * Runs test files in this process, one after the other: `node scripts/test-files.ts <file>…`. Each file is a subtest, and what it
 * imports as `tap` is that subtest, so its hooks and teardowns are its own. Other modules that import tap get the whole run.
 */
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import { cacheModules } from '../runtime/process/module-cache.ts'
import { importPacked } from '../runtime/process/packed-packages.ts'

cacheModules()
importPacked()

// tap names folders after the arguments it finds: several files make a longer name than a folder may have.
const files = process.argv.splice(2)
const { default: t } = await import('tap')
/** For connections and children that are about to end. */
const LINGER_MS = 10_000
const SUBTESTS = 'patchbay.subtests'
const subtests = new Map<string, Test>()
Object.assign(globalThis, { [Symbol.for(SUBTESTS)]: subtests })

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context
    if (specifier !== 'tap' || !subtests.has(parentURL)) return next(specifier, context)
    const source = `const t = globalThis[Symbol.for('${SUBTESTS}')].get(${JSON.stringify(parentURL)})
export default t
export const test = (...args) => t.test(...args)`
    return { url: `data:text/javascript,${encodeURIComponent(source)}`, format: 'module', shortCircuit: true }
  },
})

const done = files.map((file) =>
  t.test(file, async (subtest) => {
    const url = pathToFileURL(resolve(file)).href
    subtests.set(url, subtest)
    await import(url)
  }),
)
await Promise.all(done)
// What a test left open must not keep the run waiting for the file's whole time.
setTimeout(() => {
  const left = process.getActiveResourcesInfo().join(', ')
  process.stderr.write(`Open ${LINGER_MS / 1_000} s after the last test: ${left}\n`)
  process.exit()
}, LINGER_MS).unref()
