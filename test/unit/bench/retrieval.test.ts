import t from 'tap'
import { readCorpus } from '../../../bench/retrieval/corpus.ts'
import { ndcgAt10, recallAt } from '../../../bench/retrieval/measures.ts'
import { quantile } from '../../../bench/support/quantile.ts'

t.test('the corpus has 60 documents and two questions to each, none asked twice', async (t) => {
  const { documents, questions } = await readCorpus()
  t.equal(documents.length, 60)
  t.equal(questions.length, 120)
  t.equal(new Set(questions.map(({ text }) => text)).size, 120)
  t.ok(documents.every(({ chunks }) => chunks.length > 0))
  for (const { name } of documents) {
    t.equal(questions.filter(({ answeredBy }) => answeredBy.has(name)).length, 2, name)
  }
})

t.test('the measures are those of the books', async (t) => {
  const relevant = new Set(['a', 'b'])
  t.equal(ndcgAt10(['a', 'b', 'c'], relevant), 1)
  t.equal(ndcgAt10(['c'], relevant), 0)
  t.equal(ndcgAt10(['c', 'a'], new Set(['a'])), 1 / Math.log2(3))
  t.equal(ndcgAt10([...'0123456789', 'a'], relevant), 0, 'the eleventh counts no more')
  t.equal(recallAt(1, ['a', 'b'], relevant), 0.5)
  t.equal(recallAt(4, ['a', 'b'], relevant), 1)
  t.equal(quantile([5, 1, 4, 2, 3], 0.5), 3)
  t.equal(quantile([1], 0.95), 1)
})
