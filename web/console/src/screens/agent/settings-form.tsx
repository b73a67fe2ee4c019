import type { ReactNode } from 'react'
import { formatCount } from '../../data/format.ts'
import type { AgentInput } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select, Switch, Textarea } from '../../ui/field.tsx'
import { Card } from '../../ui/layout.tsx'
import type { Draft } from './agent.tsx'
import { AnalysisForm } from './analysis-form.tsx'
import { ChooseVoice } from './choose-voice.tsx'
import { CollectForm } from './collect-form.tsx'
import { FallbackFields } from './fallback-fields.tsx'
import { GuardrailsForm } from './guardrails-form.tsx'
import { HearVoice } from './hear-voice.tsx'
import { LanguageField } from './language-field.tsx'
import { Manners, ReadyText } from './manners.tsx'
import { ProceduresForm } from './procedures/procedures-form.tsx'
import { ProviderFields } from './provider-fields.tsx'
import { RecordingForm } from './recording-form.tsx'
import { TextField } from './text-field.tsx'
import { TranscribeField } from './transcribe-field.tsx'

/** The settings of an agent, stage by stage as a turn passes them. */
export function SettingsForm({ draft }: { draft: Draft }) {
  return (
    <fieldset className="space-y-4" disabled={draft.isReadOnly}>
      <Card title={t('Listens')}>
        <ProviderFields draft={draft} kind="STT" />
        <FallbackFields draft={draft} kind="STT" />
        <Two>
          <LanguageField draft={draft} />
          <Field
            fault={faultOf(draft.fault, 'endpointing')}
            hint={t('How soon a pause counts as the end of a turn.')}
            label={t('End of turn')}
          >
            <Select
              onChange={(event) =>
                draft.change({ endpointing: event.target.value as NonNullable<AgentInput['endpointing']> })
              }
              value={draft.agent.endpointing}
            >
              <option value="eager">{t('Eager: answers soon')}</option>
              <option value="balanced">{t('Balanced')}</option>
              <option value="patient">{t('Patient: lets callers think')}</option>
            </Select>
          </Field>
        </Two>
        <div className="mt-4">
          <ListField
            draft={draft}
            hint={t('Names and terms to listen for, separated by commas.')}
            label={t('Key terms')}
            name="keyterms"
          />
        </div>
      </Card>
      <Card title={t('Thinks')}>
        <ProviderFields draft={draft} kind="LLM" />
        <FallbackFields draft={draft} kind="LLM" />
        <TranscribeField draft={draft} />
        <div className="mt-4">
          <Field
            fault={faultOf(draft.fault, 'temperature')}
            hint={t('0 answers alike each time, 2 is the wildest.')}
            label={t('Temperature: {temperature}', { temperature: formatCount(draft.agent.temperature) })}
          >
            <input
              aria-label={t('Temperature')}
              className="w-full accent-(--accent)"
              max={2}
              min={0}
              onChange={(event) => draft.change({ temperature: Number(event.target.value) })}
              step={0.1}
              type="range"
              value={draft.agent.temperature}
            />
          </Field>
        </div>
      </Card>
      <Card
        actions={
          !draft.isReadOnly && (
            <>
              <ChooseVoice draft={draft} />
              <HearVoice agent={draft.agent} />
            </>
          )
        }
        title={t('Speaks')}
      >
        <ProviderFields draft={draft} kind="TTS" />
        <FallbackFields draft={draft} kind="TTS" />
        <div className="mt-4">
          <Pronunciation draft={draft} />
        </div>
        <Manners draft={draft} />
      </Card>
      <TurnTaking draft={draft} />
      <RecordingForm draft={draft} />
      <Phone draft={draft} />
      <CollectForm draft={draft} />
      <ProceduresForm draft={draft} />
      <GuardrailsForm draft={draft} />
      <AnalysisForm draft={draft} />
    </fieldset>
  )
}

const Two = ({ children }: { children: ReactNode }) => <div className="mt-4 grid gap-4 sm:grid-cols-2">{children}</div>

interface FieldProps {
  draft: Draft
  label: string
  hint: string
}

function ListField({ draft: { agent, change, fault }, label, hint }: FieldProps & { name: 'keyterms' }) {
  return (
    <Field fault={faultOf(fault, 'keyterms')} hint={hint} label={label}>
      <Input
        key={agent.agent_id}
        defaultValue={agent.keyterms.join(', ')}
        onChange={(event) =>
          change({
            keyterms: event.target.value
              .split(',')
              .map((term) => term.trim())
              .filter(Boolean),
          })
        }
      />
    </Field>
  )
}

function Pronunciation({ draft: { agent, change, fault } }: { draft: Draft }) {
  const read = (text: string) =>
    text.split('\n').flatMap((line) => {
      const [word = '', say = ''] = line.split('=').map((part) => part.trim())
      return word && say ? [{ word, say }] : []
    })
  return (
    <Field
      fault={faultOf(fault, 'pronunciation')}
      hint={t('One a line: the word = how to say it.')}
      label={t('Pronunciation')}
    >
      <Textarea
        defaultValue={agent.pronunciation.map(({ word, say }) => `${word} = ${say}`).join('\n')}
        onChange={(event) => change({ pronunciation: read(event.target.value) })}
        placeholder={t('SQL = sequel')}
        rows={2}
      />
    </Field>
  )
}

function TurnTaking({ draft }: { draft: Draft }) {
  const { agent, change } = draft
  const { interruption, dead_air: deadAir } = agent
  return (
    <Card title={t('Turn-taking')}>
      <div className="space-y-4">
        <Switch
          checked={interruption.enabled ?? true}
          disabled={draft.isReadOnly}
          hint={t('Off: the agent says what it has to say to its end.')}
          label={t('Callers may interrupt')}
          onChange={(enabled) => change({ interruption: { ...interruption, enabled } })}
        />
        {(interruption.enabled ?? true) && (
          <Field hint={t("How little of the caller's voice makes the agent fall silent.")} label={t('Sensitivity')}>
            <Select
              onChange={(event) =>
                change({
                  interruption: { ...interruption, sensitivity: event.target.value as 'low' | 'normal' | 'high' },
                })
              }
              value={interruption.sensitivity ?? 'normal'}
            >
              <option value="low">{t('Low: a “mm-hm” does not')}</option>
              <option value="normal">{t('Normal')}</option>
              <option value="high">{t('High: any word does')}</option>
            </Select>
          </Field>
        )}
        <Switch
          checked={deadAir.enabled ?? true}
          disabled={draft.isReadOnly}
          hint={t('Says a short phrase while an answer is late.')}
          label={t('No dead air')}
          onChange={(enabled) => change({ dead_air: { ...deadAir, enabled } })}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <SecondsField
            draft={draft}
            hint={t("Empty: the installation's limit.")}
            label={t('Longest call, seconds')}
            name="max_duration_s"
          />
          <SecondsField
            draft={draft}
            hint={t('Silence after which it hangs up.')}
            label={t('Patience, seconds')}
            name="idle_timeout_s"
          />
        </div>
      </div>
    </Card>
  )
}

function SecondsField({
  draft: { agent, change, fault },
  name,
  label,
  hint,
}: FieldProps & { name: 'max_duration_s' | 'idle_timeout_s' }) {
  return (
    <Field fault={faultOf(fault, name)} hint={hint} label={label}>
      <Input
        inputMode="numeric"
        min={1}
        onChange={(event) => change({ [name]: event.target.value === '' ? null : Number(event.target.value) })}
        type="number"
        value={agent[name] ?? ''}
      />
    </Field>
  )
}

function Phone({ draft }: { draft: Draft }) {
  const { agent, change } = draft
  return (
    <Card title={t('On the phone')}>
      <div className="space-y-4">
        <Field hint={t('Of calls the agent makes.')} label={t('When an answering machine picks up')}>
          <Select
            onChange={(event) => change({ voicemail: event.target.value as NonNullable<AgentInput['voicemail']> })}
            value={agent.voicemail}
          >
            <option value="hang_up">{t('Hang up')}</option>
            <option value="leave_message">{t('Leave a message')}</option>
            <option value="continue">{t('Go on as with a human')}</option>
          </Select>
        </Field>
        {agent.voicemail === 'leave_message' && (
          <>
            <TextField
              draft={draft}
              hint={t('Empty: the first message.')}
              label={t('Message')}
              name="voicemail_message"
            />
            <ReadyText draft={draft} name="voicemail_message" />
          </>
        )}
      </div>
    </Card>
  )
}
