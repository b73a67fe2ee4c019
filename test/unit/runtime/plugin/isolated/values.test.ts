import { test } from 'tap'
import { iterableOf, llmEventOf, pcmSamplesOf, sttEventOf, vectorsOf } from '../../../../../packages/plugin/values.ts'
import { thrownOf } from '../../../../../runtime/plugin/isolated/inside/thrown.ts'

const never = (why: string): void => {
  throw new Error(`dropped: ${why}`)
}

test('what the contract knows comes through, and nothing beside it', async (t) => {
  const samples = Int16Array.of(1, -2)
  t.equal(pcmSamplesOf(samples), samples)
  t.same(sttEventOf({ type: 'final', text: 'hi', startS: null, endS: 1.5, confidence: null, more: 1 }), {
    type: 'final',
    text: 'hi',
    endS: 1.5,
  })
  t.same(llmEventOf({ type: 'text', text: '' }, never), { type: 'text', text: '' })
  t.same(llmEventOf({ type: 'usage', inputTokens: 3, outputTokens: 0, reasoningTokens: null, raw: { a: 1 } }, never), {
    type: 'usage',
    inputTokens: 3,
    outputTokens: 0,
    raw: { a: 1 },
  })
  const call = { type: 'tool_call', id: '1', name: 'look', arguments: '{}' }
  t.same(llmEventOf(call, never), call)
  t.same(vectorsOf([Float32Array.of(1, 2), [3, 4]], { dimensions: 2 }, 2), [
    [1, 2],
    [3, 4],
  ])
  const chat = async function* () {}
  t.ok(iterableOf(chat(), 'chat'))
  t.ok(iterableOf([], 'chat'), 'a plain list can be read as well')
})

test('a value of another kind is named, with what is right', (t) => {
  const cases: [() => unknown, RegExp][] = [
    [
      () => pcmSamplesOf(new Uint8Array(3)),
      /^speak\(\) has to yield 16-bit samples as Int16Array; it yielded a Uint8Array/,
    ],
    [() => pcmSamplesOf(new Float32Array(3)), /a Float32Array/],
    [() => pcmSamplesOf('sound'), /a string/],
    [() => pcmSamplesOf(null), /null/],
    [() => sttEventOf(null), /^recognise\(\) has to yield events such as \{ type, … \}; it yielded null/],
    [() => sttEventOf([]), /an? Array/],
    [() => sttEventOf({ type: 'partial', text: '' }), /of the type "partial"; types are interim, final/],
    [() => sttEventOf({ type: 'final' }), /a final whose text is undefined; it is text/],
    [() => sttEventOf({ type: 'final', text: '', language: 42 }), /whose language is a number; it is text/],
    [() => sttEventOf({ type: 'final', text: '', startS: Number.NaN }), /whose startS is NaN; it is a number/],
    [() => llmEventOf({ type: 'delta' }, never), /of the type "delta"; types are text, tool_call/],
    [() => llmEventOf({ type: 'text', text: 1 }, never), /a text whose text is a number/],
    [
      () => llmEventOf({ type: 'tool_call', id: '1', name: 'a', arguments: {} }, never),
      /arguments are an object; they are JSON text/,
    ],
    [() => vectorsOf({}, { dimensions: 2 }, 1), /^embed\(\) has to give an array of 2 numbers for each of 1 texts/],
    [() => vectorsOf([[1]], { dimensions: 2 }, 1), /of text 1 it gave 1 numbers/],
    [() => vectorsOf([[1, Number.NaN]], { dimensions: 2 }, 1), /of text 1 one is NaN/],
    [
      () => iterableOf(undefined, 'chat'),
      /^chat\(\) has to be an async generator \(async \*chat\); it returned undefined/,
    ],
    [() => iterableOf('words', 'chat'), /it returned a string/],
  ]
  for (const [check, message] of cases) t.throws(check, { message, failure: { fault: 'bad_request' } })
  t.end()
})

test('usage that is no count of tokens is left out, and its author reads why', (t) => {
  for (const count of [1.5, 1e300, -1, '12', Number.NaN, 2 ** 31]) {
    const dropped: string[] = []
    const event = { type: 'usage', inputTokens: count, outputTokens: 1 }
    t.equal(
      llmEventOf(event, (why) => dropped.push(why)),
      undefined,
    )
    t.match(dropped, [/usage whose inputTokens is .*; it is a whole number of 0 to 2147483647/], String(count))
  }
  t.end()
})

test('whatever is thrown is put into words, with the place in the plugin’s own files', (t) => {
  const folder = new URL('.', import.meta.url).href
  t.same(thrownOf(null, folder), { message: 'It threw null' })
  t.same(thrownOf(undefined, folder), { message: 'It threw undefined' })
  t.same(thrownOf('no key', folder), { message: 'It threw no key' })
  t.match(thrownOf(new Error('lost'), folder).message, /^lost \(values\.test\.ts:\d+\)$/)
  t.same(thrownOf(new Error('lost'), 'file:///elsewhere/'), { message: 'lost' })
  const judged = Object.assign(new Error('No credit'), { failure: { fault: 'quota', status: 402, more: 1 } })
  t.same(thrownOf(judged, folder), { message: 'No credit', failure: { fault: 'quota', status: 402 } })
  const hostile = {
    get failure(): never {
      throw new Error('ha')
    },
  }
  t.same(thrownOf(hostile, folder), { message: 'It threw what can’t be read' })
  const circular: { self?: unknown } = {}
  circular.self = circular
  t.same(thrownOf(circular, folder), { message: 'It threw what can’t be read' })
  t.end()
})
