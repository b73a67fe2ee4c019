import { on } from 'node:events'
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { BroadcastChannel } from 'node:worker_threads'
import t from 'tap'
import { loadCallingRules } from '../../../../runtime/dialing/rules.ts'
import { loadUpload } from '../../../../workers/dialer/load-upload.ts'

/** In place of the thread: says what it is told to, and then that it did. */
const THREAD = `
import { BroadcastChannel, parentPort } from 'node:worker_threads'
const channel = new BroadcastChannel('load-upload.test')
channel.onmessage = ({ data }) => {
  parentPort.postMessage(data)
  channel.postMessage('said')
}
channel.postMessage('ready')
`
const MINUTE_MS = 60_000

t.test('an upload is loaded for as long as each of its batches comes in time', async (t) => {
  const rules = await loadCallingRules()
  const channel = new BroadcastChannel('load-upload.test')
  t.teardown(() => channel.close())
  const messages = on(channel as unknown as EventTarget, 'message')
  const told = async (wanted: string) => {
    for (let heard = ''; heard !== wanted; ) heard = (await messages.next()).value[0].data
  }
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const start = async () => {
    const entry = new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`)
    const options = { databaseUrl: '', uploadId: '', maxBatches: 50, rules }
    const loading = loadUpload(options, new AbortController().signal, entry)
    loading.catch(() => {})
    await told('ready')
    return { loading }
  }
  const say = async (message: object) => {
    channel.postMessage(message)
    await told('said')
    // What the thread said before waits for this loop's next turn.
    await turn()
    await turn()
  }

  const slow = await start()
  for (let minute = 0; minute < 5; minute++) {
    mock.timers.tick(MINUTE_MS)
    await say({ type: 'batch' })
  }
  // A thread that said so is ended, whatever it would say next.
  channel.postMessage({ type: 'end', state: 'more' })
  t.equal(await slow.loading, 'more')

  const stuck = await start()
  mock.timers.tick(MINUTE_MS)
  await say({ type: 'batch' })
  mock.timers.tick(2 * MINUTE_MS)
  await t.rejects(stuck.loading, { message: 'Loading stood still for 120000 ms' })
})
