import type { AgentInput } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Select } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import type { Draft } from './agent.tsx'
import { ReadyText } from './manners.tsx'
import { TextField } from './text-field.tsx'

/** Whether calls are recorded, and what callers hear about it. */
export function RecordingForm({ draft }: { draft: Draft }) {
  const { agent, change, fault } = draft
  return (
    <Card title={t('Recording')}>
      <div className="space-y-4">
        <Field
          fault={faultOf(fault, 'recording')}
          hint={t('Many countries want the consent of everybody on the line: ask for it below.')}
          label={t('Records its calls')}
        >
          <Select
            onChange={({ target }) => change({ recording: target.value as NonNullable<AgentInput['recording']> })}
            value={agent.recording}
          >
            <option value="default">{t('As the installation does (PATCHBAY_RECORD_CALLS)')}</option>
            <option value="on">{t('Always')}</option>
            <option value="off">{t('Never')}</option>
          </Select>
        </Field>
        <TextField
          draft={draft}
          hint={t('Said before everything else, such as that the call is recorded.')}
          label={t('Notice')}
          name="recording_notice"
        />
        <ReadyText draft={draft} name="recording_notice" />
        <TextField
          draft={draft}
          hint={t(
            'Asks whether the call may be recorded; nothing is recorded before a yes. Needed by § 201 StGB (DE), § 120 StGB (AT), Art. 179bis StGB (CH).',
          )}
          label={t('Consent question')}
          name="consent_message"
        />
        <ReadyText draft={draft} name="consent_message" />
      </div>
    </Card>
  )
}
