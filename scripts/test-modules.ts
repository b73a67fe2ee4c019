/** For `node --import`: what the process loads is kept compiled for those that come after it; tap follows errors as error-domain.ts does. */
import { registerHooks } from 'node:module'
import { setPriority } from 'node:os'
import { cacheModules } from '../runtime/process/module-cache.ts'

// What it starts gives way as well.
if (process.env.TEST_NICENESS !== undefined) setPriority(Number(process.env.TEST_NICENESS))
cacheModules()
registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'async-hook-domain') return next(specifier, context)
    return { url: new URL('error-domain.ts', import.meta.url).href, format: 'module-typescript', shortCircuit: true }
  },
})
