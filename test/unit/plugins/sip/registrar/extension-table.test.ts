import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { ExtensionTable } from '../../../../../plugins/sip/registrar/extension-table.ts'
import { systemClock } from '../../../../../runtime/lib/clock.ts'
import type { Extension } from '../../../../../runtime/plugin-sdk/telephony/extension.ts'

const DESK: Extension = {
  ...{ id: 'e-1', workspaceId: 'w-1', name: '204', displayName: undefined },
  ...{ username: '204.a', password: 'secret' },
}

t.test('whoever changed an extension waits until this node calls nobody by it any more', async (t) => {
  let changed: (() => Promise<void>) | undefined
  let extensions: readonly Extension[] = [DESK]
  const table = new ExtensionTable({
    directory: {
      async list() {
        const listed = extensions
        // As a database that takes its time.
        for (let i = 0; i < 20; i++) await turn()
        return listed
      },
      watch(told) {
        changed = told
        return () => undefined
      },
      registered: async () => undefined,
      bindings: async () => [],
    },
    clock: systemClock,
    log: pino({ level: 'silent' }),
    changed: () => undefined,
  })
  await table.open()
  t.ok(table.withName('w-1', '204'))
  extensions = []
  await changed?.()
  t.equal(table.withName('w-1', '204'), undefined)
  t.equal(table.withUsername('204.a'), undefined)
})
