import t from 'tap'
import {
  contextOfCall,
  contextOfTool,
  parseTraceparent,
  traceparentOf,
} from '../../../../runtime/traces/trace-context.ts'

const CALL = '0197f3a2-7c1e-7000-8000-000000000001'
const [TRACE, SPAN] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']

t.test('a traceparent is read as W3C Trace Context has it', (t) => {
  t.same(parseTraceparent(`00-${TRACE}-${SPAN}-01`), { traceId: TRACE, spanId: SPAN })
  t.same(parseTraceparent(`cc-${TRACE}-${SPAN}-09-of-a-later-version`), { traceId: TRACE, spanId: SPAN })
  const refused = {
    '': 'none',
    [`00-${TRACE}-${SPAN}-00`]: 'not recorded',
    [`ff-${TRACE}-${SPAN}-01`]: 'a version that may not be',
    [`00-${'0'.repeat(32)}-${SPAN}-01`]: 'no trace',
    [`00-${TRACE}-${'0'.repeat(16)}-01`]: 'no span',
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`]: 'capital letters',
    [`00-${TRACE}-${SPAN}`]: 'cut off',
  }
  for (const [header, why] of Object.entries(refused)) t.equal(parseTraceparent(header), undefined, why)
  t.end()
})

t.test('spans that others are told of are known before they are there', (t) => {
  const call = contextOfCall(CALL)
  t.equal(call.traceId, '0197f3a27c1e70008000000000000001')
  t.same(parseTraceparent(traceparentOf(call)), call)
  t.same(contextOfTool(CALL, 'a'), contextOfTool(CALL, 'a'))
  const ids = [call, contextOfTool(CALL, 'a'), contextOfTool(CALL, 'b')].map(({ spanId }) => spanId)
  t.equal(new Set(ids).size, 3)
  t.end()
})
