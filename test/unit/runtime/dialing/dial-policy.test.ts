import t from 'tap'
import { type DialCase, judge, NO_DIAL_RULES } from '../../../../runtime/dialing/dial-policy.ts'
import type { DialRules } from '../../../../runtime/plugin-sdk/telephony/carrier.ts'
import { formatDestination, readDestination } from '../../../../runtime/plugin-sdk/telephony/destination.ts'
import { DEFAULT_TRUNK_SETTINGS, type NumberType } from '../../../../runtime/plugin-sdk/telephony/trunk-settings.ts'

/** docs/telephony.md, "Who may be called". */

const FROM = '+14155550100'

const trunk = (countries: string[] = [], numberTypes: NumberType[] = DEFAULT_TRUNK_SETTINGS.number_types) => ({
  ...{ name: 'main', countries },
  settings: { ...DEFAULT_TRUNK_SETTINGS, number_types: numberTypes },
})
const rules = (more: {
  operator?: Partial<DialRules['operator']>
  workspace?: Partial<DialRules['workspace']>
}): DialRules => ({
  operator: { ...NO_DIAL_RULES.operator, ...more.operator },
  workspace: { ...NO_DIAL_RULES.workspace, ...more.workspace },
})
const account = (given: DialRules = NO_DIAL_RULES, from = FROM): DialCase => ({
  ...{ rules: given, from, trunk: undefined, takesNames: false },
})
const over = (own: ReturnType<typeof trunk>, given: DialRules = NO_DIAL_RULES, from = FROM): DialCase => ({
  ...{ rules: given, from, trunk: own, takesNames: true },
})
const reasonOf = (to: string, by: DialCase): string | undefined => {
  const found = judge(to, by)
  return 'refusal' in found ? found.refusal.reason : undefined
}

const USUAL = [
  ['+14155550177', undefined],
  ['+18005550199', undefined],
  ['+442079460018', 'country_not_allowed'],
  ['+18095550123', 'country_not_allowed'],
  ['+24762212', 'country_not_allowed'],
  ['+19005550123', 'premium_number'],
  ['+14159761234', 'premium_number'],
  ['+881612345678', 'premium_number'],
  ['+88213012345', 'premium_number'],
  ['+88510012345', 'forbidden'],
  ['+870773123456', 'premium_number'],
  ['+883510012345', 'premium_number'],
  ['+979123456789', 'premium_number'],
  ['911', 'forbidden'],
  ['', 'forbidden'],
] as const

t.test('by default calls stay in the country of the calling number, and cost what a call costs', async (t) => {
  for (const [to, reason] of USUAL) {
    t.equal(reasonOf(to, account()), reason, `${to} on an account of the operator`)
    if (reason !== 'forbidden') t.equal(reasonOf(to, over(trunk())), reason, `${to} over a trunk`)
  }
})

t.test('kinds of numbers that cost more are refused in every country that is allowed', async (t) => {
  for (const [to, country, what] of [
    ['+4990012345678', 'DE', 'two digits more than the plan has reach the premium number all the same'],
    ['+447012345678', 'GB', "personal numbers are led anywhere at the caller's cost"],
    ['+491371234567', 'DE', 'shared cost'],
    ['+33899123456', 'FR', 'premium'],
  ] as const) {
    t.equal(reasonOf(to, over(trunk([country]))), 'premium_number', `${to}: ${what}`)
    const operator = rules({ operator: { countries: [country] } })
    t.equal(reasonOf(to, account(operator)), 'premium_number', `${to}: ${what}`)
  }
  t.equal(reasonOf('+447012345678', over(trunk(['GB'], ['personal']))), undefined, 'a trunk may have the kind')
  const satellite = rules({ operator: { countries: ['US'], numberTypes: ['satellite'] } })
  t.equal(reasonOf('+881612345678', account(satellite)), undefined, 'so may the operator, and it is of no country')
  t.equal(reasonOf('+8801712345678', over(trunk(['BD']))), undefined, 'Bangladesh is no satellite')
  t.equal(reasonOf('+886912345678', over(trunk(['TW']))), undefined, 'nor is Taiwan')
})

t.test('the operator sets the outer bound, the workspace narrows it, a trunk narrows it again', async (t) => {
  const GB = '+442079460018'
  const operator = (...countries: string[]) => rules({ operator: { countries } })
  t.equal(reasonOf(GB, account(operator('US', 'GB'))), undefined)
  t.equal(reasonOf(GB, account(operator('*'))), undefined)
  t.equal(reasonOf(GB, account(operator('US'))), 'country_not_allowed')
  t.equal(reasonOf(GB, over(trunk(['GB']), operator('US'))), 'country_not_allowed', 'the operator goes before a trunk')
  t.equal(reasonOf(GB, over(trunk(['GB']), operator('*'))), undefined)
  t.equal(reasonOf(GB, over(trunk(), operator('*'))), 'country_not_allowed', 'a trunk of no list calls at home')
  const both = (workspace: string[]) => rules({ operator: { countries: ['*'] }, workspace: { countries: workspace } })
  t.equal(reasonOf(GB, account(both(['US']))), 'country_not_allowed')
  t.equal(reasonOf(GB, account(both(['GB']))), undefined)
  const alone = rules({ workspace: { countries: ['GB', 'US'] } })
  t.equal(reasonOf(GB, account(alone)), 'country_not_allowed', 'no workspace widens what the operator pays for')
  const kinds = (list: NumberType[]) => rules({ workspace: { numberTypes: list } })
  t.equal(reasonOf('+18005550199', account(kinds(['toll_free']))), undefined)
  t.equal(reasonOf('+14155550177', account(kinds(['toll_free']))), 'premium_number')
  t.equal(reasonOf('+19005550123', account(kinds(['premium']))), 'premium_number')
  t.equal(
    reasonOf('+19005550123', over(trunk([], ['premium']), rules({ operator: { numberTypes: ['mobile'] } }))),
    'premium_number',
  )
})

t.test('a refusal names the rule and the cure', async (t) => {
  const detail = (to: string, by: DialCase) => {
    const found = judge(to, by)
    return 'refusal' in found ? found.refusal.detail : ''
  }
  t.match(detail('+442079460018', account()), /GB is not among the countries .*operator.*dial_countries.*: US/)
  t.match(detail('+442079460018', over(trunk(['US']))), /countries of trunk "main": US/)
  t.match(detail('+19005550123', over(trunk())), /premium.*trunk "main" \(number_types\)/)
  t.match(detail('204', account()), /number in E\.164, and this carrier calls nothing else/)
  t.match(detail('x y', over(trunk())), /a SIP URI of user and host/)
})

t.test('names and URIs are called over trunks alone, and no number hides in them', async (t) => {
  for (const [to, reason] of [
    ['204', undefined],
    ['front-desk', undefined],
    ['*21', undefined],
    ['sip:204@pbx.example.com', undefined],
    ['sip:14155550177@pbx.example.com', undefined],
    ['sip:4155550177@pbx.example.com', undefined],
    ['sip:+19005550123@pbx.example.com', 'premium_number'],
    ['sip:19005550123@pbx.example.com', 'premium_number'],
    ['sip:9005550123@pbx.example.com', 'premium_number'],
    ['sip:0119005550123@pbx.example.com', 'forbidden'],
    ['sip:00442079460018@pbx.example.com', 'country_not_allowed'],
    ['sip:911@pbx.example.com', 'premium_number'],
    ['911', 'premium_number'],
    ['112', 'premium_number'],
    ['411', 'premium_number'],
    ['19005550123x', 'forbidden'],
  ] as const) {
    t.equal(reasonOf(to, over(trunk())), reason, to)
    t.equal(reasonOf(to, account()), 'forbidden', `${to} on an account`)
  }
  t.equal(reasonOf('911', over(trunk([], ['emergency']))), undefined, 'where the trunk has the kind')
  t.equal(reasonOf('118118', over(trunk(['GB']))), 'premium_number', 'directory enquiries put callers through')
  t.equal(reasonOf('110', over(trunk(['US']))), undefined, 'an extension where it is no emergency number')
  t.equal(reasonOf('110', over(trunk(['DE']))), 'premium_number')
})

t.test('what is called is read by a strict grammar and written anew', async (t) => {
  for (const text of [
    'x@evil.example>;method=INVITE?Subject=hi',
    'sip:x@evil.example>;method=INVITE?Subject=hi',
    'sip:204@pbx.example.com;method=MESSAGE',
    'sip:204@pbx.example.com?Replaces=a%3Bto-tag%3Db',
    'sip:204;phone-context=x@pbx.example.com',
    'sip:204:secret@pbx.example.com',
    'sip:2%30%34@pbx.example.com',
    'sip:a@b@pbx.example.com',
    'sip:204@pbx..example.com',
    'sip:204@pbx.example.com:0',
    'sip:204@pbx.example.com:65536',
    'sip:204@[::1',
    'sip:204@[pbx]',
    'sip:@pbx.example.com',
    'tel:+14155550177',
    '204\r\nVia: x',
    '2047777',
    '<sip:204@pbx.example.com>',
    '',
  ]) {
    t.equal(readDestination(text), undefined, JSON.stringify(text))
  }
  for (const [text, written] of [
    ['+1 (415) 555-0177', '+14155550177'],
    ['SIP:204@PBX.Example.com', 'sip:204@pbx.example.com'],
    ['sips:%23204@192.0.2.1:5080', 'sips:%23204@192.0.2.1:5080'],
    ['sip:anna@[2001:db8::1]:5080', 'sip:anna@[2001:db8::1]:5080'],
    ['*98', '*98'],
  ] as const) {
    const destination = readDestination(text)
    t.equal(destination && formatDestination(destination), written)
  }
})
