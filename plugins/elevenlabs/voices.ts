import type { ListedVoice, PluginHost } from '../../runtime/plugin/contract.ts'
import { providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'
import { ELEVENLABS, endpointOf } from './endpoint.ts'

const PAGE_SIZE = 100
const MAX_PAGES = 10

interface VoicePage {
  voices?: {
    voice_id?: string
    name?: string
    preview_url?: string | null
    labels?: { language?: string } | null
    verified_languages?: { language?: string }[] | null
  }[]
  has_more?: boolean
  next_page_token?: string | null
}

/** The voices of the account: elevenlabs.io/docs/api-reference/voices/search. */
export async function listVoices(host: PluginHost, signal: AbortSignal): Promise<ListedVoice[]> {
  const { base, headers } = endpointOf(host)
  const http = providerHttp(host, ELEVENLABS, base, headers)
  const voices: ListedVoice[] = []
  let token = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ page_size: String(PAGE_SIZE), ...(token && { next_page_token: token }) })
    const response = await http.fetch(`/v2/voices?${query}`, { signal })
    const body = (await response.json()) as VoicePage
    for (const { voice_id, name, preview_url, labels, verified_languages } of body.voices ?? []) {
      if (voice_id === undefined) continue
      const languages = [labels?.language, ...(verified_languages ?? []).map(({ language }) => language)]
      voices.push({
        voice: voice_id,
        name: name ?? voice_id,
        languages: [...new Set(languages.filter((tag) => tag !== undefined))],
        ...(preview_url ? { sampleUrl: preview_url } : {}),
      })
    }
    token = body.next_page_token ?? ''
    if (body.has_more !== true || token === '') break
  }
  return voices
}
