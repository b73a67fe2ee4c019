import t from 'tap'
import {
  checkChoice,
  defaultsOf,
  isRealtimeModel,
  languagesOf,
  listedLanguage,
  makeCatalogue,
} from '../../../../runtime/plugin/catalogue.ts'

const VOICES = {
  voices: ['thalia-en', 'celeste-es', 'nestor-es', 'de', 'pt-br'],
  languages: ['en', 'es', 'es-419', 'de', 'pt'],
  languagesOf: { '*-en': ['en'], '*-es': ['es', 'es-419'] },
  defaultVoice: 'thalia-en',
  defaultVoices: { es: 'nestor-es' },
}

t.test('a language is taken as the provider lists it', async (t) => {
  t.equal(listedLanguage(VOICES, 'celeste-es', 'es-419'), 'es-419')
  t.equal(listedLanguage(VOICES, 'celeste-es', 'es-MX'), 'es', 'without its region')
  t.equal(listedLanguage(VOICES, 'celeste-es', 'en'), undefined)
  t.equal(listedLanguage(VOICES, 'other', 'de-CH'), 'de', 'the list of the kind')
  t.equal(listedLanguage(VOICES, 'other', 'ja'), undefined)
  t.equal(listedLanguage({}, 'any', 'ja-JP'), 'ja-JP', 'no list takes any')
  t.same(languagesOf({ languages: [] }, undefined), undefined)
  t.same(languagesOf({ languagesOf: { 'a.b': ['en'] } }, 'axb'), undefined, 'a dot is a dot')
})

t.test('a default knows the language of the agent where one does', async (t) => {
  const voice = (language?: string) => defaultsOf(VOICES, language).voice
  t.equal(voice(), 'thalia-en')
  t.equal(voice('en-GB'), 'thalia-en')
  t.equal(voice('es-MX'), 'nestor-es')
  t.equal(voice('de-AT'), 'de', 'the voice that bears its name')
  t.equal(voice('pt-BR'), 'pt-br')
  t.equal(voice('ja'), 'thalia-en', 'none does: the choice is refused by who checks it')
  const models = { models: ['ink-2', 'ink-whisper'], languages: ['en', 'de'], languagesOf: { 'ink-2': ['en'] } }
  t.equal(defaultsOf(models, 'de').model, 'ink-whisper')
  t.equal(defaultsOf(models, 'en').model, 'ink-2')
})

const folder = (options?: Record<string, unknown>, models?: string[]): never =>
  ({
    name: 'acme',
    manifest: {
      provides: {
        llm: { ...(models && { models: ['writes'] }) },
        realtime: {
          ...(models && { models, ends: { gone: { on: '2026-01-01', successor: 'speaks', source: '', checked: '' } } }),
          names: ['speaks-*'],
          namesOption: 'own',
        },
      },
    },
    ...(options && { settings: { options } }),
  }) as never

t.test(
  'a speech-to-speech model is taken where a language model is named, and refused once it has ended',
  async (t) => {
    const catalogue = makeCatalogue([folder(undefined, ['speaks', 'gone'])])
    const check = (model: string) => checkChoice(catalogue, 'llm', { provider: 'acme', model })
    t.equal(check('speaks'), undefined)
    t.equal(check('writes'), undefined)
    t.match(check('other'), { field: 'model', available: ['writes', 'speaks', 'gone'] })
    t.match(check('gone'), { ended: /use "speaks"/ })
    t.ok(isRealtimeModel(catalogue, 'acme', 'speaks'))
    t.notOk(isRealtimeModel(catalogue, 'acme', 'writes'))
  },
)

t.test('at another server the name or the operator tells which models are of speech to speech', async (t) => {
  const catalogue = makeCatalogue([folder({ own: ['my-voice'] })])
  t.equal(checkChoice(catalogue, 'llm', { provider: 'acme', model: 'anything' }), undefined)
  for (const model of ['speaks-9', 'my-voice']) t.ok(isRealtimeModel(catalogue, 'acme', model), model)
  t.notOk(isRealtimeModel(catalogue, 'acme', 'anything'))
})
