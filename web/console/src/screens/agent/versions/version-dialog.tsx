import { useState } from 'react'
import { useRead } from '../../../data/queries.ts'
import type { AgentVersion, VersionDiff } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Dialog } from '../../../ui/dialog.tsx'
import { Fault } from '../../../ui/fault.tsx'
import { Field, Select } from '../../../ui/field.tsx'
import { Loading } from '../../../ui/layout.tsx'
import { Changes } from './changes.tsx'

interface VersionDialogProps {
  agentId: string
  version: AgentVersion
  onClose: () => void
}

/** What a version differs in from the one before, the live one or the draft. */
export function VersionDialog({ agentId, version: { version, note, live }, onClose }: VersionDialogProps) {
  const [against, setAgainst] = useState('')
  const { data, error } = useRead<VersionDiff>(`/agents/${agentId}/versions/${version}/diff`, { query: { against } })
  const isFirst = data !== undefined && data.against === null && against === ''
  return (
    <Dialog lead={note} onClose={onClose} open title={t('Changes of version {version}', { version })} wide>
      <div className="space-y-4">
        {/* A choice is no input that closing the dialog would lose. */}
        <div onInput={(event) => event.stopPropagation()}>
          <Field hint={t('− what it had, + what version {version} has', { version })} label={t('Compared with')}>
            <Select onChange={({ target }) => setAgainst(target.value)} value={against}>
              <option value="">{t('The version before')}</option>
              {!live && <option value="live">{t('The live version')}</option>}
              <option value="draft">{t('The draft')}</option>
            </Select>
          </Field>
        </div>
        <Fault error={error} />
        {data === undefined ? (
          !error && <Loading />
        ) : isFirst ? (
          <p className="text-muted">{t('No version is before it.')}</p>
        ) : (
          <Changes changes={data.changes} />
        )}
      </div>
    </Dialog>
  )
}
