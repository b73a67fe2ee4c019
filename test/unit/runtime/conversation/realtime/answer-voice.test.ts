import { test } from 'tap'
import { Breakers } from '../../../../../runtime/conversation/providers/breaker.ts'
import { Chain } from '../../../../../runtime/conversation/providers/chain.ts'
import { AnswerAudio } from '../../../../../runtime/conversation/realtime/answer.ts'
import { answerVoices } from '../../../../../runtime/conversation/realtime/answer-voice.ts'
import { ResilientTts } from '../../../../../runtime/conversation/speaking/resilient-tts.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import { ToneTts } from '../support/providers.ts'

test('answers that speak in their own sound leave nothing behind at the agent’s voice', async (t) => {
  const voice = new ToneTts()
  const identity = { title: 'Tone' }
  const breaker = new Breakers().of('tts', 'tone', 'tone')
  const events = { failed: () => undefined }
  const chain = new Chain('tts', [{ instance: voice, provider: 'tone', identity, breaker }], systemClock, events)
  for (let i = 0; i < 20; i++) {
    new ResilientTts(answerVoices(new AnswerAudio(24_000), { provider: 'openai', identity }, chain), Math.random)
  }
  t.equal(voice.listenerCount('error'), 1)
})
