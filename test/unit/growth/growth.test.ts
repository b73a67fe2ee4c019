import t from 'tap'
import { answer } from '../../../plugins/offline/answer.ts'
import { parseSdp } from '../../../plugins/sip/media/sdp.ts'
import { parseDigestAnswer } from '../../../plugins/sip/message/digest.ts'
import { parseNameAddress, parseUri, parseVia } from '../../../plugins/sip/message/grammar.ts'
import { redact } from '../../../plugins/sip/trace/redact.ts'
import { isBackchannel } from '../../../runtime/conversation/hearing/barge-in.ts'
import { isEchoOf } from '../../../runtime/conversation/hearing/echo-words.ts'
import { SpokenLanguage } from '../../../runtime/conversation/hearing/spoken-language.ts'
import { readConsent } from '../../../runtime/conversation/languages/consent.ts'
import { detectLanguage } from '../../../runtime/conversation/languages/detect.ts'
import { LANGUAGES } from '../../../runtime/conversation/languages/index.ts'
import { plain } from '../../../runtime/conversation/languages/plain.ts'
import { ReadAloud, readAloud } from '../../../runtime/conversation/speaking/read-aloud.ts'
import { SpokenMarkup, spokenMarkup } from '../../../runtime/conversation/speaking/spoken-markup.ts'
import { SpokenText } from '../../../runtime/conversation/speaking/spoken-text.ts'
import { restOf } from '../../../runtime/conversation/stages/rest-of.ts'
import { fillVariables } from '../../../runtime/conversation/variables.ts'
import { documentText } from '../../../runtime/knowledge/blocks.ts'
import { approximateTokens, chunk } from '../../../runtime/knowledge/chunking.ts'
import { termsOf } from '../../../runtime/knowledge/terms.ts'
import { Pronunciation } from '../../../runtime/plugin-sdk/speech/pronunciation.ts'
import { piecesOf, SentenceBuffer, splitSentences } from '../../../runtime/plugin-sdk/speech/sentences.ts'
import { growsWithItsInput } from '../../support/source/growth.ts'

/** What callers, visitors and providers say takes time that grows with it: it is read beside the audio of all. */

const english = LANGUAGES[0]
const spoken = ['. ', 'A. ', '!', '"', 'yes ', 'sono ', 'hinterlass', '中']

t.test('speech', async (t) => {
  await growsWithItsInput(t, 'splitSentences', (text) => splitSentences(text), { tokens: spoken })
  await growsWithItsInput(t, 'splitSentences in German', (text) => splitSentences(text, 'de'), {
    tokens: [...spoken, 'z. B. '],
  })
  await growsWithItsInput(t, 'piecesOf', (text) => [...piecesOf(text, 600)], { tokens: spoken })
  await growsWithItsInput(
    t,
    'SentenceBuffer',
    (text) => {
      const buffer = new SentenceBuffer()
      for (const piece of piecesOf(text, 600)) buffer.push(piece)
      return buffer.flush()
    },
    { tokens: spoken },
  )
  const marks = ['*', '_a ', '`', '~', '<', '<!--', '<script>', '[a](', '&', '\\', '😀 ', '| a ', '> ', '1. ', '\n']
  await growsWithItsInput(t, 'spokenMarkup', (text) => spokenMarkup(text), { tokens: marks })
  await growsWithItsInput(
    t,
    'SpokenMarkup in pieces',
    (text) => {
      const markup = new SpokenMarkup()
      for (let at = 0; at < text.length; at += 4) markup.push(text.slice(at, at + 4))
      return markup.flush()
    },
    { tokens: marks },
  )
  const figures = ['1', '1 ', '1,', '12:', '1-', 'a@', 'a.', '€1 ', 'EUR ', '(1', 'z. B. ', '2026-01-01 ']
  await growsWithItsInput(t, 'readAloud', (text) => readAloud(text, 'de'), { tokens: figures })
  await growsWithItsInput(
    t,
    'ReadAloud in pieces',
    (text) => {
      const reading = new ReadAloud('de')
      for (let at = 0; at < text.length; at += 4) reading.push(text.slice(at, at + 4))
      return reading.flush()
    },
    { tokens: figures },
  )
  const entries = [
    { word: 'a a', say: 'b' },
    { word: 'A. b', say: 'c' },
    { word: 'SQL', say: 'sequel' },
    { word: '!!!', say: 'wow' },
    { word: ' x', say: 'x' },
  ]
  await growsWithItsInput(
    t,
    'Pronunciation',
    (text) => {
      const pronunciation = new Pronunciation(entries)
      pronunciation.push(text)
      return pronunciation.flush()
    },
    { tokens: spoken },
  )
  await growsWithItsInput(
    t,
    'Pronunciation in pieces',
    (text) => {
      const pronunciation = new Pronunciation(entries)
      for (let at = 0; at < text.length; at += 64) pronunciation.push(text.slice(at, at + 64))
      return pronunciation.flush()
    },
    { tokens: spoken },
  )
  await growsWithItsInput(t, 'SpokenText', (text) => {
    const said = new SpokenText()
    said.add(text)
    for (let i = 0; i < text.length / 64; i++) said.time('unheard', i)
    return said.heardBy(1e9, undefined)
  })
})

t.test('words', async (t) => {
  await growsWithItsInput(t, 'plain', plain, { tokens: spoken })
  await growsWithItsInput(t, 'isBackchannel', (text) => isBackchannel(text, english), { tokens: spoken })
  await growsWithItsInput(t, 'isEchoOf', (text) => isEchoOf(text, 'we open at nine'), { tokens: spoken })
  await growsWithItsInput(t, 'isEchoOf itself', (text) => isEchoOf(text, text), { tokens: spoken })
  await growsWithItsInput(t, 'restOf', (text) => restOf(text, `${text.slice(0, text.length / 2)}y`), { tokens: spoken })
  await growsWithItsInput(t, 'detectLanguage', (text) => detectLanguage(text), { tokens: spoken })
  await growsWithItsInput(t, 'SpokenLanguage', (text) => new SpokenLanguage('multi').heard(text, undefined), {
    tokens: spoken,
  })
  for (const language of LANGUAGES) {
    const named = { tokens: [...spoken, language.phrases.stillThere, 'ja ', 'no ', 'si ', 'はい'] }
    await growsWithItsInput(
      t,
      `readConsent in ${language.code}`,
      (text) => readConsent(text, language, LANGUAGES),
      named,
    )
  }
  await growsWithItsInput(
    t,
    'fillVariables',
    (text) => fillVariables(text, { a: 'b' }, { field: 'x', maxBytes: 1e9 }),
    {
      tokens: ['{{', '}}', '{{a}}', '{{ '],
    },
  )
  await growsWithItsInput(t, 'termsOf', (text) => termsOf(text), { tokens: spoken })
  await growsWithItsInput(t, 'documentText', documentText, { tokens: spoken })
  await growsWithItsInput(t, 'approximateTokens', approximateTokens, { tokens: spoken })
  await growsWithItsInput(t, 'chunk', (text) => [...chunk([{ kind: 'text', text }])], { tokens: spoken })
})

t.test('the offline model', async (t) => {
  const tokens = ['where ', '[', '|', '](']
  const asked = (text: string) => answer({ sources: ['We open at nine.'], turns: [{ role: 'user', text }] })
  await growsWithItsInput(t, 'a question', asked, { tokens })
  const turns = [{ role: 'user', text: 'when do you open?' }] as const
  await growsWithItsInput(t, 'a prompt', (text) => answer({ sources: [text], turns }), {
    tokens: ['[', '|'],
    most: 4_096,
  })
})

t.test('SIP', async (t) => {
  const tokens = ['a=crypto:', 'inline:', '\r\n', '-']
  const message = (text: string) => `INVITE sip:a@b SIP/2.0\r\nc: application/sdp\r\n\r\n${text}`
  await growsWithItsInput(t, 'redact', (text) => redact(Buffer.from(message(text))), { tokens })
  await growsWithItsInput(t, 'redact a head', (text) => redact(Buffer.from(`INVITE sip:a@b SIP/2.0\r\n${text}`)), {
    tokens,
  })
  await growsWithItsInput(t, 'parseSdp', (text) => parseSdp(Buffer.from(text)), { tokens })
  await growsWithItsInput(t, 'parseNameAddress', parseNameAddress, { tokens: ['"', '<', ';', '@'] })
  await growsWithItsInput(t, 'parseUri', (text) => parseUri(`sip:${text}`), { tokens: ['@', ';', '?', '.'] })
  await growsWithItsInput(t, 'parseVia', (text) => parseVia(`SIP/2.0/UDP ${text}`), { tokens: ['/', ';', ':', '='] })
  await growsWithItsInput(t, 'parseDigestAnswer', (text) => parseDigestAnswer(`Digest ${text}`), {
    tokens: ['"', ',', '=', '\\'],
  })
})
