import t from 'tap'
import type { AgentSpec } from '../../../../runtime/call/types/agent-spec.ts'
import { makeCall, openSession, startNode, startWorker } from '../../../support/instance/realtime-node.ts'
import { scriptedConversation } from '../../../support/phone/scripted-conversation.ts'

t.test('what an agent speaks, and how it listens, reaches the worker that speaks for it', async (t) => {
  const node = await startNode(t)
  const opened = Promise.withResolvers<AgentSpec>()
  await startWorker(t, [node], {
    openConversation: (open, port) => {
      opened.resolve(open.agent)
      return scriptedConversation(open, port)
    },
  })
  const call = await makeCall(node)
  const own = {
    language: 'de-AT',
    interruption: JSON.stringify({ enabled: false, sensitivity: 'low' }),
    endpointing: 'patient',
    dead_air: JSON.stringify({ enabled: true, phrases: ['Ich sehe nach.'] }),
    keyterms: JSON.stringify(['Lovelace']),
    transcribe: 'model',
    pronunciation: JSON.stringify([{ word: 'SQL', say: 'Sequel' }]),
    ai_disclosure: 'after',
    register: 'informal',
    phrases: JSON.stringify({ still_there: 'Hallo?' }),
  }
  await node.store
    .tenant(call.workspaceId)
    .db.updateTable('agents')
    .set(own as never)
    .execute()
  await openSession(t, node, call)
  t.match(await opened.promise, {
    language: 'de-AT',
    interruption: { enabled: false, sensitivity: 'low' },
    endpointing: 'patient',
    deadAir: { enabled: true, phrases: ['Ich sehe nach.'] },
    keyterms: ['Lovelace'],
    transcribe: 'model',
    pronunciation: [{ word: 'SQL', say: 'Sequel' }],
    aiDisclosure: 'after',
    register: 'informal',
    phrases: { stillThere: 'Hallo?' },
  })
})
