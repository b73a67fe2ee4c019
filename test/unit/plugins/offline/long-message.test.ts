import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { initializeLogger, llm } from '@livekit/agents'
import t from 'tap'
import { offlineLlm } from '../../../../plugins/offline/llm.ts'

initializeLogger({ pretty: false, level: 'silent' })

/** Whoever chats with an agent of the offline model shares its loop with calls: the longest message must not hold it up. */

const MAX_HOLD_MS = 20
const CHARS = 15 * 1_024
const PROMPT =
  'You answer for Aurora. We open at nine and close at six. Our address is 1 Main Street. Parking is free. '

/** Processor time of this thread: what other processes of a busy machine do counts nothing. */
const ranMs = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6

const MANY_TOOLS = Array.from({ length: 128 }, (_, at) =>
  llm.tool({
    name: `find_shop_${at}`,
    description: 'Says where a shop is and when it opens. '.repeat(40),
    parameters: {
      type: 'object',
      properties: { day: { type: 'string' }, shop: { type: 'integer' } },
      required: ['day'],
    },
    execute: async () => undefined,
  }),
)

async function longestHoldMs(message: string, tools: llm.FunctionTool[]): Promise<number> {
  const context = llm.ChatContext.empty()
  context.addMessage({ role: 'system', content: PROMPT.repeat(20) })
  for (let i = 0; i < (tools.length === 0 ? 1 : 10); i++) context.addMessage({ role: 'user', content: message })
  const stream = offlineLlm().chat({ chatCtx: context, toolCtx: tools })
  let isOver = false
  const read = (async () => {
    for await (const _ of stream);
    isOver = true
  })()
  let longestMs = 0
  while (!isOver) {
    const fromMs = ranMs()
    await turn()
    longestMs = Math.max(longestMs, ranMs() - fromMs)
  }
  await read
  return longestMs
}

for (const [whose, tools] of [
  ['of an agent', []],
  ['after nine others, of an agent with 128 tools,', MANY_TOOLS],
] as const) {
  t.test(`a message of 15 KB ${whose} does not hold the loop`, { skip: process.platform !== 'linux' }, async (t) => {
    const words = 'where is your shop and when do you open on a sunday in may '
    for (const piece of [
      words,
      'a',
      '. ',
      '? ',
      '[',
      'where ',
      '中',
      'é',
      '* ',
      "'s ",
      '1 ',
      'a@',
      'at 7 ',
      'my name is ',
    ]) {
      const message = piece.repeat(Math.ceil(CHARS / piece.length)).slice(0, CHARS)
      // The least of some tries: what is compiled and collected meanwhile is not the message's.
      let holdMs = Number.POSITIVE_INFINITY
      for (let i = 0; i < 5 && holdMs > MAX_HOLD_MS; i++)
        holdMs = Math.min(holdMs, await longestHoldMs(message, [...tools]))
      t.ok(holdMs <= MAX_HOLD_MS, `${JSON.stringify(piece)}: ${holdMs.toFixed(1)} ms`)
    }
  })
}
