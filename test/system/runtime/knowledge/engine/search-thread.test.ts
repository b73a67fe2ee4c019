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

const serving = (work: string) =>
  `import { serve } from ${JSON.stringify(new URL('../../../../../runtime/process/offload/task.ts', import.meta.url).href)}
  ${work}`
const SILENT = serving('serve(() => new Promise(() => {}))')
/** Answers an `add` with how many searches it has begun, after a while for what was given up meanwhile. */
const COUNTING = serving(`let begun = 0
  serve(({ type }) => {
    if (type === 'search') begun++
    if (type === 'add') for (const until = Date.now() + 200; Date.now() < until; );
    return begun
  })`)
const FAILING = serving(
  `serve(() => { setImmediate(() => { throw new Error('broken') }); return new Promise(() => {}) })`,
)
const ENDING = serving('serve(() => process.exit(3))')

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

t.test('a search that nobody waits for any more rejects at once, and the thread leaves it out', async (t) => {
  const thread = threadOf(COUNTING)
  t.teardown(() => thread.close())
  const begun = () => thread.add(1, []) as Promise<unknown>
  const reason = new Error('gone')
  await t.rejects(thread.search(none, termsOf('a'), 1, AbortSignal.abort(reason)), reason)
  await begun()
  const abort = new AbortController()
  const busy = begun()
  const search = thread.search(none, termsOf('a'), 1, abort.signal)
  await new Promise((resolve) => setTimeout(resolve, 20))
  abort.abort(reason)
  await t.rejects(search, reason)
  await busy
  t.equal(await begun(), 0)
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
  await t.rejects(second, { code: 'unavailable', cause: { message: /took longer than 50 ms/ } })
  await t.rejects(thread.add(2, [row(2, 'red')]), { code: 'unavailable' })
  t.equal(lost.length, 1)
})

t.test('a thread that fails or ends rejects what it was asked, with the cause, once and for all', async (t) => {
  for (const [program, cause] of [
    [FAILING, { message: /ended/, cause: { message: 'broken' } }],
    [ENDING, { message: /ended/, cause: { message: /code 3/ } }],
    ['import "./missing.js"', { message: /ended/ }],
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
