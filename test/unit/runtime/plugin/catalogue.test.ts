import t from 'tap'
import { defaultsOf, languagesOf, listedLanguage } from '../../../../runtime/plugin/catalogue.ts'

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
