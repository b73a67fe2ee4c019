import t from 'tap'
import { acceptedLanguage } from '../../../../api/auth/accepted-language.ts'

t.test('the language that a browser asks for first, of those there are', async (t) => {
  const known = ['en', 'de', 'pt'] as const
  const cases: [header: string, language: string | undefined][] = [
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en;q=0.5, pt-BR', 'pt'],
    ['ko, fr;q=0.9, EN-gb;q=0.1', 'en'],
    ['de;q=0, en;q=0.2', 'en'],
    ['de;level=1;q=0.3,en ; q=0.4', 'en'],
    ['de;q=nonsense', undefined],
    ['ko', undefined],
    ['*', undefined],
    ['den', undefined],
    [',;=', undefined],
    ['', undefined],
    [`${'ko,'.repeat(60)}de`, undefined],
  ]
  for (const [header, language] of cases) t.equal(acceptedLanguage(header, known), language, header)
})
