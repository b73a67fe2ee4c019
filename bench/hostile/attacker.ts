/** The hostile tenant in a process of its own, at the least priority: as it would be on a machine of its own. */
import { setPriority } from 'node:os'
import { attacks } from './attacks.ts'
import { Tenant } from './tenant.ts'

const LEAST_PRIORITY = 19

setPriority(LEAST_PRIORITY)
process.once('disconnect', () => process.exit())
const [url = ''] = process.argv.slice(2)
const abort = new AbortController()
process.once('message', () => abort.abort())
const hostile = await Tenant.signUp(url, 'hostile')
process.send?.('signed up')
process.send?.(await attacks(hostile, abort.signal))
process.disconnect()
