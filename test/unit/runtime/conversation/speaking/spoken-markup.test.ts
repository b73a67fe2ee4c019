import t from 'tap'
import { SpokenMarkup, spokenMarkup } from '../../../../../runtime/conversation/speaking/spoken-markup.ts'

/** What a model writes, and what a person would say of it. */
const SAID: readonly (readonly [written: string, said: string, language?: string])[] = [
  ['We are **open** from *nine* to __five__.', 'We are open from nine to five.'],
  ['***Really*** good, _honestly_.', 'Really good, honestly.'],
  ['snake_case_name stays, and so does 2 * 3 * 4.', 'snake_case_name stays, and so does 2 * 3 * 4.'],
  ['Dial *67 first, then *69.', 'Dial *67 first, then *69.'],
  ['Please see [our terms](https://example.com/a_b?x=1) before Friday.', 'Please see our terms before Friday.'],
  ['![A map](https://example.com/map.png) It is near.', 'A map It is near.'],
  ['See <https://example.com/menu> or <ada@example.com>.', 'See https://example.com/menu or ada@example.com.'],
  ['Our page is https://example.com/a_b?x=1 today.', 'Our page is https://example.com/a_b?x=1 today.'],
  ['Set `MAX_SIZE` to `a*b*c`.', 'Set MAX_SIZE to a*b*c.'],
  ['Here: ```json {"a": 1}``` Anything else?', 'Here: Anything else?'],
  ['```json\n{"a": 1}\n```\nThat is all.', 'That is all.'],
  ['First\n~~~python\nprint(1)\n~~~\nThen.', 'First\nThen.'],
  ['```\nWe open at nine.\n```', 'We open at nine.'],
  [
    '| Room | Price |\n|---|---|\n| Single | $80 |\n| Double | $120 |\n\nWhich one?',
    'Single: $80.\nDouble: $120.\nWhich one?',
  ],
  [
    '| Room | Price | Size |\n| --- | :---: | ---: |\n| Single | $80 | 20 |\n| Double | | 30 |',
    'Single: Price $80, Size 20.\nDouble: Size 30.',
  ],
  ['Room | Price\n--- | ---\nSingle | $80\n', 'Room, Price\nSingle, $80'],
  ['Now | or never', 'Now, or never'],
  ['We have:\n- apples\n- pears\n\nWhich?', 'We have:\napples.\npears.\nWhich?'],
  ['* one\n* two!\n+ three', 'one.\ntwo!\nthree.'],
  ['1. First\n2. Second\n', '1, First.\n2, Second.'],
  ['1) Call\n2) Wait', '1, Call.\n2, Wait.'],
  ['- [ ] bread\n- [x] milk', 'bread.\nmilk.'],
  ['1. Mai ist frei.', '1. Mai ist frei.', 'de'],
  ['12. That was long ago.', '12. That was long ago.'],
  ['-5 degrees today.', '-5 degrees today.'],
  ['# Opening hours\nNine to five.', 'Opening hours.\nNine to five.'],
  ['Title\n=====\nText\n\n---\nMore', 'Title\nText\nMore'],
  ['> quoted\n> twice', 'quoted\ntwice'],
  ['One<br>two<br/>three', 'One two three'],
  ['<p>Hello <b>there</b>.</p>', 'Hello there.'],
  ['<speak>Wait <break time="1s"/> please.</speak>', 'Wait please.'],
  ['<say-as interpret-as="digits">123</say-as> is it', '123 is it'],
  ['<script>alert(1)</script>Hi<!-- no --> there', 'Hi there'],
  [
    '<!DOCTYPE html>\n<html lang="en">\n<head>\n<style>\n.a > b { color: red; }\n</style>\n<script src="a.js">\nalert("1 < 2");\n</script></head>\n<body class="x">\n<h1>Order F-1</h1>\n<p>Your order is <b>shipped</b>.</p>\n</body>\n</html>',
    'Order F-1 \nYour order is shipped.',
  ],
  ['<style>\n.a{color:red}\n</style >Yes.', 'Yes.'],
  [`Well: <SCRIPT>${'x=1;'.repeat(300)}</script>Yes.`, 'Well: Yes.'],
  ['<!-- a\n\n- b\n-->Yes.', 'Yes.'],
  ['Now <style>.a{color:red}', 'Now'],
  ['See <a\n  href="https://example.com/a"\n  class="b">our page</a>.', 'See our page.'],
  ['<table><tr><td>Single</td><td>$80</td></tr></table>', 'Single $80'],
  ['The tags `<style>` and `<!--` are code.', 'The tags <style> and <!-- are code.'],
  ['```text\n<style>\n```\nThat is all.', 'That is all.'],
  ['3 < 5 and 7 > 2', '3 < 5 and 7 > 2'],
  ['Fish &amp; chips&nbsp;&lt;3 &#8364;5', 'Fish & chips <3 €5'],
  ['~~old~~ new', 'new'],
  ['Great 🙂! Done 👍🏽 👩‍👩‍👧 🇩🇪 ✅.', 'Great! Done.'],
  ['Press 1️⃣ now', 'Press 1 now'],
  ['It costs $1,250.50 \\*plus\\* tax.', 'It costs $1,250.50 *plus* tax.'],
  ['As said[1] and again[^2].', 'As said and again.'],
  ['**予約**は*九時*です。', '予約は九時です。', 'ja'],
  ['- りんご\n- なし', 'りんご。\nなし。', 'ja'],
  ['Unclosed **bold to the end', 'Unclosed **bold to the end'],
  ['An [unclosed link to the end', 'An [unclosed link to the end'],
  ['Good.', 'Good.'],
  ['🙂', ''],
  ['---', ''],
]

for (const [written, expected, language] of SAID) {
  t.test(`${JSON.stringify(written)} is said as people say it, whatever pieces it comes in`, async (t) => {
    for (const size of [1, 2, 3, 7, 500]) {
      const markup = new SpokenMarkup(language)
      let said = ''
      for (let at = 0; at < written.length; at += size) said += markup.push(written.slice(at, at + size))
      said += markup.flush()
      t.equal(said.trim(), expected, `${size} characters at a time`)
    }
  })
}

t.test('plain words are handed on with the piece they came in', async (t) => {
  const markup = new SpokenMarkup()
  t.equal(markup.push('We are'), 'We are')
  t.equal(markup.push(' open from 9'), ' open from 9')
  t.equal(markup.push(' to five.'), ' to five.')
})

t.test('what never closes is not waited for without end', async (t) => {
  const markup = new SpokenMarkup()
  t.match(markup.push(`Dial *${'67 and then wait '.repeat(12)}`), /^Dial \*67/)
  t.match(markup.push(`a <b${'c'.repeat(400)}`), /<bc/)
  t.equal(spokenMarkup(`|${'a|'.repeat(100)}`).includes('|'), false)
})
