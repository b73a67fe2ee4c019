import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { definePlugin } from '../../../../runtime/plugin/contract.ts'

/** The file is named by the process that is to be killed. */
export default definePlugin({
  telephony: () => ({
    async dial({ callId, to }, events) {
      appendFileSync(process.env.TEST_LEDGER ?? '', `${to} ${callId}\n`)
      // Meanwhile nothing but the mark says that the call was dialled.
      await sleep(250)
      events.ringing()
      setTimeout(() => events.failed('busy'), 20)
    },
    async hangup() {},
    lookup: async () => 'unknown',
  }),
})
