import { type ChatRequest, type Host, type LlmEvent, ProviderError } from '@patchbay/plugin'

const words = (text: string): string[] => text.match(/\s*\S+/g) ?? []

/** Says back the last question, word by word; at `PARROT_URL`, where it is set, it first asks whether it may. */
export async function* chat(
  host: Host,
  { messages, tools }: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<LlmEvent> {
  const url = host.env.get('PARROT_URL')
  if (url !== undefined) {
    const answer = await fetch(url, { signal }).catch(() => {
      throw new ProviderError('Parrot could not be reached', { fault: 'transient' })
    })
    if (!answer.ok) throw ProviderError.ofStatus('Parrot', answer.status, await answer.text())
  }
  const question = messages.findLast((message) => message.role === 'user')
  const last = messages.at(-1)
  const [tool] = tools
  if (tool !== undefined && last?.role === 'user' && /use the tool/i.test(last.content)) {
    yield { type: 'tool_call', id: crypto.randomUUID(), name: tool.name, arguments: '{"word":"hello"}' }
  } else {
    const said = last?.role === 'tool_result' ? last.content : question?.role === 'user' ? question.content : 'nothing'
    for (const word of words(`You said: ${said}`)) yield { type: 'text', text: word }
  }
  const inputTokens = messages.reduce(
    (sum, message) => sum + words('content' in message ? message.content : '').length,
    0,
  )
  yield {
    type: 'usage',
    inputTokens: Math.max(1, inputTokens),
    outputTokens: words(question?.role === 'user' ? question.content : '').length + 2,
  }
}
