import { pino } from 'pino'
import t from 'tap'
import { createLinkHub } from '../../../../../runtime/call/link/api-end.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import type { StoredKeys } from '../../../../../runtime/plugin/stored-keys.ts'
import type { Socket } from '../../../../../runtime/process/web-socket.ts'

const HELLO = { type: 'hello', protocol: 2, capacity: 2, metricsUrl: 'http://127.0.0.1/' }

t.test('a worker gets the stored keys before its first call, and again when they change', async (t) => {
  let keys: StoredKeys = { openai: { OPENAI_API_KEY: 'first' } }
  const hub = createLinkHub({
    ...{ nodeId: 'n', tokens: ['token'], clock: systemClock, log: pino({ level: 'silent' }), keys: () => keys },
    changed: () => undefined,
    gone: () => undefined,
  })
  t.teardown(() => hub.close())
  const link = async (hello: object) => {
    const sent: { type: string }[] = []
    const socket = {
      send: (json: string) => sent.push(JSON.parse(json)) > 0,
      bufferedBytes: () => 0,
      terminate: () => undefined,
    }
    const request = { remoteAddress: '127.0.0.1', header: () => 'Bearer token', query: new URLSearchParams() }
    const open = (await hub.route.upgrade(request as never)) as (socket: Socket) => { message(data: string): void }
    open(socket as never).message(JSON.stringify({ ...HELLO, ...hello }))
    return sent
  }
  const sent = await link({ workerId: 'w', takesKeys: true })
  const older = await link({ workerId: 'older' })
  const welcome = { type: 'welcome', nodeId: 'n', takesOwed: true }
  t.same(sent, [welcome, { type: 'keys', keys }])
  keys = {}
  for (const worker of hub.workers()) worker.sendKeys()
  t.same(sent.at(-1), { type: 'keys', keys: {} }, 'what was removed is removed there, too')
  t.same(older, [welcome], 'a worker of an older version is told nothing it can’t read')
})
