import { test } from 'tap'
import { Keypad } from '../../../runtime/conversation/keypad.ts'

test('keys are one entry until a pause, a # or 32 digits', (t) => {
  const keypad = new Keypad()
  t.equal(keypad.press('1', 0), undefined)
  t.equal(keypad.press('2', 1000), undefined)
  t.equal(keypad.tick(2400), undefined)
  t.equal(keypad.tick(2500), '12')
  t.equal(keypad.tick(9999), undefined)
  t.equal(keypad.press('5', 10_000), undefined)
  t.equal(keypad.press('#', 10_100), '5#')
  for (let i = 0; i < 31; i++) t.equal(keypad.press('9', 20_000), undefined)
  t.equal(keypad.press('9', 20_000), '9'.repeat(32))
  t.equal(keypad.press('x', 20_000), undefined)
  t.equal(keypad.tick(99_999), undefined)
  t.end()
})
