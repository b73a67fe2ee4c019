import { Type } from 'typebox'
import { AdmissionGate } from '../../runtime/admission/gate.ts'
import { joinSignals } from '../../runtime/lib/async/join-signals.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { unavailableFaults, unusableFaults, withDefaults } from '../agents/choices.ts'
import { requireMonth, requireProviders } from '../quota.ts'
import { defineRoute, Reply } from '../route.ts'
import { ValidationError } from '../schema.ts'

const TIMEOUT_MS = 20_000
const MAX_TEXT = 300
/** A sample at a time for each workspace: it is for an ear, and providers bill it. */
const speaking = new AdmissionGate({ kind: 'voice_sample', places: 8, mostOfOne: 1, maxWaiting: 50 })

const VoiceSampleInput = Type.Object({
  TTS_provider: Type.String({ minLength: 1, maxLength: 200 }),
  TTS_voice: Type.String({ minLength: 1, maxLength: 4_000 }),
  language: Type.Optional(Type.String({ maxLength: 35, description: 'A language tag, as an agent names it.' })),
  text: Type.String({ minLength: 1, maxLength: MAX_TEXT, description: 'What it says.' }),
})

const sample = defineRoute({
  method: 'POST',
  path: '/voices/sample',
  auth: 'jwt_or_key',
  role: 'developer',
  scope: 'agents',
  audit: ['TTS_provider', 'TTS_voice'],
  body: VoiceSampleInput,
  success: {
    status: 200,
    schema: Type.String(),
    contentType: 'audio/wav',
    description: 'WAV of 16-bit PCM in stereo, both sides alike.',
  },
  errors: ['provider_fault', 'plugin', 'quota_reached', 'unavailable', 'timeout'],
  tag: 'Providers',
  summary: 'A voice says a sentence',
  description:
    'To hear a voice before an agent has it. Samples of a workspace are spoken one after the other; the provider bills them as it does calls, and they are not counted in costs.',
  examples: {
    body: { TTS_provider: 'offline', TTS_voice: 'en-us', language: 'en', text: 'Hello, how can I help you?' },
  },
  handler: async ({ body, tenant, signal }, services) => {
    const { TTS_provider: provider, TTS_voice: voice, language, text } = body
    const { plugins, providerHealth, defaultProviders } = services
    const own = plugins.keys.of(tenant.workspaceId)
    const choices = withDefaults(
      { agent_name: '', system_prompt: '', TTS_provider: provider, TTS_voice: voice },
      plugins.catalogue,
      defaultProviders,
    )
    const faults = unavailableFaults(choices, plugins.catalogue, ['TTS'])
    const unusable = faults.length > 0 ? [] : await unusableFaults(choices, ['TTS'], providerHealth, own)
    if (faults.length + unusable.length > 0) throw new ValidationError([...faults, ...unusable])
    await requireProviders(services, tenant, { TTS_provider: provider })
    await requireMonth(services, tenant)
    const late = new AbortController()
    const params = { action: 'The voice', timeoutMs: TIMEOUT_MS }
    const timer = setTimeout(() => late.abort(new PatchbayError('timeout', { params })), TIMEOUT_MS)
    const limit = joinSignals(signal, late.signal)
    let leave: (() => void) | undefined
    try {
      leave = await speaking.enter({ workspaceId: tenant.workspaceId }, limit)
      const { speakText } = await import('./speak.ts')
      const wav = await speakText(
        { ...plugins.withKeys(own), titleOf: plugins.titleOf },
        { provider, voice, language: language === 'multi' ? undefined : language, text },
        limit,
      )
      return new Reply({
        body: wav,
        headers: [
          ['content-type', 'audio/wav'],
          ['cache-control', 'no-store'],
        ],
      })
    } finally {
      clearTimeout(timer)
      leave?.()
    }
  },
})

export const voiceRoutes = [sample]
