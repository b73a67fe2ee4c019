import { finishedLog, killVoiceWorker, makeAgent } from '../../../scripts/demo/call.ts'
import type { CallLog, RestClient, SessionToken } from '../../../scripts/demo/rest.ts'
import { AGENT } from '../../../scripts/demo/script.ts'
import { withRoom } from '../../../scripts/demo/with-room.ts'
import type { Instance } from '../instance/instance.ts'
import type { Teardown } from '../instance/services.ts'
import type { SoundCard } from '../phone/sound-card.ts'
import { servePage, startBrowser } from './browser.ts'
import { PAGE_MICROPHONE, speakScript } from './page-microphone.ts'

/** As long as anything of a call in a browser may take on a loaded machine. */
export const LIMIT_MS = 150_000
/** Root mean square of what is a voice, not silence. */
const AUDIBLE = 0.01
/** Until what was said is understood, if it is. */
const UNDERSTOOD_MS = 3_000
const QUESTION = 'Tell me more about your company.'
const SECOND = 'How much does delivery cost?'

/** A page of any browser. */
export interface TestPage {
  goto(url: string): Promise<unknown>
  evaluate<T>(script: string): Promise<T>
}

/** Minutes long: whenever somebody is understood who speaks over it, it is still being said. */
export const LONG_GREETING = `Welcome to the Harbour Bistro. ${'Today we have herring, plaice, cod, mussels, crab and soup. '.repeat(30)}`

const HTML = `<!doctype html><script type="module">
import { PatchbayCall } from 'SERVER/client/v1/patchbay.js'
window.PatchbayCall = PatchbayCall
</script>`

const CALL = `
window.told = []
window.heardMs = 0
while (window.PatchbayCall === undefined) await new Promise((resolve) => setTimeout(resolve, 10))
MICROPHONE
BEFORE
window.call = new PatchbayCall({
  session: () => (SESSION),
  transport: TRANSPORT,
  tools: { show_room: async ({ id }) => ({ title: 'room ' + id + ' with a sea view' }) },
})
for (const name of ['state', 'transcript', 'interrupted', 'error', 'ended']) {
  call.on(name, (value) => told.push([name, name === 'error' ? value.message : value, performance.now()]))
}
call.on('level', ({ side, level }) => {
  if (side === 'agent' && level > AUDIBLE) heardMs = performance.now()
})
await call.start()
`

export interface OpenCall {
  rest: RestClient
  callLogId: string
  evaluate<T>(script: string): Promise<T>
  /** Waits until the script holds in the page. */
  comes(script: string): Promise<void>
  said(role: 'user' | 'assistant', text: RegExp): Promise<void>
  /** The agent sounds or has sounded: since the call began, or since these words were first told. */
  heard(role?: 'user' | 'assistant', words?: RegExp): Promise<void>
  /** The microphone hears it; resolves when it is said. */
  speak(text: string): Promise<void>
  /** Says it until these words of it are understood: a browser that just opened its microphone still adapts to the room. */
  ask(text: string, words: RegExp): Promise<void>
}

/** That a greeting was cut short: `LONG_GREETING`, as the call log has it. */
export function wasCutShort({ transcript }: Pick<CallLog, 'transcript'>): boolean {
  const [greeting] = transcript
  return greeting?.role === 'assistant' && greeting.interrupted === true && isPartOf(greeting.text, LONG_GREETING)
}

const isPartOf = (text: string, whole: string): boolean => whole.startsWith(text) && text.length < whole.trim().length

export interface OpenCallOptions {
  /** Default: one of a Chromium of its own. */
  page?: TestPage
  /** What the browser's own microphone says; without it, and without a sound card, the page has one that `speak`s. */
  speech?: readonly (string | number)[]
  card?: SoundCard
  /** Of a proxy before the server. */
  port?: number
  agent?: Record<string, unknown>
  transport?: string
  /** Runs in the page before its call. */
  before?: string
  /** Further ones of Chromium. */
  args?: readonly string[]
}

/** A page that has called the demo's agent. */
export async function openCall(t: Teardown, instance: Instance, options: OpenCallOptions): Promise<OpenCall> {
  const { speech, card, port, agent = {}, transport = 'auto', before = '', args = [] } = options
  const { rest, agentId } = await makeAgent(instance.url, { ...AGENT, first_message: '', ...agent })
  const page: TestPage =
    options.page ?? (await (await startBrowser(t, { speech: speech ?? [], args, ...(card && { card }) })).newPage())
  await page.goto(await servePage(t, HTML.replace('SERVER', instance.url)))
  const open = async () => {
    const session = await rest.send<SessionToken & { webrtc: unknown }>(
      'GET',
      `/calls/generate-token?agent_id=${agentId}`,
    )
    const url = new URL(session.realtime_url)
    if (port !== undefined) url.port = String(port)
    const script = CALL.replace('AUDIBLE', String(AUDIBLE))
      .replace('MICROPHONE', () => (speech === undefined && card === undefined ? PAGE_MICROPHONE : ''))
      .replace('BEFORE', () => before)
      .replace('SESSION', JSON.stringify({ realtime_url: url.href, webrtc: session.webrtc }))
      .replace('TRANSPORT', JSON.stringify(transport))
    await evaluate(`(async () => {${script}})()`)
    return session
  }
  const evaluate = <T>(script: string) => page.evaluate<T>(script)
  const session = await withRoom(open)
  const comes = async (condition: string) => {
    const isSo = await evaluate<boolean>(`new Promise((resolve) => {
      const endMs = performance.now() + ${LIMIT_MS}
      const look = () => {
        const isSo = Boolean(${condition})
        // Nothing comes of a call that is over.
        if (isSo || performance.now() > endMs || told.some(([name]) => name === 'ended')) resolve(isSo)
        else setTimeout(look, 20)
      }
      look()
    })`)
    if (!isSo) throw new Error(`Waited in vain for ${condition}: ${JSON.stringify(await evaluate('told'))}`)
  }
  const speak = async (text: string) => {
    if (card === undefined) await evaluate(await speakScript(text))
    else await card.speak(text)
  }
  const isOf = (role: string, text: RegExp) =>
    `([name, one]) => name === 'transcript' && one.role === '${role}' && ${text}.test(one.text)`
  const wordsOf = (role: string, text: RegExp) => `told.some(${isOf(role, text)})`
  const timeOf = (role: string, text: RegExp) => `told.find(${isOf(role, text)})?.[2]`
  const understood = (text: RegExp) => wordsOf('user', text).replace(' && ', ' && one.final && ')
  return {
    rest,
    callLogId: session.call_log_id,
    evaluate,
    comes,
    said: (role, text) => comes(wordsOf(role, text)),
    heard: (role, words) => comes(`heardMs > (${role && words ? timeOf(role, words) : 0})`),
    speak,
    async ask(text, words) {
      const endMs = performance.now() + LIMIT_MS
      while (!(await evaluate<boolean>(understood(words)))) {
        const isOver = await evaluate<boolean>("told.some(([name]) => name === 'ended')")
        if (isOver || performance.now() > endMs) {
          throw new Error(`Not understood: ${JSON.stringify(await evaluate('told'))}`)
        }
        await speak(text)
        await new Promise((resolve) => setTimeout(resolve, UNDERSTOOD_MS))
      }
    },
  }
}

/** Its call log, once it is over. */
export const logOf = ({ rest, callLogId }: OpenCall) => finishedLog(rest, callLogId, AbortSignal.timeout(LIMIT_MS))

/** Asks, kills the voice worker of the call, asks again, and hangs up. Returns the call log. */
export async function outliveVoiceWorker(call: OpenCall): Promise<CallLog> {
  await call.evaluate(`call.say(${JSON.stringify(QUESTION)})`)
  await call.said('assistant', /family business/)
  await killVoiceWorker(call.rest, call.callLogId, () => undefined, AbortSignal.timeout(LIMIT_MS))
  await call.evaluate(`call.say(${JSON.stringify(SECOND)})`)
  await call.said('assistant', /three euros/)
  await call.comes("call.state === 'connected'")
  await call.evaluate('call.end()')
  return logOf(call)
}
