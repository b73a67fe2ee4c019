import t from 'tap'
import { piecesOf, SentenceBuffer, splitSentences } from '../../../../../runtime/plugin-sdk/speech/sentences.ts'

t.test('abbreviations and decimals do not end a sentence', async (t) => {
  t.same(splitSentences('Ask for Dr. Smith. It costs 3.50 euros! Really?'), [
    'Ask for Dr. Smith.',
    'It costs 3.50 euros!',
    'Really?',
  ])
})

t.test('sentences of scripts without spaces are found', async (t) => {
  t.same(splitSentences('我们九点开门。请问您需要什么？', 'zh'), ['我们九点开门。', '请问您需要什么？'])
})

t.test('a growing text gives each sentence once, as soon as the next one begins', async (t) => {
  const buffer = new SentenceBuffer()
  const seen: string[] = []
  for (const token of 'We open at nine. It costs 3.50 euros. Bye'.match(/\s*\S+/g) ?? [])
    seen.push(...buffer.push(token))
  t.same(seen, ['We open at nine.', 'It costs 3.50 euros.'])
  t.same(buffer.flush(), ['Bye'])
  t.same(buffer.flush(), [])
})

t.test('a text without any sentence end is cut between words', async (t) => {
  const buffer = new SentenceBuffer('en', 20)
  t.same(buffer.push('one two three four five six'), ['one two three four five'])
  t.same(buffer.flush(), ['six'])
})

t.test('a run of abbreviations is one sentence', async (t) => {
  t.same(splitSentences(`${'A. '.repeat(100)}Smith. Next.`), [`${'A. '.repeat(100)}Smith.`, 'Next.'])
})

t.test('a long text is given in pieces that are the whole text', async (t) => {
  const text = `One. Two! ${'very '.repeat(300)}long. ${'x'.repeat(700)}😀${'!'.repeat(1_300)} End.`
  const pieces = [...piecesOf(text, 600)]
  t.equal(pieces.join(''), text)
  t.ok(pieces.every(({ length }) => length <= 600))
  t.ok(pieces.every((piece) => piece.isWellFormed()))
  t.same([...piecesOf('One. Two.', 600)], ['One. Two.'])
})

t.test('what has no letter and no digit is no sentence for a voice', async (t) => {
  const buffer = new SentenceBuffer('en')
  const said = ['Yes. ', '** ', '… ', '🙂 ', '— ', 'At nine. ', '|---|---|'].flatMap((piece) => buffer.push(piece))
  t.same(
    [...said, ...buffer.flush()]
      .join(' ')
      .replace(/[^\p{L}\p{N}. ]/gu, '')
      .replace(/ +/g, ' ')
      .trim(),
    'Yes. At nine.',
  )
  for (const empty of ['*', '**', '…', '—', '🙂', '|---|---|']) {
    const alone = new SentenceBuffer('en')
    t.same([...alone.push(empty), ...alone.flush()], [], empty)
  }
})
