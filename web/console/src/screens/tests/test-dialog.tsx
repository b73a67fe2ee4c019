import { useState } from 'react'
import { useWrite } from '../../data/queries.ts'
import { useSession } from '../../data/session.tsx'
import type { Agent, AgentTest } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/confirm.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Fault } from '../../ui/fault.tsx'
import { Field, Select, Textarea } from '../../ui/field.tsx'

const SAMPLE = `name: says when it opens
tags: [front-desk]
caller:
  say:
    - When do you open?
expect:
  - heard: /nine/
  - disposition: completed
`

interface TestDialogProps {
  agents: readonly Agent[]
  test?: AgentTest
  /** A new one that is written already. */
  made?: { yaml: string; agentId: string }
  onClose: () => void
  onSaved?: () => void
}

/** A test as its file: made, changed or deleted. What is wrong with it is said with its line. */
export function TestDialog({ agents, test, made, onClose, onSaved = onClose }: TestDialogProps) {
  const { may } = useSession()
  const [yaml, setYaml] = useState(
    test?.yaml ?? (test ? JSON.stringify(test.definition, undefined, 2) : (made?.yaml ?? SAMPLE)),
  )
  const [agentId, setAgentId] = useState(test ? (test.agent_id ?? '') : (made?.agentId ?? agents[0]?.agent_id ?? ''))
  const [asked, setAsked] = useState(false)
  const path = test ? `/tests/${test.test_id}` : '/tests'
  const save = useWrite<AgentTest>(
    () => [path, { method: test ? 'PUT' : 'POST', body: { agent_id: agentId || null, yaml } }],
    { changes: ['/tests'], done: t('Saved'), quiet: true, onDone: onSaved },
  )
  const remove = useWrite(() => [path, { method: 'DELETE' }], {
    changes: ['/tests'],
    done: t('Deleted'),
    onDone: onClose,
  })
  return (
    <>
      <Dialog
        lead={t('A caller, stand-ins for tools, and the facts that must hold.')}
        onClose={onClose}
        open
        title={test ? test.name : t('New test')}
        wide
      >
        <form
          className="space-y-4"
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate()
          }}
        >
          <Field label={t('Agent')}>
            <Select onChange={({ target }) => setAgentId(target.value)} value={agentId}>
              <option value="">{t('Any agent')}</option>
              {agents.map(({ agent_id, agent_name }) => (
                <option key={agent_id} value={agent_id}>
                  {agent_name}
                </option>
              ))}
            </Select>
          </Field>
          <Field label={t('Test')}>
            <Textarea
              className="font-mono text-sm"
              onChange={({ target }) => setYaml(target.value)}
              rows={16}
              spellCheck={false}
              value={yaml}
            />
          </Field>
          <Fault error={save.error} />
          <DialogActions>
            {test && may('developer') && (
              <Button icon="trash" kind="quiet" onClick={() => setAsked(true)}>
                {t('Delete')}
              </Button>
            )}
            <Button onClick={onClose}>{t('Cancel')}</Button>
            {may('developer') && (
              <Button busy={save.isPending} kind="primary" type="submit">
                {t('Save')}
              </Button>
            )}
          </DialogActions>
        </form>
      </Dialog>
      {test && (
        <Confirm
          action={t('Delete')}
          onClose={() => setAsked(false)}
          onConfirm={() => remove.mutateAsync()}
          open={asked}
          title={t('Delete {name}?', { name: test.name })}
        >
          {t('What came of its runs stays.')}
        </Confirm>
      )}
    </>
  )
}
