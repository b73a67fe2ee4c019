/** For `node --import`: what the process loads is kept compiled for those that come after it. */
import { cacheModules } from '../runtime/module-cache.ts'

cacheModules()
