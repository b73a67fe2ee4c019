import t from 'tap'
import { workerName } from '../../../../workers/voice/worker-name.ts'

t.test('two processes never share a name, whatever their host and number', async (t) => {
  const names = new Set(Array.from({ length: 200 }, () => workerName('host', 1)))
  t.equal(names.size, 200)
})

t.test('a name says host and process, and fits the link', async (t) => {
  t.match(workerName('voice-1.example', 42), /^voice-1\.example-42-[0-9a-f]{12}$/)
  t.match(workerName(`ä ${'x'.repeat(100)}`, 4_194_304), /^[A-Za-z0-9_.-]{1,64}$/)
})
