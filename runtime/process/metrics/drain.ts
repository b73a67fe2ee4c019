import { setTimeout as sleep } from 'node:timers/promises'
import { PatchbayError } from '../../lib/errors.ts'
import { DRAIN_HEADER, DRAIN_VALUE } from './server.ts'

const ASK_TIMEOUT_MS = 5_000
const LOOK_EVERY_MS = 500

/** Tells the role on this admin port of this machine to stop once its calls are over, and waits until it is gone. */
export async function runDrain(port: number, say: (line: string) => void): Promise<void> {
  const url = `http://127.0.0.1:${port}`
  const headers = { [DRAIN_HEADER]: DRAIN_VALUE }
  const signal = AbortSignal.timeout(ASK_TIMEOUT_MS)
  const response = await fetch(`${url}/drain`, { method: 'POST', headers, signal }).catch((cause: unknown) => {
    const reason = `Nothing answers on admin port ${port} of this machine; name the port of the role: npm run patchbay drain voice -- --port=9082`
    throw new PatchbayError('configuration', { params: { reason }, cause })
  })
  if (response.status !== 202) {
    await response.body?.cancel()
    const reason = `What listens on port ${port} is no admin port of Patchbay: it answered ${response.status}`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  const { calls } = (await response.json()) as { calls: number }
  say(
    calls === 0
      ? 'Draining: no call is running'
      : `Draining: ${calls} ${calls === 1 ? 'call is' : 'calls are'} running`,
  )
  for (;;) {
    await sleep(LOOK_EVERY_MS)
    const lives = await fetch(`${url}/health`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) }).then(
      (answer) => answer.body?.cancel().then(() => true) ?? true,
      () => false,
    )
    if (!lives) break
  }
  say('Drained')
}
