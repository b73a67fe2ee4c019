import { parse } from 'csv-parse/sync'
import t from 'tap'
import { csvRecord } from '../../../../store/uploads/csv-export.ts'

t.test('writes RFC 4180 that a reader reads back', async (t) => {
  const cells = ['plain', 'a,b', 'say "hi"', 'two\r\nlines', '', null, 1.5, true, ' spaced ']
  const text = csvRecord(cells, new Set())
  t.ok(text.endsWith('\r\n'))
  t.same(parse(text), [['plain', 'a,b', 'say "hi"', 'two\r\nlines', '', '', '1.5', 'true', ' spaced ']])
})

t.test('puts an apostrophe before what a spreadsheet would run, phone numbers excepted', async (t) => {
  const cells = ['=1+1', '+1', '-1', '@x', '\tx', "it's", '+14155550100', -2]
  t.equal(csvRecord(cells, new Set([6])), "'=1+1,'+1,'-1,'@x,'\tx,it's,+14155550100,-2\r\n")
})

t.test('takes for a phone number only what is one, whatever the column is called', (t) => {
  for (const cell of ['=HYPERLINK("x")', "+1+cmd|'/C calc'!A0", '@SUM(1)', '-2+3', '+1\t=1']) {
    t.match(csvRecord([cell], new Set([0])), /^"?'/, cell)
  }
  for (const cell of ['+14155550100', '+1 (415) 555-0100', '204']) {
    t.equal(csvRecord([cell], new Set([0])), `${cell}\r\n`, cell)
  }
  t.end()
})
