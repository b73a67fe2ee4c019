import { setTimeout as sleep } from 'node:timers/promises'
import { PatchbayError } from '../../lib/errors.ts'
import type { Reloaded } from '../reloads.ts'
import { ADMIN_HEADER } from './server.ts'

const ASK_TIMEOUT_MS = 5_000
const LOOK_EVERY_MS = 500

/** Tells the role on this admin port of this machine to stop once its calls are over, and waits until it is gone. */
export async function runDrain(port: number, say: (line: string) => void): Promise<void> {
  const { calls } = (await ask(port, 'drain')) as { calls: number }
  say(
    calls === 0
      ? 'Draining: no call is running'
      : `Draining: ${calls} ${calls === 1 ? 'call is' : 'calls are'} running`,
  )
  for (;;) {
    await sleep(LOOK_EVERY_MS)
    const lives = await fetch(`${urlOf(port)}/health`, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) }).then(
      (answer) => answer.body?.cancel().then(() => true) ?? true,
      () => false,
    )
    if (!lives) break
  }
  say('Drained')
}

/** Has the role on this admin port of this machine read its settings anew, and says what changed. Throws `configuration` with a fault of them. */
export async function runReload(port: number, say: (line: string) => void): Promise<void> {
  const { changed, needsRestart } = (await ask(port, 'reload')) as Reloaded
  say(
    changed.length === 0
      ? 'Reloaded: no setting changed; prices and calling rules were read anew'
      : `Reloaded: ${changed.join(', ')}`,
  )
  if (needsRestart.length > 0) say(`Changed, and waiting for a restart: ${needsRestart.join(', ')}`)
}

const urlOf = (port: number): string => `http://127.0.0.1:${port}`

async function ask(port: number, what: 'drain' | 'reload'): Promise<unknown> {
  const headers = { [ADMIN_HEADER]: what }
  const signal = AbortSignal.timeout(ASK_TIMEOUT_MS)
  const response = await fetch(`${urlOf(port)}/${what}`, { method: 'POST', headers, signal }).catch(
    (cause: unknown) => {
      const reason = `Nothing answers on admin port ${port} of this machine; name the port of the role: npm run patchbay ${what} voice -- --port=9082`
      throw new PatchbayError('configuration', { params: { reason }, cause })
    },
  )
  if (response.status === 422) throw new PatchbayError('configuration', { params: { reason: await response.text() } })
  if (response.status !== 202) {
    await response.body?.cancel()
    const reason = `What listens on port ${port} is no admin port of Patchbay: it answered ${response.status}`
    throw new PatchbayError('configuration', { params: { reason } })
  }
  return response.json()
}
