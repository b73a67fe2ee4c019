import { pino } from 'pino'
import { test } from 'tap'
import { Breakers } from '../../../../../runtime/conversation/providers/breaker.ts'
import type { ProviderSource } from '../../../../../runtime/conversation/providers/providers.ts'
import { WarmProviders } from '../../../../../runtime/conversation/providers/warm-providers.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { AGENT_SPEC } from '../../../../support/providers/agent-spec.ts'
import { ScriptedLlm, ScriptedStt, sourceOf, ToneTts } from '../support/providers.ts'

const none = { failed: () => undefined }

function warmed(source?: ProviderSource) {
  const told: string[] = []
  const llm = Object.assign(new ScriptedLlm(() => ''), {
    prewarm: () => void told.push('llm warmed'),
    aclose: async () => void told.push('llm closed'),
  })
  const voice = Object.assign(new ToneTts(), { prewarm: () => void told.push('voice warmed') })
  const providers = new WarmProviders({
    source: source ?? sourceOf({ stt: new ScriptedStt({ utterances: [] }), llm, tts: voice }),
    breakers: new Breakers(),
    clock: systemClock,
    log: pino({ level: 'silent' }),
  })
  return { providers, told, llm }
}

test('what was opened while a phone rang is the call’s, once', async (t) => {
  const { providers, told, llm } = warmed()
  providers.open('call', AGENT_SPEC)
  t.equal(await providers.take('another', none), undefined)
  const taken = await providers.take('call', none)
  t.equal(taken?.llm.first, llm)
  t.same(told, ['llm warmed', 'voice warmed'])
  t.equal(await providers.take('call', none), undefined)
  await providers.close()
  t.notOk(told.includes('llm closed'), 'whoever takes them releases them')
})

test('failures after that are told to the call', async (t) => {
  const { providers } = warmed()
  providers.open('call', AGENT_SPEC)
  const failures: string[] = []
  const taken = await providers.take('call', { failed: (stage, message) => void failures.push(`${stage}: ${message}`) })
  taken?.llm.failed(taken.llm.candidates[0]!, new Error('down'), undefined)
  t.match(failures, [/^llm: /])
})

test('what nobody took is released', async (t) => {
  const { providers, told } = warmed()
  providers.open('call', AGENT_SPEC)
  await providers.close()
  t.ok(told.includes('llm closed'))
  t.equal(await providers.take('call', none), undefined)
})

test('providers that can not be made ahead are left to the call', async (t) => {
  const { providers } = warmed({ create: () => Promise.reject<never>(new Error('no such provider')) })
  providers.open('call', AGENT_SPEC)
  t.equal(await providers.take('call', none), undefined)
})
