import { createRequire, registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/** For generators that need the JavaScript API of TypeScript 6, which TypeScript 7 has not: `node --import`. */
const beside = createRequire(createRequire(import.meta.url).resolve('swagger-typescript-api'))
const url = pathToFileURL(beside.resolve('typescript')).href
registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? url : specifier, context),
})
