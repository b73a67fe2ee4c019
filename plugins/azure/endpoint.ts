import type { PluginHost } from '../../runtime/plugin/contract.ts'
import type { ProviderIdentity } from '../../runtime/plugin-sdk/provider-error.ts'
import { type ProviderHttp, providerHttp } from '../../runtime/plugin-sdk/provider-http.ts'

const NO_KEY = 'none'

export const AZURE: ProviderIdentity = { title: 'Azure Speech', keyVariable: 'AZURE_SPEECH_KEY' }

/** The servers of the operator's region, or the one that stands for both. Without a slash at their ends. */
export function endpointOf(host: PluginHost): { listen: string; speak: ProviderHttp; headers: Record<string, string> } {
  const own = host.env.get('AZURE_SPEECH_BASE_URL')?.replace(/\/+$/, '')
  const region = host.env.get('AZURE_SPEECH_REGION')
  const headers = { 'ocp-apim-subscription-key': host.env.get('AZURE_SPEECH_KEY') || NO_KEY }
  const base = (kind: 'stt' | 'tts') => own || `https://${region}.${kind}.speech.microsoft.com`
  return { listen: base('stt'), speak: providerHttp(host, AZURE, base('tts'), headers), headers }
}

/** Azure wants a country with each language. */
const LOCALES: Readonly<Record<string, string>> = {
  ...{ ar: 'ar-EG', ca: 'ca-ES', cs: 'cs-CZ', da: 'da-DK', el: 'el-GR', en: 'en-US', et: 'et-EE', fil: 'fil-PH' },
  ...{ he: 'he-IL', hi: 'hi-IN', ja: 'ja-JP', ko: 'ko-KR', ms: 'ms-MY', nb: 'nb-NO', no: 'nb-NO', pt: 'pt-BR' },
  ...{ sl: 'sl-SI', sr: 'sr-RS', sv: 'sv-SE', ta: 'ta-IN', uk: 'uk-UA', vi: 'vi-VN', zh: 'zh-CN' },
}

export function localeOf(language: string): string {
  if (language.includes('-')) return language
  return LOCALES[language] ?? `${language}-${language.toUpperCase()}`
}
