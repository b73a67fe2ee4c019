import t from 'tap'
import { SpokenLanguage } from '../../../../../runtime/conversation/hearing/spoken-language.ts'
import { instructionsFor } from '../../../../../runtime/conversation/languages/instructions.ts'

t.test('an agent of one language speaks it, whatever the caller speaks', async (t) => {
  const spoken = new SpokenLanguage('de-AT')
  t.equal(spoken.heard('What time do you open?', 'en'), undefined)
  t.equal(spoken.tag, 'de-AT')
  t.equal(spoken.language.code, 'de')
  t.equal(new SpokenLanguage(undefined).language.code, 'en')
})

t.test('one of many follows the caller, as the recogniser names the language', async (t) => {
  const spoken = new SpokenLanguage('multi')
  t.equal(spoken.tag, 'en')
  t.equal(spoken.heard('¿A qué hora abren el sábado?', 'es'), 'es')
  t.equal(spoken.language.code, 'es')
  t.equal(spoken.heard('Wann öffnen Sie am Samstag?', 'de'), 'de')
})

t.test('where the recogniser names none, the words tell it', async (t) => {
  const spoken = new SpokenLanguage('multi')
  t.equal(spoken.heard('Wann haben Sie am Samstag geöffnet?', undefined), 'de')
  t.equal(spoken.heard('Quelle heure est-il pour vous ?', 'multi'), 'fr')
  t.equal(spoken.heard('Madrid', ''), 'fr', 'no words of any language change nothing')
})

t.test('a word or two change the language only when they come twice', async (t) => {
  const spoken = new SpokenLanguage('multi')
  t.equal(spoken.heard('Ja.', 'de'), 'en')
  t.equal(spoken.heard('Okay', 'en'), 'en')
  t.equal(spoken.heard('Ja.', 'de'), 'en')
  t.equal(spoken.heard('Genau.', 'de'), 'de')
})

t.test('the language model is told what to speak, on what terms, and what to say it is', async (t) => {
  const english = 'If you are asked whether you are a human, say that you are an AI.'
  t.equal(instructionsFor('You help.', undefined), `You help.\n\n${english}`)
  t.equal(instructionsFor('You help.', 'en-GB'), `You help.\n\nAlways speak British English. ${english}`)
  t.match(instructionsFor('You help.', 'de'), /sieze den Anrufer.*künstliche Intelligenz/)
  t.match(instructionsFor('You help.', 'de', { register: 'informal' }), /duze den Anrufer/)
  t.match(instructionsFor('You help.', 'de-CH'), /Schweizer Hochdeutsch, mit ss statt ß, und sieze/)
  t.match(instructionsFor('You help.', 'pt-PT'), /português europeu/)
  t.match(instructionsFor('You help.', 'es-MX'), /Latinoamérica/)
  t.match(instructionsFor('You help.', 'fr-CA'), /québécois/)
  t.equal(instructionsFor('You help.', 'ko'), `You help.\n\nAlways speak Korean. ${english}`)
  t.equal(instructionsFor('You help.', 'multi'), `You help.\n\nAnswer in the language the caller speaks. ${english}`)
})
