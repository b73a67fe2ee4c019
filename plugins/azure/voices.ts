import type { ListedVoice, PluginHost } from '../../runtime/plugin/contract.ts'
import { endpointOf } from './endpoint.ts'

interface AzureVoice {
  ShortName?: string
  DisplayName?: string
  Locale?: string
  SecondaryLocaleList?: string[]
}

/** The voices of the region: learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech. */
export async function listVoices(host: PluginHost, signal: AbortSignal): Promise<ListedVoice[]> {
  const response = await endpointOf(host).speak.fetch('/cognitiveservices/voices/list', { signal })
  const voices = (await response.json()) as AzureVoice[]
  return voices.flatMap(({ ShortName, DisplayName, Locale, SecondaryLocaleList = [] }) =>
    ShortName === undefined
      ? []
      : [
          {
            voice: ShortName,
            name: DisplayName ?? ShortName,
            languages: [...new Set([...(Locale ? [Locale] : []), ...SecondaryLocaleList])],
          },
        ],
  )
}
