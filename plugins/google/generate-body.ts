import type { ChatRequest } from '../../runtime/plugin-sdk/chat/chat-request.ts'
import { chatTurns, type TurnPart } from '../../runtime/plugin-sdk/chat/chat-turns.ts'

interface ModelChoice {
  model: string
  maxOutputTokens: number | undefined
  thinkingBudget: number | undefined
  thinkingLevel: string | undefined
  storeRequests: boolean
}

/** What came with a call of the model's own and goes back with it. */
export interface OwnCall {
  /** The model's id; undefined where it gave none. */
  id: string | undefined
  signature: string | undefined
}

/** The least that models since Gemini 3 think. Those of 2.5 take a budget instead, and older ones neither. */
const LEAST_LEVELS: readonly (readonly [models: RegExp, level: string])[] = [
  [/^gemini-(3\.[78]|3(\.1)?-pro|4|pro-latest)/, 'LOW'],
  [/^gemini-(3|flash-latest|flash-lite-latest)/, 'MINIMAL'],
]
/** Models that pass over a temperature, or will refuse it. */
const NO_TEMPERATURE = /^gemini-([4-9]|3\.[78])/

/** Stands for the signature of a call that another model made: ai.google.dev/gemini-api/docs/thought-signatures. */
const FOREIGN_CALL = 'skip_thought_signature_validator'

/** The body of a request for content: ai.google.dev/api/generate-content. `signatureOf`: what came with a call of the model's own. */
export function generateBody(
  request: ChatRequest,
  choice: ModelChoice,
  ownCall: (callId: string) => OwnCall | undefined,
): object {
  const { system, turns } = chatTurns(request)
  const { tools, temperature } = request
  const { model, maxOutputTokens, storeRequests } = choice
  const thinkingConfig = thinkingOf(choice)
  const part = (one: TurnPart): object => {
    switch (one.type) {
      case 'text':
        return { text: one.text }
      case 'call':
        return callPart(one, ownCall(one.id))
      case 'result':
        return {
          functionResponse: { ...idOf(ownCall(one.id)), name: one.name, response: { output: one.text } },
        }
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
      ...(temperature === undefined || NO_TEMPERATURE.test(model) ? {} : { temperature }),
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      ...(thinkingConfig === undefined ? {} : { thinkingConfig }),
    },
    // Projects keep requests unless they are told not to.
    store: storeRequests,
  }
}

function thinkingOf({ model, thinkingBudget, thinkingLevel }: ModelChoice): object | undefined {
  const least = LEAST_LEVELS.find(([models]) => models.test(model))?.[1]
  if (least !== undefined) return { thinkingLevel: thinkingLevel?.toUpperCase() ?? least }
  const budget = thinkingBudget ?? (/^gemini-2\.5-flash/.test(model) ? 0 : undefined)
  return budget === undefined ? undefined : { thinkingBudget: budget }
}

const idOf = (own: OwnCall | undefined) => (own?.id === undefined ? {} : { id: own.id })

/** Gemini signs the first of several calls alone; a call that another model made has the mark for it. */
function callPart({ name, input }: { name: string; input: object }, own: OwnCall | undefined): object {
  const signature = own === undefined ? FOREIGN_CALL : own.signature
  return {
    functionCall: { ...idOf(own), name, args: input },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }
}
