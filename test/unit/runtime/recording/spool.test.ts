import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createLogger } from '../../../../runtime/process/log.ts'
import { RecordingSpool, type SpooledCall } from '../../../../runtime/recording/spool.ts'
import { sampleRateOf, WAV_HEAD_BYTES, wavHead } from '../../../../runtime/recording/wav.ts'
import { testFolder } from '../../../support/instance/services.ts'

const log = createLogger({ level: 'silent', name: 'test' })
const format = { encoding: 'pcm_s16le', sampleRateHz: 8_000 } as const
const call = {
  workspaceId: '0197f3a2-7c1e-7000-8000-000000000001',
  callId: '0197f3a2-7c1e-7000-8000-000000000002',
}
const file = (kind: string) => `${call.workspaceId}.${call.callId}.${kind}`

/** A packet that came in time. */
const placed = (at: number) => ({ at, moved: 0, movedFrom: 0 })

async function openSpool(dir: string, nowMs = () => performance.now()) {
  const finished: SpooledCall[] = []
  const spool = await RecordingSpool.open({ dir, nowMs, log, finished: (done) => finished.push(done) })
  return { spool, finished }
}

t.test('a recorded call is a WAV file when it is over, and not before', async (t) => {
  const dir = await testFolder(t)
  let nowMs = 0
  const { spool, finished } = await openSpool(dir, () => nowMs)
  const tap = spool.record(call, format, 0)
  for (let i = 0; i < 500; i++) {
    nowMs += 20
    tap?.caller(new Uint8Array(320).fill(1), placed(i * 160))
  }
  t.same(await spool.list(), { whole: [], unfinished: [] }, 'a running call is nobody else’s business')
  tap?.ended()
  await spool.close()
  t.same(finished, [call])
  t.same((await readdir(dir)).sort(), [file('wav'), 'id'])
  t.same(await spool.list(), { whole: [call], unfinished: [] })
  const bytes = await readFile(join(dir, file('wav')))
  t.equal(bytes.length, WAV_HEAD_BYTES + 10 * 8_000 * 4)
  t.equal(sampleRateOf(bytes), 8_000)
  t.equal(bytes.readUInt32LE(40), bytes.length - WAV_HEAD_BYTES)
  const read: Uint8Array[] = []
  await spool.read(call, async (source) => {
    read.push(await source.bytes(0, 10), await source.bytes(10, source.size))
  })
  t.ok(Buffer.concat(read).equals(bytes))
  await spool.remove(call)
  t.equal(await spool.read(call, async () => {}), undefined)
})

t.test('a call without sound leaves no file', async (t) => {
  const dir = await testFolder(t)
  const { spool, finished } = await openSpool(dir, () => 0)
  spool.record(call, format, 0)?.ended()
  await spool.close()
  t.same(await readdir(dir), ['id'])
  t.same(finished, [])
})

t.test('a call that can’t be recorded goes on without', async (t) => {
  const dir = await testFolder(t)
  const other = await openSpool(dir, () => 0)
  await writeFile(join(dir, file('part')), 'taken')
  const tap = other.spool.record(call, format, 0)
  tap?.caller(new Uint8Array(320), placed(0))
  tap?.ended()
  await other.spool.close()
  t.same(other.finished, [])
})

t.test('what a killed process had written becomes a recording', async (t) => {
  const dir = await testFolder(t)
  const program = `
    import { RecordingSpool } from '${new URL('../../../../runtime/recording/spool.ts', import.meta.url)}'
    const log = { error: console.error, warn: console.error }
    const spool = await RecordingSpool.open({ dir: '${dir}', nowMs: () => performance.now() * 50, log, finished() {} })
    const tap = spool.record(${JSON.stringify(call)}, ${JSON.stringify(format)})
    let at = performance.now() * 50 * 8
    setInterval(() => { for (let n = 0; n < 50; n++, at += 160) tap.caller(new Uint8Array(320).fill(1), { at: Math.round(at), moved: 0, movedFrom: 0 }) }, 20)
    console.log('up')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  const { spool, finished } = await openSpool(dir)
  while ((await readFile(join(dir, file('part'))).catch(() => '')).length < 300_000) await sleep(20)
  child.kill('SIGKILL')
  await once(child, 'close')
  // A write that was cut leaves half a frame.
  await appendFile(join(dir, file('part')), Buffer.alloc(3))
  const { unfinished } = await spool.list()
  t.match(unfinished, [call])
  await spool.complete(call)
  t.same(finished, [call])
  const bytes = await readFile(join(dir, file('wav')))
  t.ok(bytes.equals(Buffer.concat([wavHead(8_000, bytes.length - 44), bytes.subarray(44)])))
  t.equal((bytes.length - WAV_HEAD_BYTES) % 4, 0)
})

t.test('a file a process died over before there was sound is removed', async (t) => {
  const dir = await testFolder(t)
  const { spool, finished } = await openSpool(dir)
  for (const content of [Buffer.alloc(0), Buffer.alloc(20), wavHead(8_000, 0), Buffer.alloc(5_000)]) {
    await writeFile(join(dir, file('part')), content)
    await spool.complete(call)
    t.same(await readdir(dir), ['id'])
  }
  t.same(finished, [])
})

t.test('a spool keeps its name over a restart', async (t) => {
  const dir = await testFolder(t)
  const first = await openSpool(dir)
  const second = await openSpool(dir)
  t.equal(first.spool.id, second.spool.id)
  t.not(first.spool.id, (await openSpool(await testFolder(t))).spool.id)
})
