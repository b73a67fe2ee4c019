import t from 'tap'
import ceilings from '../../../scripts/words.json' with { type: 'json' }
import { dialectOf, findings } from '../../../scripts/words.ts'

t.test('no room has more words of the dialect than before', async (t) => {
  const found = Map.groupBy(findings(), ({ room }) => room)
  for (const [room, all] of found) {
    const most = (ceilings as Record<string, number>)[room] ?? 0
    const places = all.map(({ file, line, word }) => `${file}:${line}: ${word}`)
    t.ok(all.length <= most, `${room}: ${all.length}, at most ${most}`, { places: all.length > most ? places : [] })
  }
})

t.test('a word of the dialect is found with its line, whatever its case, and plain words are not', async (t) => {
  t.same(dialectOf('One\nWhoever asks is told of it.'), [
    { word: 'Whoever', line: 2 },
    { word: 'told of', line: 2 },
  ])
  t.same(dialectOf("a message that is none, of others’ and of others'"), [
    { word: 'that is none', line: 1 },
    { word: "of others'", line: 1 },
  ])
  t.same(dialectOf('Everybody who asks gets the list. The wholesome whomping of others.'), [])
})
