import t from 'tap'
import type { ShelvedRow } from '../../../../../runtime/knowledge/engine/blocks.ts'
import { encodeRow } from '../../../../../runtime/knowledge/engine/row.ts'
import { SearchThread, type SearchThreadOptions } from '../../../../../runtime/knowledge/engine/search-thread.ts'
import { termsOf } from '../../../../../runtime/knowledge/terms.ts'
import type { Terms } from '../../../../../runtime/plugin/contract.ts'

const signal = new AbortController().signal
const leg = { by: 'words' } as const
const none = Uint32Array.of()

const row = (id: number, ...texts: string[]): ShelvedRow => ({
  id,
  documentId: `document-${id}`,
  bytes: encodeRow(
    texts.map((text, chunk) => ({ chunk, terms: termsOf(text) })),
    undefined,
  ),
})

/** A thread that runs this instead. */
const threadOf = (program: string, options: Omit<SearchThreadOptions, 'leg'> = {}) =>
  new SearchThread<Terms>({ ...options, leg, entry: new URL(`data:text/javascript,${encodeURIComponent(program)}`) })

const SILENT = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => {})`
/** Answers an `add` with which searches are to be left out, and no search. */
const FLAGS = `import { parentPort, workerData } from 'node:worker_threads'
  parentPort.on('message', ({ type, call }) => {
    if (type === 'add') parentPort.postMessage({ call, result: Array.from(workerData.ignored) })
  })`
const FAILING = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => { throw new Error('broken') })`
const ENDING = `import { parentPort } from 'node:worker_threads'; parentPort.on('message', () => process.exit(3))`

t.test('blocks that were added are searched, and no others', async (t) => {
  const thread = new SearchThread<Terms>({ leg })
  t.teardown(() => thread.close())
  const find = async (numbers: number[], text: string) =>
    (await thread.search(Uint32Array.from(numbers), termsOf(text), 9, signal)).map(({ documentId }) => documentId)
  const one = await thread.add(1, [row(1, 'red apple'), row(2, 'green apple')])
  const two = await thread.add(3, [row(3, 'blue apple', 'a pear')])
  t.match(one, [{ number: 1, rowIds: [1, 2], chunks: 2 }])
  t.match(two, [{ number: 3, rowIds: [3], chunks: 2 }])
  t.same(await find([1, 3], 'apple'), ['document-1', 'document-2', 'document-3'])
  t.same(await find([3], 'apple'), ['document-3'])
  const last = find([1], 'apple')
  thread.drop([1])
  t.same(await last, ['document-1', 'document-2'], 'a search that was sent before the drop')
  await t.rejects(find([1], 'apple'), { code: 'internal', cause: Error })
  t.same(await find([3], 'pear'), ['document-3'], 'a call that failed harms no other')
})

t.test('of rows of which one is broken, none is kept', async (t) => {
  const thread = new SearchThread<Terms>({ leg })
  t.teardown(() => thread.close())
  const large = row(1, ...Array<string>(100).fill('red apple'))
  const broken = { ...row(2, 'red'), bytes: Buffer.alloc(40) }
  await t.rejects(thread.add(1, [large, broken]), { code: 'internal', cause: { message: /not an index segment/ } })
  await t.rejects(thread.search(Uint32Array.of(1), termsOf('red'), 9, signal), { code: 'internal' })
})

t.test('a search that nobody waits for any more rejects at once, and the thread is told to leave it out', async (t) => {
  const thread = threadOf(FLAGS)
  t.teardown(() => thread.close())
  const flagged = async () => ((await thread.add(1, [])) as unknown as number[]).filter((flag) => flag === 1).length
  const reason = new Error('gone')
  await t.rejects(thread.search(none, termsOf('a'), 1, AbortSignal.abort(reason)), reason)
  t.equal(await flagged(), 0)
  const abort = new AbortController()
  const search = thread.search(none, termsOf('a'), 1, abort.signal)
  abort.abort(reason)
  await t.rejects(search, reason)
  t.equal(await flagged(), 1)
})

t.test('more searches than may wait are unavailable, until some are answered', async (t) => {
  const thread = new SearchThread<Terms>({ leg })
  t.teardown(() => thread.close())
  await thread.add(1, [row(1, 'red apple')])
  const search = () => thread.search(Uint32Array.of(1), termsOf('red'), 1, signal)
  const waiting = Array.from({ length: 256 }, search)
  await t.rejects(search(), { code: 'unavailable', cause: { message: /256/ } })
  t.ok((await Promise.all(waiting)).every((matches) => matches.length === 1))
  t.equal((await search()).length, 1)
})

t.test('a thread that gives no answer is ended, and whoever waits is told', async (t) => {
  const lost: Error[] = []
  const thread = threadOf(SILENT, { timeoutMs: 50, onLost: (error) => lost.push(error) })
  const first = thread.add(1, [row(1, 'red')])
  const second = thread.search(none, termsOf('a'), 1, signal)
  await t.rejects(first, { code: 'timeout' })
  await t.rejects(second, { code: 'unavailable', cause: { message: /no answer for 50 ms/ } })
  await t.rejects(thread.add(2, [row(2, 'red')]), { code: 'unavailable' })
  t.equal(lost.length, 1)
})

t.test('a thread that fails or ends rejects what it was asked, with the cause, once and for all', async (t) => {
  for (const [program, cause] of [
    [FAILING, { message: /failed/, cause: { message: 'broken' } }],
    [ENDING, { message: /ended with code 3/ }],
    ['import "./missing.js"', { message: /failed/ }],
  ] as const) {
    const lost: Error[] = []
    const thread = threadOf(program, {
      onLost(error) {
        lost.push(error)
        void thread.close()
      },
    })
    const calls: Promise<unknown>[] = [thread.add(1, [row(1, 'red')]), thread.search(none, termsOf('a'), 1, signal)]
    for (const call of calls) await t.rejects(call, { code: 'unavailable', retryable: true, cause })
    await t.rejects(thread.search(none, termsOf('a'), 1, signal), { code: 'unavailable' })
    t.equal(lost.length, 1)
    await thread.close()
    t.equal(lost.length, 1)
  }
})

t.test('a closed thread is unavailable, and nobody is told it was lost', async (t) => {
  const thread = threadOf(SILENT, { onLost: () => t.fail('It was closed') })
  const search = thread.search(none, termsOf('a'), 1, signal)
  const closed = thread.close()
  await t.rejects(search, { code: 'unavailable', cause: { message: /closed/ } })
  await closed
  await t.rejects(thread.add(1, []), { code: 'unavailable' })
})
