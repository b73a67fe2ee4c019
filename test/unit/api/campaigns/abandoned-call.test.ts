import t from 'tap'
import { abandonedCall } from '../../../../api/campaigns/abandoned-call.ts'
import { AGENT_SPEC } from '../../../support/providers/agent-spec.ts'

const call = { workspace: 'Harbour Bistro', from: '+4930123', variables: {} }
const said = (language: string, message = '') => abandonedCall({ ...AGENT_SPEC, language }, message, call).firstMessage

t.test('an abandoned callee hears who called in the language of the agent', async (t) => {
  t.match(said('de'), /^Guten Tag, dies ist ein automatischer Anruf von Harbour Bistro\..*4 9 3 0 1 2 3/)
  t.match(said('pt-PT'), /Queríamos falar consigo/)
  t.match(said('pt-BR'), /Queríamos falar com você/)
  t.match(said('en'), /^Hello, this is an automated call from Harbour Bistro\./)
  t.match(
    said('ko'),
    /^Hello, this is an automated call/,
    'the law wants it said, in English where there is no sentence',
  )
  t.equal(said('de', 'Hier {{workspace}}.'), 'Hier Harbour Bistro.')
})
