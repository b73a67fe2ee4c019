/**
 * Runs several test files in one process, one after the other: `node scripts/run-group.ts <file>…`. Each file's `tap` is
 * a test of its own, named after the file, so its hooks and teardowns are its own.
 */
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'

// tap names its folders after the arguments it finds: several files make a longer name than a folder may have.
const files = process.argv.splice(2)
const { default: t } = await import('tap')

const tapOf = new Map<string, Test>()
const lastly = new Set<() => unknown>()
Object.assign(globalThis, { [Symbol.for('patchbay.tapOf')]: tapOf, [Symbol.for('patchbay.lastly')]: lastly })
t.teardown(() => Promise.all([...lastly].map((end) => end())))

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL } = context
    if (specifier !== 'tap' || parentURL === undefined || !tapOf.has(parentURL)) return next(specifier, context)
    const source = `const t = globalThis[Symbol.for('patchbay.tapOf')].get(${JSON.stringify(parentURL)})
export default t
export const test = (...args) => t.test(...args)`
    return { url: `data:text/javascript,${encodeURIComponent(source)}`, format: 'module', shortCircuit: true }
  },
})

for (const file of files) {
  void t.test(file, async (ofFile) => {
    const url = pathToFileURL(resolve(file)).href
    tapOf.set(url, ofFile)
    await import(url)
  })
}
