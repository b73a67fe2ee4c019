import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Test, test } from 'tap'
import { type ModelsCommand, runModelsCommand } from '../../../../runtime/models/cli.ts'
import { type ModelHub, startModelHub } from '../../../support/providers/doubles/downloads/model-hub.ts'
import { nemoTransducer, streamingTransducer } from '../../../support/providers/local-models.ts'

const ZIPFORMER = 'csukuangfj/sherpa-onnx-streaming-zipformer-en-2023-06-26'
const ALBA = 'csukuangfj/vits-piper-en_GB-alba-medium'
const ENCODER = 'encoder-epoch-99-avg-1-chunk-16-left-128.int8.onnx'

interface World {
  hub: ModelHub
  dataDir: string
  said: string[]
  run(...words: string[]): Promise<string>
  lock(): { models: Record<string, { revision: string; files: Record<string, { bytes: number; digest: string }> }> }
  file(id: string, path: string): string
}

async function world(t: Test, options: Partial<ModelsCommand> = {}): Promise<World> {
  const hub = await startModelHub({
    [ZIPFORMER]: { ...streamingTransducer(), 'README.md': 'not asked for', [`${ENCODER}.bak`]: 'nor this' },
    'csukuangfj/sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8': nemoTransducer(),
    [ALBA]: { 'en_GB-alba-medium.onnx': 'voice', 'tokens.txt': '_ 0\n' },
  })
  t.teardown(() => hub.stop())
  const dataDir = mkdtempSync(join(tmpdir(), 'patchbay-models-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const said: string[] = []
  return {
    hub,
    dataDir,
    said,
    run: (...words) =>
      runModelsCommand({
        words,
        dataDir,
        hub: hub.url,
        say: (text) => void said.push(text),
        terminal: false,
        signal: new AbortController().signal,
        ...options,
      }),
    lock: () => JSON.parse(readFileSync(join(dataDir, 'models/models.lock.json'), 'utf8')),
    file: (id, path) => join(dataDir, 'models/local', id, path),
  }
}

test('the list says what each model is for, its languages, size, licence and address, and which are here', async (t) => {
  const { run, hub } = await world(t)
  const before = await run()
  t.match(before, /^zipformer-en +hears +en +71 MB +Apache-2\.0$/m)
  t.match(before, new RegExp(`Zipformer, English.* ${hub.url}/${ZIPFORMER}`))
  t.match(before, /^gtcrn +quiets/m)
  t.equal(hub.requests.length, 0, 'nothing is downloaded unasked')
  await run('pull', 'zipformer-en')
  t.match(await run(), /^zipformer-en +here +hears/m)
})

test('a model is downloaded with its progress, and what came is pinned', async (t) => {
  const { run, said, lock, file, hub } = await world(t)
  t.match(
    await run('pull', 'zipformer-en'),
    /zipformer-en is here \(.* MB\), as the hub lists it\.\nWhat runs it is not here: npm run patchbay models engine \(sherpa-onnx-node .* espeak-ng, which is under the GPL-3\.0\)\.\nRestart Patchbay/,
  )
  t.match(said[0], /^zipformer-en: Zipformer, English.* Licence Apache-2\.0\. From http/)
  t.match(said.at(-1), /^ {2}(\d[\d.]* MB) of \1$/m, 'to the last byte')
  t.same(readFileSync(file('zipformer-en', ENCODER)), streamingTransducer()[ENCODER])
  const { revision, files } = lock().models['local/zipformer-en'] ?? { revision: '', files: {} }
  t.match(revision, /^[0-9a-f]{40}$/)
  t.match(files[ENCODER]?.digest, /^sha256:[0-9a-f]{64}$/)
  t.match(files['tokens.txt']?.digest, /^git:[0-9a-f]{40}$/)
  t.notOk(existsSync(file('zipformer-en', 'README.md')), 'what it does not need stays there')
  t.notOk(hub.requests.some((request) => request.includes('README')))

  const asked = hub.requests.length
  await run('pull', 'zipformer-en')
  t.notOk(
    hub.requests.slice(asked).some((request) => request.includes('/resolve/')),
    'what is here is kept',
  )
})

test('a download that breaks off goes on where it stopped, at once and with the next pull', async (t) => {
  const { run, hub, file } = await world(t)
  hub.faults.cutAfterBytes = 700
  await run('pull', 'zipformer-en')
  t.same(readFileSync(file('zipformer-en', ENCODER)), streamingTransducer()[ENCODER])
  t.ok(hub.requests.some((request) => request.endsWith('bytes=700-')))

  const later = await world(t)
  const whole = Buffer.from(streamingTransducer()[ENCODER] ?? '')
  later.hub.faults.status = 403
  await t.rejects(later.run('pull', 'zipformer-en'), /wants an account for this model \(403\)/)
  delete later.hub.faults.status
  writeFileSync(`${later.file('zipformer-en', ENCODER)}.part`, whole.subarray(0, 1_234))
  await later.run('pull', 'zipformer-en')
  t.ok(later.hub.requests.some((request) => request.endsWith(`${ENCODER} bytes=1234-`)))
  t.same(readFileSync(later.file('zipformer-en', ENCODER)), whole)
})

test('a hub that knows no ranges sends all again', async (t) => {
  const { run, hub, file } = await world(t)
  hub.faults.status = 403
  await t.rejects(run('pull', 'zipformer-en'))
  delete hub.faults.status
  hub.faults.ignoresRanges = true
  writeFileSync(`${file('zipformer-en', ENCODER)}.part`, 'something else')
  await run('pull', 'zipformer-en')
  t.same(readFileSync(file('zipformer-en', ENCODER)), streamingTransducer()[ENCODER])
})

test('what is not what the hub lists is thrown away', async (t) => {
  const { run, hub, dataDir, file } = await world(t)
  hub.faults.corrupt = true
  await t.rejects(run('pull', 'zipformer-en'), /is not what 127\.0\.0\.1:\d+ lists: its digest is another one/)
  t.notOk(existsSync(join(dataDir, 'models/models.lock.json')), 'it is not here')
  t.notOk(existsSync(file('zipformer-en', ENCODER)))
  t.notOk(existsSync(`${file('zipformer-en', ENCODER)}.part`))
})

test('without a network there is a sentence, and nothing breaks', async (t) => {
  const { run } = await world(t, { hub: 'http://127.0.0.1:9' })
  await t.rejects(run('pull', 'zipformer-en'), {
    message:
      /127\.0\.0\.1:9 can't be reached \(.*\): check this machine's way to the network, or set PATCHBAY_MODEL_HUB/,
  })
  t.match(await run(), /^zipformer-en +hears/m)
})

test('what the hub no longer has is said', async (t) => {
  const { run } = await world(t)
  await t.rejects(run('pull', 'kokoro-en'), /has no such model any more \(404\)/)
  await t.rejects(run('pull', 'piper-en-alba'), /holds no "espeak-ng-data\/", which model "piper-en-alba" needs/)
})

test('a model is removed, and a name that is none is told with what there is', async (t) => {
  const { run, lock, file } = await world(t)
  await run('pull', 'parakeet-v3', 'zipformer-en')
  t.match(await run('remove', 'parakeet-v3'), /Removed parakeet-v3/)
  t.notOk(existsSync(file('parakeet-v3', 'encoder.int8.onnx')))
  t.same(Object.keys(lock().models), ['local/zipformer-en'])
  t.match(await run('remove', 'parakeet-v3'), /is not on this machine/)
  await t.rejects(run('pull', 'zipformer-english'), /There are|there are/)
  await t.rejects(run('pull', 'zipformer'), /There is no model "zipformer"/)
  await t.rejects(run('fetch'), /"fetch" is no command of patchbay models/)
})
