import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import type { ServerMessage } from '../../../api/realtime/messages.ts'
import { dialAgent, finishedLog, makeAgent } from '../../../scripts/demo/call.ts'
import { voiceProcess } from '../../../scripts/demo/voice-process.ts'
import { startInstance } from '../../support/instance/instance.ts'
import { hurry } from '../../support/world/hurry.ts'
import { waitUntil } from '../../support/world/wait-until.ts'

/** Turns of the call; `USAGE_TURNS=200` by hand. */
const TURNS = Number(process.env.USAGE_TURNS ?? 16)
/** In each of so many turns the worker is killed while the model is asked. */
const KILL_EVERY = 8
/** The turns of these in which the caller cuts into a long answer: one well before the kill, and the one right before it. */
const CUTS_AT: readonly number[] = [3, KILL_EVERY - 1]
const LIMIT_MS = 120_000 + TURNS * 20_000
const PROMPT = `You are the receptionist of the Hotel Aurora in Lisbon. ${'Rooms cost 80 euros, 120 euros and 210 euros, breakfast included. '.repeat(40)}`

const tokensOf = (text: string): number => text.match(/\p{L}{1,7}|\p{N}{1,3}|[^\s\p{L}\p{N}]/gu)?.length ?? 0

const SENTENCE = ' Breakfast is served from seven to eleven on the terrace, or in the hall when it rains.'
/** Samples of 24 kHz for a letter. */
const SAMPLES_PER_CHARACTER = 480

/** A language model and a voice that count all they are asked and give, also to those who are gone. */
async function countingModel() {
  const counted = { input: 0, output: 0, requests: 0, characters: 0, waitsMs: 0, isLong: false }
  const speak = (text: string, response: ServerResponse): void => {
    const { input } = JSON.parse(text) as { input: string }
    counted.characters += input.length
    response.writeHead(200, { 'content-type': 'audio/pcm' })
    response.end(Buffer.from(new Int16Array(input.length * SAMPLES_PER_CHARACTER).fill(6_000).buffer))
  }
  const answer = async (text: string, response: ServerResponse): Promise<void> => {
    const { messages } = JSON.parse(text) as { messages: { content?: string | null }[] }
    const asked = messages.reduce((sum, { content }) => sum + 4 + tokensOf(content ?? ''), 3)
    counted.input += asked
    counted.requests++
    if (counted.waitsMs > 0) await sleep(counted.waitsMs)
    const words = `Yes, ${counted.requests}.${SENTENCE.repeat(counted.isLong ? 8 : 1)}`
    counted.output += tokensOf(words)
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const usage = { prompt_tokens: asked, completion_tokens: tokensOf(words), total_tokens: asked + tokensOf(words) }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(chunk({ content: words }, null) + chunk({}, 'stop'))
    response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`)
  }
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const piece of request) text += piece
    if (request.url?.endsWith('/chat/completions') === true) await answer(text, response)
    else if (request.url?.endsWith('/audio/speech') === true) speak(text, response)
    else response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { counted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

t.setTimeout(LIMIT_MS)

t.test(
  `tokens and characters agree with the providers’ own count over ${TURNS} turns, cut-off answers and killed workers`,
  { timeout: LIMIT_MS },
  async (t) => {
    const { counted, url } = await countingModel()
    const env = { OPENAI_BASE_URL: url, OPENAI_API_KEY: 'k', PATCHBAY_VOICE_WORKERS: '2' }
    const instance = await startInstance(t, env)
    hurry()
    const signal = AbortSignal.timeout(LIMIT_MS)
    const { rest, agentId } = await makeAgent(instance.url, {
      ...{
        LLM_provider: 'openai',
        LLM_model: 'some-model',
        STT_provider: 'sim',
        TTS_provider: 'openai',
      },
      ...{ agent_name: 'Aurora', system_prompt: PROMPT, first_message: 'Hello.', dead_air: { enabled: false } },
    })
    const { caller, callLogId } = await dialAgent(rest, agentId, signal)
    const heard: string[] = []
    caller.on('message', (message: ServerMessage) => {
      if (message.type === 'transcript' && message.role === 'assistant' && message.final) heard.push(message.text)
    })
    await waitUntil(
      () => heard.length > 0,
      () => 'the greeting',
    )
    /** The process that serves the call. */
    const serving = async (): Promise<number | undefined> => {
      const taken: string[] = []
      for (let page = 1, last = 1; page <= last; page++) {
        const events = await rest.send<{ items: { type: string; worker?: string }[]; total_pages: number }>(
          'GET',
          `/calls/${callLogId}/events?page_size=200&page=${page}`,
        )
        last = events.total_pages
        for (const { type, worker } of events.items) {
          if (worker !== undefined && (type === 'worker_taken' || type === 'resumed')) taken.push(worker)
        }
      }
      return voiceProcess(taken.at(-1) ?? '')
    }
    let killed = 0
    for (let turn = 1; turn <= TURNS; turn++) {
      const { requests, characters } = counted
      const kills = turn % KILL_EVERY === 0
      const cutsIn = CUTS_AT.includes(turn % KILL_EVERY)
      counted.waitsMs = kills ? 1_000 : 0
      counted.isLong = cutsIn
      let pid = 0
      if (kills) {
        await waitUntil(
          async () => {
            pid = (await serving()) ?? 0
            return pid > 0
          },
          () => `the process that serves the call in turn ${turn}`,
        )
      }
      caller.type(`Question ${turn}: is breakfast included?`)
      if (kills) {
        await waitUntil(
          () => counted.requests > requests,
          () => `the model to be asked in turn ${turn}`,
        )
        process.kill(pid, 'SIGKILL')
        killed++
        counted.waitsMs = 0
      }
      if (cutsIn) {
        await waitUntil(
          () => counted.characters > characters,
          () => `the voice to be asked in turn ${turn}`,
        )
        continue
      }
      await waitUntil(
        () => counted.requests > requests && heard.some((text) => text.includes(`Yes, ${counted.requests}.`)),
        () => `an answer in turn ${turn}: ${JSON.stringify(heard.slice(-3))}`,
      )
    }
    await caller.hangUp(signal)
    const { usage } = await finishedLog(rest, callLogId, signal)
    t.comment(JSON.stringify({ killed, counted, usage }))
    t.equal(killed, Math.floor(TURNS / KILL_EVERY))
    const agree = (ours: number, theirs: number, what: string) =>
      t.ok(Math.abs(ours - theirs) <= 0.02 * theirs, `${ours} of ${theirs} ${what}`)
    agree(usage.llm_input_tokens, counted.input, 'tokens in')
    agree(usage.llm_output_tokens, counted.output, 'tokens out')
    agree(usage.tts_characters, counted.characters, 'characters')
  },
)
