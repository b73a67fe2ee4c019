import t from 'tap'
import type { Block } from '../../../../runtime/knowledge/blocks.ts'
import { approximateTokens, chunk } from '../../../../runtime/knowledge/chunking.ts'

const text = (text: string): Block => ({ kind: 'text', text })
const heading = (level: number, text: string): Block => ({ kind: 'heading', level, text })
const record = (text: string): Block => ({ kind: 'record', text })
const chunks = (blocks: Block[], targetTokens = 40, overlapTokens = 12) => [
  ...chunk(blocks, { targetTokens, overlapTokens }),
]

t.test('a chunk stands under its headings and never crosses one', async (t) => {
  const blocks = [
    text('Before.'),
    heading(1, 'A'),
    heading(2, 'B'),
    text('In B.'),
    heading(2, 'C?'),
    text('In C.'),
    heading(1, 'D'),
  ]
  t.same(chunks(blocks), ['Before.', 'A > B:\nIn B.', 'A > C?\nIn C.'])
})

t.test('chunks end with sentences, stay in their size and repeat the end of the one before', async (t) => {
  const sentences = Array.from({ length: 20 }, (_, i) => `Sentence number ${i} says a little.`)
  const made = chunks([text(sentences.join(' '))])
  for (const piece of made) {
    t.ok(approximateTokens(piece) <= 44, piece)
    t.ok(piece.endsWith('little.'))
  }
  for (let i = 1; i < made.length; i++) {
    const first = made[i]!.slice(0, made[i]!.indexOf('.') + 1)
    t.ok(made[i - 1]!.includes(first), `${first} is in the chunk before`)
  }
  for (const sentence of sentences) t.ok(made.some((piece) => piece.includes(sentence)))
})

t.test('records stay whole and are not repeated', async (t) => {
  const records = Array.from({ length: 9 }, (_, i) => `name: Thing ${i}; price: ${i}; colour: blue`)
  const made = chunks(records.map(record))
  t.same(
    made.flatMap((piece) => piece.split('\n')),
    records,
  )
})

t.test('text without spaces or sentence ends is cut to size without tearing characters', async (t) => {
  const made = chunks([text('😀'.repeat(500)), text('字'.repeat(300)), record('x'.repeat(1000))])
  for (const piece of made) t.ok(approximateTokens(piece) <= 44 && piece.isWellFormed())
  t.equal(made.join('').match(/x/g)?.length, 1000)
  t.equal(made.join('').match(/字/g)?.length, 300)
})

t.test('headings that would fill the chunk give way', async (t) => {
  const [piece] = chunks([heading(1, 'Long '.repeat(200)), heading(2, 'Short'), text('Words.')])
  t.equal(piece, 'Short:\nWords.')
})
