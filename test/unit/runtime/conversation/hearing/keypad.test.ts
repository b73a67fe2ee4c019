import { test } from 'tap'
import { Keypad } from '../../../../../runtime/conversation/hearing/keypad.ts'

test('keys are one entry until a pause, a # or 32 digits', (t) => {
  const keypad = new Keypad()
  t.equal(keypad.press('1', 7, 0), undefined)
  t.equal(keypad.press('2', 7, 1000), undefined)
  t.equal(keypad.tick(2400), undefined)
  t.same(keypad.tick(2500), { digits: '12', inputs: [7, 7] })
  t.equal(keypad.tick(9999), undefined)
  t.equal(keypad.press('5', 7, 10_000), undefined)
  t.same(keypad.press('#', 8, 10_100), { digits: '5#', inputs: [7, 8] })
  for (let i = 0; i < 31; i++) t.equal(keypad.press('9', 7, 20_000), undefined)
  t.equal(keypad.press('9', 7, 20_000)?.digits, '9'.repeat(32))
  t.equal(keypad.tick(99_999), undefined)
  t.end()
})
