import { test } from 'tap'
import { withoutUserinfo } from '../../../../runtime/lib/url-userinfo.ts'

test('user and password of URLs are not shown, the rest is', async (t) => {
  const cases: [string, string][] = [
    ['https://key@otlp.example:4318/v1', 'https://***@otlp.example:4318/v1'],
    [
      'failed: postgres://u:p@h/db and redis://:p@ss@h:1?x=a@b.',
      'failed: postgres://***@h/db and redis://***@h:1?x=a@b.',
    ],
    ['"https://a:b@c"', '"https://***@c"'],
    ['https://example.com/a@b ann@example.com', 'https://example.com/a@b ann@example.com'],
    ['://'.repeat(50_000), '://'.repeat(50_000)],
  ]
  for (const [text, shown] of cases) t.equal(withoutUserinfo(text), shown)
})
