import { definePlugin } from '@patchbay/plugin'
import { ask, tinCan } from './carrier.ts'

export default definePlugin({
  telephony: tinCan,
  check: async (host, _options, signal) => {
    await ask(host, 'GET', '/calls', undefined, signal)
  },
})
