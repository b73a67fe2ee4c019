import type { ChatRequest } from '../../runtime/plugin-sdk/speech/chat-request.ts'
import { chatTurns, type TurnPart } from '../../runtime/plugin-sdk/speech/chat-turns.ts'

export interface ModelChoice {
  model: string
  maxOutputTokens: number | undefined
  thinkingBudget: number | undefined
}

/** Stands for the signature of a call that another model made: ai.google.dev/gemini-api/docs/thought-signatures. */
const FOREIGN_CALL = 'skip_thought_signature_validator'

/** The body of a request for content: ai.google.dev/api/generate-content. `signatureOf`: what came with a call of the model's own. */
export function generateBody(
  request: ChatRequest,
  { model, maxOutputTokens, thinkingBudget }: ModelChoice,
  signatureOf: (callId: string) => string | undefined,
): object {
  const { system, turns } = chatTurns(request)
  const { tools, temperature } = request
  const budget = thinkingBudget ?? (/^gemini-2\.5-flash/.test(model) ? 0 : undefined)
  const part = (one: TurnPart): object => {
    switch (one.type) {
      case 'text':
        return { text: one.text }
      case 'call':
        return {
          functionCall: { name: one.name, args: one.input },
          thoughtSignature: signatureOf(one.id) ?? FOREIGN_CALL,
        }
      case 'result':
        return { functionResponse: { name: one.name, response: { output: one.text } } }
    }
  }
  return {
    contents: turns.map(({ role, parts }) => ({ role: role === 'user' ? 'user' : 'model', parts: parts.map(part) })),
    ...(system === '' ? {} : { systemInstruction: { parts: [{ text: system }] } }),
    ...(tools.length === 0
      ? {}
      : {
          tools: [
            {
              functionDeclarations: tools.map(({ name, description, parameters }) => ({
                name,
                description,
                parametersJsonSchema: parameters,
              })),
            },
          ],
        }),
    generationConfig: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(budget === undefined ? {} : { thinkingConfig: { thinkingBudget: budget } }),
    },
  }
}
