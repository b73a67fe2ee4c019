import t from 'tap'
import { SentenceBuffer, splitSentences } from '../../../runtime/speech/sentences.ts'

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
