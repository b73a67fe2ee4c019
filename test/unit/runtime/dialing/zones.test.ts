import t from 'tap'
import { readProspectNumber } from '../../../../runtime/dialing/prospect-number.ts'
import { shippedPlaces } from '../../../../runtime/dialing/zones.ts'

t.test('where a number may be', async (t) => {
  const { whereaboutsOf, regionOf } = shippedPlaces()
  const of = (number: string, more = {}) => whereaboutsOf({ number, ...more })
  t.same(of('+12125550142'), { zones: ['America/New_York'], regions: ['US-NY'] })
  t.same(of('+18502325550').zones, ['America/Chicago', 'America/New_York'], 'every zone of an area code')
  t.same(of('+18005550142'), { zones: [], regions: [] }, 'toll-free numbers are nowhere')
  t.same(of('+18005550142', { state: 'CA' }), { zones: [], regions: [] }, 'wherever their owner says to be')
  t.same(of('+12125550142', { state: 'CA' }), {
    zones: ['America/Los_Angeles', 'America/New_York'],
    regions: ['US-CA', 'US-NY'],
  })
  t.same(of('+12125550142', { state: 'California' }).regions, ['US-CA', 'US-NY'])
  t.same(of('+12125550142', { postalCode: '79901' }).zones, ['America/Denver', 'America/New_York'], 'El Paso')
  t.same(of('+12125550142', { postalCode: 'V6B 1A1' }).regions, ['CA-BC', 'US-NY'])
  t.same(of('+12125550142', { timezone: 'Pacific/Honolulu' }).zones, ['America/New_York', 'Pacific/Honolulu'])
  t.same(of('+12125550142', { timezone: 'Mars/Olympus' }).zones, [], 'a zone that does not exist fails closed')
  t.same(of('+8675550142'.replace('+', '+1')).regions, ['CA-NT', 'CA-NU', 'CA-YT'])
  t.same(of('+493012345678'), { zones: ['Europe/Berlin'], regions: ['DE'] })
  t.same(of('+18765550142').regions, ['XX'], 'an island of +1 has zones and no row of ours')
  t.equal(regionOf('tx'), 'US-TX')
  t.equal(regionOf('Ontario'), 'CA-ON')
  t.equal(regionOf('Atlantis'), undefined)
})

t.test('numbers in every spelling are one', async (t) => {
  const spellings = [
    '2125550142',
    '12125550142',
    '+12125550142',
    '(212) 555-0142',
    '212.555.0142',
    '+1 (212) 555 0142',
    '1-212-555-0142',
    '0012125550142',
    '011 1 212 555 0142',
    '2125550142.0',
    "'2125550142",
    '212\u2013555\u20130142',
    '\u00a0212 555 0142 ',
  ]
  for (const text of spellings) t.equal(readProspectNumber(text, 'US'), '+12125550142', JSON.stringify(text))
  const wrong = [
    '',
    '911',
    '555-0142',
    '0125550142',
    '1125550142',
    '4445550142',
    'call me',
    '2.125550142E9',
    '212555014x',
    '+1212555014212345',
    '212-555-0142 ext 5',
  ]
  for (const text of wrong) t.equal(readProspectNumber(text, 'US'), undefined, JSON.stringify(text))
  t.equal(readProspectNumber('020 7946 0018', 'GB'), '+442079460018')
  t.equal(readProspectNumber('+44 20 7946 0018', 'US'), '+442079460018')
})
