/** A voice worker process whose conversations are scripted: `node scripted-worker.ts <url> <token> <id> <capacity>`. */
import { pino } from 'pino'
import { connectLinks } from '../../../runtime/call/link/worker-end.ts'
import { systemClock } from '../../../runtime/lib/clock.ts'
import { scriptedConversation } from '../phone/scripted-conversation.ts'

const [url = '', token = '', workerId = '', capacity = '1'] = process.argv.slice(2)
const links = connectLinks({
  urls: [url],
  token,
  workerId,
  capacity: Number(capacity),
  metricsUrl: 'http://127.0.0.1:1/metrics',
  openConversation: scriptedConversation,
  state: () => 'ready',
  clock: systemClock,
  random: Math.random,
  log: pino({ level: 'silent' }),
  signal: new AbortController().signal,
})
process.on('SIGTERM', () => void links.stop(60_000).then(() => process.exit(0)))
// The test that started it is gone.
process.on('disconnect', () => process.exit(1))
