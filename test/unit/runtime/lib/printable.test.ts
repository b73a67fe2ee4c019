import t from 'tap'
import { printable } from '../../../../runtime/lib/printable.ts'

t.test('what a terminal obeys or hides is written out, all else is as it was', async (t) => {
  t.equal(printable('/srv/models\u001b[2K\r/tmp'), '/srv/models\\u{1b}[2K\\u{d}/tmp')
  t.equal(printable('a\u009bb\u202ec\u200bd\u2028e\ud800'), 'a\\u{9b}b\\u{202e}c\\u{200b}d\\u{2028}e\\u{d800}')
  t.equal(printable('Ünïcödé 音 😀 ~ "x"'), 'Ünïcödé 音 😀 ~ "x"')
})
