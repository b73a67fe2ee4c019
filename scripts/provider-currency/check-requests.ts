import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messagesBody } from '../../plugins/anthropic/messages-body.ts'
import { generateBody } from '../../plugins/google/generate-body.ts'
import { AS_OPENAI, chatBody } from '../../plugins/openai/chat-body.ts'
import type { ChatRequest } from '../../runtime/plugin-sdk/chat/chat-request.ts'

const run = promisify(execFile)
const TSC = join(import.meta.dirname, '../../node_modules/.bin/tsc')
const LIMIT_MS = 180_000

/** A conversation with a tool's call, its result and a temperature, and one without any of it. */
const CONVERSATIONS: readonly ChatRequest[] = [
  {
    messages: [
      { role: 'system', content: 'You are brief.' },
      { role: 'user', content: 'Two rooms, please.' },
      { role: 'assistant', content: 'One moment.' },
      { role: 'tool_call', id: 'call_1', name: 'book', arguments: '{"guests":2}' },
      { role: 'tool_result', id: 'call_1', name: 'book', content: '{"room":12}' },
      { role: 'user', content: 'Thank you.' },
    ],
    tools: [
      {
        name: 'book',
        description: 'Books rooms',
        parameters: { type: 'object', properties: { guests: { type: 'number' } }, required: ['guests'] },
      },
    ],
    temperature: 0.7,
  },
  { messages: [{ role: 'user', content: 'Hello?' }], tools: [] },
]

interface Vendor {
  /** Types of the vendor, and `Request` made of them; the package lies beside. */
  types: string
  body(request: ChatRequest, model: string): object
}

const VENDORS: Readonly<Record<string, Vendor>> = {
  openai: {
    types: `import type { OpenAI } from './package/index.js'
type Request = OpenAI.ChatCompletionCreateParamsStreaming`,
    body: (request, model) => {
      const choice = { model, isOpenAI: true, reasoningEffort: undefined, maxCompletionTokens: 400 }
      return chatBody(request, choice, AS_OPENAI)
    },
  },
  anthropic: {
    // The API takes a temperature of models before Claude 5; the SDK's types name it no more since 1.0.
    types: `import type Anthropic from './package/index.js'
type Request = Anthropic.MessageCreateParamsStreaming & { temperature?: number }`,
    body: (request, model) => messagesBody(request, { model, maxTokens: 1024, effort: undefined }),
  },
  google: {
    types: `import type { Content, GenerationConfig, Tool } from './package/dist/genai.js'
type Written<T> = T extends string ? \`\${T}\` : T extends (infer I)[] ? Written<I>[] : T extends object ? { [K in keyof T]: Written<T[K]> } : T
type Request = {
  contents: Written<Content>[]
  systemInstruction?: Written<Content>
  tools?: Written<Tool>[]
  generationConfig?: Written<GenerationConfig>
  store?: boolean
}`,
    body: (request, model) =>
      generateBody(
        request,
        { model, maxOutputTokens: 400, thinkingBudget: undefined, thinkingLevel: undefined, storeRequests: false },
        () => undefined,
      ),
  },
}

/**
 * What the vendor's own types refuse in our requests for these models, in the compiler's words; undefined: no request of ours is
 * held against this package.
 * @param folder where the package was unpacked
 */
export async function checkRequests(
  plugin: string,
  models: readonly string[],
  folder: string,
): Promise<{ requests: number; faults: string[] } | undefined> {
  const vendor = VENDORS[plugin]
  if (vendor === undefined) return undefined
  const bodies = models.flatMap((model) => CONVERSATIONS.map((request) => vendor.body(request, model)))
  const lines = bodies.map((body) => `check(${JSON.stringify(body)})`)
  const file = join(folder, 'requests.ts')
  await writeFile(file, `${vendor.types}\nconst check = (_: Request): void => {}\n${lines.join('\n')}\n`)
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024']
  const told = await run(TSC, [...options, '--ignoreConfig', '--types', '', '--pretty', 'false', file], {
    timeout: LIMIT_MS,
  }).catch((error: { stdout?: string }) => ({ stdout: error.stdout || String(error) }))
  const faults = told.stdout.split('\n').filter((line) => /error/i.test(line))
  return { requests: bodies.length, faults: faults.map((line) => line.slice(0, 300)) }
}
