import { randomUUID } from 'node:crypto'
import type { OpenConversation } from '../../call/link/linked-conversation.ts'
import type { CallEvent } from '../../call/log/events.ts'
import type { AgentSpec, SessionLimits } from '../../call/types/agent-spec.ts'
import { conversations } from '../../conversation/conversations.ts'
import { Breakers } from '../../conversation/providers/breaker.ts'
import { loadModels } from '../../conversation/providers/models.ts'
import { identityIn } from '../../conversation/providers/providers.ts'
import { Fillers } from '../../conversation/speaking/fillers.ts'
import { type Clock, systemClock } from '../../lib/clock.ts'
import { prepareOpusRepair } from '../../media/codecs/opus-repair.ts'
import { Pacer } from '../../media/line/pacer.ts'
import { closeInstance, type PluginRegistry } from '../../plugin/host.ts'
import type { LoopbackCall } from '../../plugin-sdk/telephony/carrier.ts'
import { NO_TRUNKS } from '../../plugin-sdk/telephony/trunk.ts'
import type { Logger } from '../../process/log.ts'
import type { CallerWords, TestCaller } from '../caller.ts'
import type { AgentTest, PhoneLine } from '../schema.ts'
import { CallerPhone } from './caller-phone.ts'
import { directLine } from './direct-line.ts'
import { type RecordedSound, recordedWords } from './recorded-words.ts'
import { SimulatedVoice } from './simulated-voice.ts'
import { SpokenCall, type SpokenCallOptions } from './spoken-call.ts'

/** The carrier whose calls over loopback the channel of the same name makes. */
const SIP = 'sip'
const WIDE_RATE_HZ = 16_000
const NARROW_RATE_HZ = 8_000
const OPUS_RATE_HZ = 48_000

interface RunAloud extends Pick<SpokenCallOptions, 'callTool' | 'handoffs' | 'lookUp' | 'tell' | 'signal'> {
  agent: AgentSpec
  limits: SessionLimits
  caller: TestCaller
  recordedSound: RecordedSound
}

/** Where tests are run in sound: the models and the beat that the conversations of a process share, as in a voice worker. */
export class SoundRoom {
  readonly #plugins: PluginRegistry
  readonly #clock: Clock
  readonly #pacer: Pacer
  readonly #openConversation: OpenConversation

  private constructor(plugins: PluginRegistry, pacer: Pacer, clock: Clock, openConversation: OpenConversation) {
    this.#plugins = plugins
    this.#pacer = pacer
    this.#clock = clock
    this.#openConversation = openConversation
  }

  static async open(plugins: PluginRegistry, log: Logger, clock: Clock = systemClock): Promise<SoundRoom> {
    const models = await loadModels('error')
    const pacer = new Pacer(clock, (err) => log.error({ err }, 'A test in sound failed at its tick'))
    const openConversation = conversations({
      ...{ providers: plugins, identityOf: identityIn(plugins), breakers: new Breakers(), fillers: new Fillers() },
      ...{ random: Math.random, models, pacer, clock, log },
      observer: { turn: () => undefined, failure: () => undefined, audioLost: () => undefined },
    })
    return new SoundRoom(plugins, pacer, clock, openConversation)
  }

  /** Runs the test's conversation, in real time, and returns its log. Throws as SpokenCall does, and what a provider throws. */
  async run(
    { caller: given }: AgentTest,
    { agent, caller, recordedSound, ...options }: RunAloud,
  ): Promise<CallEvent[]> {
    const { line = {}, voice: named } = given
    const language = given.language ?? spokenLanguage(agent)
    const keys = this.#plugins.keys.of(agent.workspaceId)
    const voice = await SimulatedVoice.open(this.#plugins.withKeys(keys), named, language)
    const soundOf = ({ say, recordedTurn }: CallerWords, rateHz: number): Promise<Int16Array> =>
      given.recorded_call === undefined || recordedTurn === undefined
        ? voice.render(say, rateHz)
        : recordedWords(recordedSound, { callId: given.recorded_call, turn: recordedTurn }, rateHz, options.signal)
    try {
      const call = await this.#callOver(given.channel === 'sip', line, options.signal)
      const spoken = new SpokenCall({
        ...{ ...options, agent: this.#knowing(agent, given), keys, call, callId: `test-${randomUUID()}` },
        ...{ openConversation: this.#openConversation, clock: this.#clock },
        takePhone: (leg, failed) =>
          new CallerPhone({
            ...{ leg, caller, soundOf, line, failed, pacer: this.#pacer, clock: this.#clock, random: Math.random },
          }),
      })
      return await spoken.run()
    } finally {
      await voice.close()
    }
  }

  async #callOver(isSip: boolean, line: PhoneLine, signal: AbortSignal): Promise<LoopbackCall> {
    const { codec, loss = 0, jitter_ms: jitterMs = 0 } = line
    if (codec === 'opus') await prepareOpusRepair()
    if (!isSip) return directLine(formatOf(codec), { loss, jitterMs }, Math.random)
    const carrier = await this.#plugins.create('telephony', SIP, { trunks: NO_TRUNKS })
    if (carrier.loopback === undefined)
      throw new Error('This installation has no SIP: `channel: sip` needs the plugin sip')
    const call = await carrier.loopback({ loss, jitterMs, codec: LINE_CODEC_OF[codec ?? 'pcmu'] }, signal)
    return { ...call, close: () => call.close().finally(() => closeInstance(carrier)) }
  }

  /** A recogniser that knows sentences and no speech is told the lines of the script. */
  #knowing(agent: AgentSpec, { say = [] }: AgentTest['caller']): AgentSpec {
    if (this.#plugins.catalogue.stt.get(agent.stt.provider)?.understands === undefined) return agent
    const lines = say.flatMap((line) => (typeof line === 'string' ? line : (line.say ?? [])))
    return { ...agent, keyterms: [...(agent.keyterms ?? []), ...lines] }
  }
}

const LINE_CODEC_OF = { pcmu: 'PCMU', pcma: 'PCMA', opus: 'OPUS' } as const

function formatOf(codec: PhoneLine['codec']) {
  if (codec === undefined) return { encoding: 'pcm_s16le', sampleRateHz: WIDE_RATE_HZ } as const
  return { encoding: codec, sampleRateHz: codec === 'opus' ? OPUS_RATE_HZ : NARROW_RATE_HZ }
}

/** What callers of the agent speak, as far as it is one language. */
function spokenLanguage({ language }: AgentSpec): string {
  return language === undefined || language === 'multi' ? 'en' : language
}
