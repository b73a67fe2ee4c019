import { generateBody } from '../../../plugins/google/generate-body.ts'
import plugin from '../../../plugins/google/mod.ts'
import { CONVERSATIONS } from '../conversations.ts'
import { converse } from '../converse.ts'
import { speak } from '../use-speech.ts'
import { messageRequests, type Vendor, type WireRequest } from './vendor.ts'

const SDK = "import('./package/dist/genai.js')"

export const google: Vendor = {
  types: {
    Generate: `{
      contents: Wire<${SDK}.Content>[]; systemInstruction?: Wire<${SDK}.Content>; tools?: Wire<${SDK}.Tool>[];
      generationConfig?: Wire<${SDK}.GenerationConfig>; store?: boolean
    }`,
    Live: `Wire<Omit<${SDK}.LiveClientMessage, 'toolResponse'>> & { toolResponse?: { functionResponses?: Wire<${SDK}.FunctionResponse>[] } }`,
  },
  async requests({ llm, tts, realtime }, recorder) {
    const limits = { maxOutputTokens: 400, thinkingBudget: undefined, thinkingLevel: undefined, storeRequests: false }
    const requests: WireRequest[] = (llm?.models ?? []).flatMap((model) =>
      CONVERSATIONS.map((conversation) => {
        const value = generateBody(conversation, { model, ...limits }, () => undefined)
        return { type: 'Generate', about: model, value }
      }),
    )
    const host = recorder.host({})
    const { models = [], voices = [], defaultModel = '', defaultVoice = '' } = tts ?? {}
    const spoken = [
      ...models.map((model) => ({ model, voice: defaultVoice })),
      ...voices.map((voice) => ({ model: defaultModel, voice })),
    ]
    for (const { model, voice } of spoken) {
      const say = async () => speak(await plugin.tts?.(host, { voice, settings: { ttsModel: model } }))
      const request = await recorder.recordUntil(/streamGenerateContent$/, say)
      requests.push({ type: 'Generate', about: `${model} ${voice}`, value: request.body as object })
    }
    for (const model of realtime?.models ?? []) {
      const session = await plugin.realtime?.(host, { model, settings: {} })
      requests.push(...messageRequests('Live', model, session === undefined ? [] : await converse(session)))
    }
    return requests
  },
}
