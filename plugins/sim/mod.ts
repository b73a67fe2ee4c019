import { definePlugin, type PluginHost } from '../../runtime/plugin/contract.ts'
import { readLlmScenario, readSttScenario } from './scenario.ts'
import { SimCarrier } from './sim-carrier.ts'
import { sentencesOf } from './utterances/index.ts'
import { Vocabulary } from './vocabulary.ts'

/** A world for tests, demonstrations and benchmarks: see README.md. The speech libraries load with the first session that needs them. */
export default definePlugin({
  stt: async (host, { model, language, keyterms = [], settings }) => {
    const { SimSTT } = await import('./stt.ts')
    const scenario = readSttScenario(model, settings)
    const own = [
      ...strings(settings.utterances),
      ...(await utterancesOfFile(host, settings.utterancesFile)),
      ...(scenario.utterances ?? []),
      ...keyterms,
    ]
    const chosen = scenario.voices ?? (settings.voices === undefined ? undefined : strings(settings.voices))
    const vocabulary = vocabularyOf(host)
    // Rendered while the agent greets.
    return new SimSTT(scenario, async () => {
      const known = sentencesOf(language).map(({ utterances, voice }) =>
        vocabulary.templates([...utterances, ...own], chosen ?? [voice]),
      )
      return (await Promise.all(known)).flat()
    })
  },
  llm: async (_host, { model, settings }) => new (await import('./llm.ts')).SimLLM(readLlmScenario(model, settings)),
  telephony: (host, { settings }) => new SimCarrier(host, settings),
  tts: async (host, { voice, settings }) => (await import('./tts.ts')).makeTts(host.run.spawn, voice, settings),
})

const vocabularies = new WeakMap<AbortSignal, Vocabulary>()

/** One vocabulary for all sessions of a process: what an utterance sounds like is worked out once. */
function vocabularyOf(host: PluginHost): Vocabulary {
  let vocabulary = vocabularies.get(host.signal)
  if (!vocabulary) {
    vocabulary = new Vocabulary(host.run.spawn, host.signal)
    vocabularies.set(host.signal, vocabulary)
  }
  return vocabulary
}

/** A file with one utterance a line; needs read access to it. */
async function utterancesOfFile(host: PluginHost, path: unknown): Promise<string[]> {
  if (typeof path !== 'string') return []
  const text = new TextDecoder().decode(await host.read.bytes(path))
  return text.split(/\r?\n/).filter((line) => line.trim() !== '')
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}
