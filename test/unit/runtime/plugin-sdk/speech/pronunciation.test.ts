import t from 'tap'
import { Pronunciation } from '../../../../../runtime/plugin-sdk/speech/pronunciation.ts'

const WORDS = [
  { word: 'SQL', say: 'sequel' },
  { word: 'Lovelace', say: 'Love lace' },
  { word: 'Ada Lovelace', say: 'Aida Love lace' },
  { word: 'C++', say: 'C plus plus' },
]

const spoken = (pieces: readonly string[]): string => {
  const pronunciation = new Pronunciation(WORDS)
  return pieces.map((piece) => pronunciation.push(piece)).join('') + pronunciation.flush()
}

t.test('words are replaced where they stand alone, in any case', async (t) => {
  t.equal(spoken(['We use sql, not MySQL or SQLite.']), 'We use sequel, not MySQL or SQLite.')
  t.equal(spoken(['Ask Ada Lovelace or Lovelace.']), 'Ask Aida Love lace or Love lace.')
  t.equal(spoken(['I write C++ code']), 'I write C plus plus code')
  t.equal(spoken(['Nothing of it.']), 'Nothing of it.')
})

t.test('a text may be cut anywhere', async (t) => {
  const text = 'Is this SQL? No, ada  lovelace wrote it in C++.'
  const whole = spoken([text])
  t.equal(whole, 'Is this sequel? No, Aida Love lace wrote it in C plus plus.')
  for (let cut = 1; cut < text.length; cut++) t.equal(spoken([text.slice(0, cut), text.slice(cut)]), whole, `at ${cut}`)
  t.equal(spoken([...text]), whole, 'letter by letter')
})

t.test('only what may still change is held back', async (t) => {
  const pronunciation = new Pronunciation(WORDS)
  t.equal(pronunciation.push('Good morning, A'), 'Good morning, ')
  t.equal(pronunciation.push('nna. '), 'Anna. ')
  t.equal(new Pronunciation([]).push('SQ'), 'SQ')
})

t.test(
  'words of an entry may stand apart, and a long text is held back no further than an entry reaches',
  async (t) => {
    t.equal(spoken(['Ask Ada \n  Lovel', 'ace.']), 'Ask Aida Love lace.')
    const pronunciation = new Pronunciation(WORDS)
    const text = `${'word '.repeat(20_000)}Ada`
    t.equal(pronunciation.push(text), text.slice(0, -3))
    t.equal(new Pronunciation([{ word: ' ', say: 'x' }]).push('a  b'), 'a  b', 'an entry without letters is none')
  },
)
