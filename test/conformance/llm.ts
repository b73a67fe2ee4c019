import { llm, type metrics } from '@livekit/agents'
import type { Test } from 'tap'
import {
  checkClassified,
  checkNamed,
  collect,
  DEFAULT_LIMIT_MS,
  errorsOf,
  inTime,
  ONE_ATTEMPT,
  releasesAll,
  type Suite,
  withInstance,
} from './support.ts'

export interface LlmSuite extends Suite<llm.LLM> {
  /** Instructions and a question whose answer has several words. */
  instructions?: string
  question?: string
}

const INSTRUCTIONS = 'You are the agent of a shop. The shop is at 12 Pier Street. It is open from nine to five.'

/** What every language model must do, whoever provides it. */
export async function runLlmConformance(t: Test, suite: LlmSuite): Promise<void> {
  const { make, makeFailing, instructions = INSTRUCTIONS, question = 'Where is the shop?' } = suite
  const { limitMs = DEFAULT_LIMIT_MS } = suite
  const ask = (model: llm.LLM, text = question): llm.LLMStream => {
    const chatCtx = llm.ChatContext.empty()
    chatCtx.addMessage({ role: 'system', content: instructions })
    chatCtx.addMessage({ role: 'user', content: text })
    return model.chat({ chatCtx, connOptions: ONE_ATTEMPT })
  }
  const toolless = (model: llm.LLM): llm.LLMStream => {
    const chatCtx = llm.ChatContext.empty()
    chatCtx.addMessage({ role: 'system', content: instructions })
    chatCtx.addMessage({ role: 'user', content: question })
    return model.chat({ chatCtx, toolCtx: llm.ToolContext.empty(), connOptions: ONE_ATTEMPT })
  }
  const textOf = (chunks: readonly llm.ChatChunk[]): string => chunks.map(({ delta }) => delta?.content ?? '').join('')

  await t.test('it says who it is', async (t) => {
    await withInstance(make, async (model) => checkNamed(t, model))
  })

  await t.test('an answer streams in pieces of one id and reports its usage', async (t) => {
    await withInstance(make, async (model) => {
      const errors = errorsOf(model)
      const chunks = await collect(ask(model), limitMs)
      t.same(errors, [])
      t.ok(textOf(chunks).trim(), `the answer is "${textOf(chunks)}"`)
      t.ok(chunks.filter(({ delta }) => delta?.content).length > 1, 'it comes in more than one piece')
      t.ok(chunks[0]?.id, 'a chunk has an id')
      t.equal(new Set(chunks.map(({ id }) => id)).size, 1, 'all chunks have the same id')
      t.ok(chunks.every(({ delta }) => !delta || delta.role === 'assistant'))
      const usages = chunks.flatMap(({ usage }) => (usage ? [usage] : []))
      t.equal(usages.length, 1, 'usage is reported once')
      const [usage] = usages
      t.ok(usage && usage.promptTokens > 0 && usage.completionTokens > 0)
      t.equal(usage?.totalTokens, (usage?.promptTokens ?? 0) + (usage?.completionTokens ?? 0))
    })
  })

  await t.test('an agent without tools is answered as any other', async (t) => {
    await withInstance(make, async (model) => {
      const errors = errorsOf(model)
      t.ok(textOf(await collect(toolless(model), limitMs)).trim())
      t.same(errors, [])
    })
  })

  await t.test('metrics carry the usage of the answer', async (t) => {
    await withInstance(make, async (model) => {
      const reported = Promise.withResolvers<metrics.LLMMetrics>()
      model.on('metrics_collected', reported.resolve)
      const chunks = await collect(ask(model), limitMs)
      const measured = await inTime(reported.promise, limitMs, 'metrics')
      const usage = chunks.find((chunk) => chunk.usage)?.usage
      t.equal(measured.completionTokens, usage?.completionTokens)
      t.equal(measured.promptTokens, usage?.promptTokens)
      t.ok(measured.ttftMs >= 0, 'with the time to the first token')
    })
  })

  await t.test('closing in the middle of an answer ends the stream and releases everything', async (t) => {
    await releasesAll(t, async () => {
      await withInstance(make, async (model) => {
        const errors = errorsOf(model)
        const stream = ask(model)
        const first = await inTime(stream.next(), limitMs, 'the first chunk')
        t.not(first.done, true)
        stream.close()
        stream.close()
        await collect(stream, limitMs)
        t.same(errors, [], 'being closed is no error')
      })
    })
  })

  await t.test('closing before the first chunk ends the stream', async (t) => {
    await releasesAll(t, async () => {
      await withInstance(make, async (model) => {
        const stream = ask(model)
        stream.close()
        t.same(textOf(await collect(stream, limitMs)), '')
      })
    })
  })

  await t.test('answers given at once don’t mix', async (t) => {
    await withInstance(make, async (model) => {
      const answers = await Promise.all([ask(model), ask(model), ask(model)].map((stream) => collect(stream, limitMs)))
      t.equal(new Set(answers.map((chunks) => chunks[0]?.id)).size, 3, 'each has its own id')
      t.ok(answers.every((chunks) => new Set(chunks.map(({ id }) => id)).size === 1))
      t.ok(answers.every((chunks) => textOf(chunks).trim()))
    })
  })

  await t.test('an empty question and an empty conversation are answered or refused, not hung on', async (t) => {
    await withInstance(make, async (model) => {
      for (const stream of [
        ask(model, ''),
        model.chat({ chatCtx: llm.ChatContext.empty(), connOptions: ONE_ATTEMPT }),
      ]) {
        const errors = errorsOf(model)
        const chunks = await collect(stream, limitMs)
        if (errors.length > 0) checkClassified(t, errors)
        else t.ok(Array.isArray(chunks))
      }
    })
  })

  await t.test('closing it twice is harmless', async () => {
    const model = await make()
    await model.aclose()
    await model.aclose()
  })

  const options = 'skip' in makeFailing ? { skip: makeFailing.skip } : {}
  await t.test('a provider that fails is reported, classified, and ends the stream', options, async (t) => {
    if ('skip' in makeFailing) return
    await withInstance(makeFailing, async (model) => {
      const errors = errorsOf(model)
      t.equal(textOf(await collect(ask(model), limitMs)), '')
      checkClassified(t, errors)
    })
  })
}
