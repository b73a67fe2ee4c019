import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { checkRequests } from '../../../scripts/provider-currency/check-requests.ts'
import { testFolder } from '../../support/instance/services.ts'

/** A vendor's package of these files. */
async function unpacked(t: Test, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await testFolder(t)
  for (const [name, text] of Object.entries(files)) {
    const file = join(folder, 'package', name)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
  }
  return folder
}

const CHAT = `model: string; messages: { role: string; content?: string | null; tool_calls?: object[]; tool_call_id?: string }[];
  stream: true; stream_options?: object; tools?: object[]; temperature?: number; max_completion_tokens?: number; prompt_cache_key?: string`
const openai = (fields: string) => ({
  'index.d.ts': `export declare namespace OpenAI { interface ChatCompletionCreateParamsStreaming { ${fields} } }\n`,
})
const REASONING = { llm: { models: ['gpt-6-luna', 'gpt-4o'] } }

t.test('a request that the vendor’s types refuse is told with the reason, and one they take is not', async (t) => {
  const taken = await checkRequests(
    'openai',
    REASONING,
    await unpacked(t, openai(`${CHAT}; reasoning_effort?: string`)),
  )
  t.same(taken, { requests: 4, faults: [], unjudged: [] })
  const refused = await checkRequests('openai', REASONING, await unpacked(t, openai(CHAT)))
  t.equal(refused?.faults.length, 2, 'those of the model that reasons')
  t.match(refused?.faults[0], /Chat of gpt-6-luna: .*reasoning_effort/)
  t.equal(await checkRequests('sip', {}, ''), undefined)
})

const TURNS = 'resources/stt/auto-finalize/auto-finalize.d.ts'
const cartesia = (query: string, message = "{ type: 'close' }") => ({
  [TURNS]: `export interface AutoFinalizeWebsocketParams { ${query} }
export type STTAutoFinalizeWebsocketRequest = ${message}\n`,
  'resources/stt/auto-finalize/internal-base.js': "const endpoint = '/stt/turns/websocket'\n",
})
const QUERY = "model: string; encoding: 'pcm_s16le'; sample_rate: number; keyterm?: string[]"
const TURNS_ALONE = { stt: { models: ['ink-2'] } }

t.test('the address, the query and the messages of a socket are judged as they were sent', async (t) => {
  const check = async (files: Record<string, string>) => {
    return (await checkRequests('cartesia', TURNS_ALONE, await unpacked(t, files)))?.faults
  }
  t.same(await check(cartesia(QUERY)), [])
  t.match(await check(cartesia(QUERY.replace('number', "'16khz'"))), [/Turns of ink-2: .*"16000".*"16khz"/])
  t.match(await check(cartesia(QUERY, "{ type: 'done' }")), [/TurnsMessage of ink-2: .*"close".*"done"/])
  const moved = { ...cartesia(QUERY), 'resources/stt/auto-finalize/internal-base.js': "'/v2/stt/websocket'" }
  t.match(await check(moved), [/Turns: .* does not name \/stt\/turns\/websocket/])
})

t.test('a type that takes everything judges nothing, and is told', async (t) => {
  const open = await unpacked(t, cartesia(`${QUERY}; [name: string]: unknown`, 'any'))
  t.match((await checkRequests('cartesia', TURNS_ALONE, open))?.faults, [
    /the type Turns, which takes fields of any name/,
    /the type TurnsMessage, which takes everything/,
    /the type TurnsMessage, which takes fields of any name/,
  ])
  const none = await unpacked(t, { 'resources/stt/auto-finalize/internal-base.js': "'/stt/turns/websocket'" })
  t.match((await checkRequests('cartesia', TURNS_ALONE, none))?.faults[0], /the type Turns: .*Cannot find module/)
})

t.test('a carrier’s requests and documents are judged by what its SDK lists', async (t) => {
  const options = ['answerMethod', 'hangupUrl', 'hangupMethod', 'machineDetection', 'machineDetectionUrl']
  const more = ['answerUrl', 'machineDetectionMethod']
  const text = (names: string[]) => names.map((name) => ` * @param {string} [params.${name}] It.\n`).join('')
  const plivo = (names: string[], stream: string) => ({
    'dist/resources/call.js': `/**\n * Create a call\n${text(names)} * @param {number} [params.ringTimeout] It.\n */
/**\n * Transfer a Call\n${text(['legs', 'alegUrl', 'alegMethod'])} */\n`,
    'dist/utils/plivoxml.js': `
function Response() { this.element = 'Response'; this.valid_attributes = [] }
function Hangup() { this.element = 'Hangup'; this.valid_attributes = ['reason'] }
function Dial() { this.element = 'Dial'; this.valid_attributes = ['callerId'] }
function Number() { this.element = 'Number'; this.valid_attributes = [] }
function Stream() { this.element = 'Stream'; this.valid_attributes = [${stream}] }\n`,
  })
  const attributes = "'bidirectional', 'audioTrack', 'contentType', 'extraHeaders'"
  const all = await unpacked(t, plivo([...options, ...more], `${attributes}, 'keepCallAlive'`))
  t.same((await checkRequests('plivo', {}, all))?.faults, [])
  const fewer = await unpacked(t, plivo([...options, 'answerUrl'], attributes))
  t.match((await checkRequests('plivo', {}, fewer))?.faults, [
    /create of POST .*machine_detection_method/,
    /Stream of <Stream>: .*keepCallAlive/,
  ])
})
