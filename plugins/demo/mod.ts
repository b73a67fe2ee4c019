import { definePlugin } from '../../runtime/plugin/contract.ts'
import { DemoBackend } from './backend.ts'
import { TOOLS } from './tools.ts'

/** What the sample agents of the console work with: see README.md. */
export default definePlugin({
  tools: () => {
    const backend = new DemoBackend(Date.now)
    return { list: async () => TOOLS, call: async (call) => backend.call(call) }
  },
})
