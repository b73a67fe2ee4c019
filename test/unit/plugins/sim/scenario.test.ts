import { llm, tts } from '@livekit/agents'
import t from 'tap'
import plugin from '../../../../plugins/sim/mod.ts'
import { runOnlyHost } from '../../../support/instance/plugin-host.ts'

const host = runOnlyHost('sim')
const RETRIES = { maxRetry: 0, retryIntervalMs: 0, timeoutMs: 30_000 }

const model = async (scenario: object | string, settings = {}) => {
  const name = typeof scenario === 'string' ? scenario : JSON.stringify(scenario)
  const made = await plugin.llm?.(host, { model: name, settings })
  if (!made) throw new Error('no llm')
  return made
}

const asked = (question: string) => {
  const context = llm.ChatContext.empty()
  context.addMessage({ role: 'user', content: question })
  return context
}

/** What was answered before the stream ended, and the error that ended it. */
async function chat(engine: llm.LLM, question: string, connOptions = RETRIES) {
  let error: Error | undefined
  engine.on('error', (event) => {
    error = event.error
  })
  let text = ''
  for await (const chunk of engine.chat({ chatCtx: asked(question), connOptions })) text += chunk.delta?.content ?? ''
  return { text, error }
}

t.test('a scripted question gets its answer, whatever its punctuation; any other one the default', async (t) => {
  const script = [{ question: 'Where are you?', answer: 'Right here.' }]
  const engine = await model({ script, otherwise: 'Pardon? "{question}"' })
  t.equal((await chat(engine, 'where are you')).text, 'Right here.')
  t.equal((await chat(engine, 'Who?')).text, 'Pardon? "Who?"')
})

t.test('an operator names scenarios, an agent names one of them', async (t) => {
  const settings = { scenarios: { llm: { polite: { otherwise: 'At your service.' } } } }
  t.equal((await chat(await model('polite', settings), 'Hello')).text, 'At your service.')
  t.equal((await chat(await model('default'), 'Hello')).text, 'You said: Hello')
  await t.rejects(model('rude', settings), /there are default, polite/)
})

t.test('tokens come no sooner than the scenario says', async (t) => {
  const engine = await model({ firstTokenMs: 60, tokensPerSecond: 100, otherwise: 'one two three four five' })
  const started = performance.now()
  let firstMs = 0
  for await (const _ of engine.chat({ chatCtx: asked('Hello') })) firstMs ||= performance.now() - started
  t.ok(firstMs >= 58, `first token after ${firstMs} ms`)
  t.ok(performance.now() - started >= 98)
})

t.test('faults strike before and after the first token, as the framework expects of a provider', async (t) => {
  const limited = await chat(await model({ fault: { kind: 'rate_limit' } }), 'Hello')
  t.same([limited.text, Reflect.get(limited.error ?? {}, 'statusCode')], ['', 429])
  const broken = await chat(
    await model({ otherwise: 'one two three', fault: { kind: 'disconnect', after: 2 } }),
    'Hello',
  )
  t.equal(broken.text, 'one two')
  t.match(broken.error, { name: 'APIConnectionError' })
  const once = await model({ fault: { kind: 'error', times: 1 } })
  const recovered = await chat(once, 'Hello', { maxRetry: 1, retryIntervalMs: 1, timeoutMs: 30_000 })
  t.equal(recovered.text, 'You said: Hello')
})

t.test('a hang lasts until the caller gives up', async (t) => {
  const stream = (await model({ fault: { kind: 'hang' } })).chat({ chatCtx: asked('Hello'), connOptions: RETRIES })
  setTimeout(() => stream.close(), 30)
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  t.same(chunks, [])
})

t.test('the tone lasts as long as the text would, and starts when the scenario says', async (t) => {
  const engine = await plugin.tts?.(host, { voice: JSON.stringify({ firstByteMs: 50 }), settings: {} })
  const started = performance.now()
  const stream = engine?.stream()
  stream?.pushText('Exactly thirty-one characters. ')
  stream?.endInput()
  let seconds = 0
  let firstMs = 0
  for await (const item of stream ?? []) {
    if (item === tts.SynthesizeStream.END_OF_STREAM) break
    firstMs ||= performance.now() - started
    seconds += item.frame.samplesPerChannel / item.frame.sampleRate
  }
  t.ok(firstMs >= 48, `first audio after ${firstMs} ms`)
  t.ok(seconds > 1.7 && seconds < 2, `${seconds} s`)
})

t.test('the tone comes in pieces as long as the scenario says', async (t) => {
  const pieces = async (scenario: object) => {
    const engine = await plugin.tts?.(host, { voice: JSON.stringify(scenario), settings: {} })
    const stream = engine?.stream()
    stream?.pushText('Exactly thirty-one characters. ')
    stream?.endInput()
    const lengthsMs: number[] = []
    for await (const item of stream ?? []) {
      if (item === tts.SynthesizeStream.END_OF_STREAM) break
      lengthsMs.push((item.frame.samplesPerChannel * 1_000) / item.frame.sampleRate)
    }
    return lengthsMs
  }
  // The last 20 ms wait until it is known whether more follows.
  t.strictSame((await pieces({})).slice(0, 3), [20, 20, 20])
  t.strictSame((await pieces({ pieceMs: 100 })).slice(0, 3), [80, 100, 100])
})

t.test('speech breaks off where the scenario says', async (t) => {
  const scenario = { fault: { kind: 'disconnect', after: 200 } }
  const engine = await plugin.tts?.(host, { voice: JSON.stringify(scenario), settings: {} })
  let error: Error | undefined
  engine?.on('error', (event) => {
    error = event.error
  })
  const stream = engine?.stream({ connOptions: RETRIES })
  stream?.pushText('This will not be heard to its end. ')
  stream?.endInput()
  let frames = 0
  for await (const _ of stream ?? []) frames++
  t.ok(frames <= 10 && frames >= 9, `${frames} frames`)
  t.match(error, { name: 'APIConnectionError' })
})
