import type { AgentInput } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Select, Textarea } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'

/** On what terms the agent is with callers, whether it says that it is an AI, and its own sentences. */
export function Manners({ draft }: { draft: Draft }) {
  const { agent, change, fault } = draft
  return (
    <div className="mt-4 space-y-4">
      {agent.warnings.map((warning) => (
        <p className="text-(--warn) text-sm" key={warning} role="note">
          {warning}
        </p>
      ))}
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          fault={faultOf(fault, 'ai_disclosure')}
          hint={t('EU AI Act, Art. 50: callers are told that they talk with an AI.')}
          label={t('Says that it is an AI')}
        >
          <Select
            onChange={(event) =>
              change({ ai_disclosure: event.target.value as NonNullable<AgentInput['ai_disclosure']> })
            }
            value={agent.ai_disclosure}
          >
            <option value="auto">{t('Where a law wants it')}</option>
            <option value="before">{t('Before everything else')}</option>
            <option value="after">{t('After the first message')}</option>
            <option value="off">{t('Not by itself')}</option>
          </Select>
        </Field>
        <Field fault={faultOf(fault, 'register')} hint={t('Sie or du, vous or tu.')} label={t('Form of address')}>
          <Select
            onChange={(event) => change({ register: event.target.value as NonNullable<AgentInput['register']> })}
            value={agent.register}
          >
            <option value="formal">{t('Formal')}</option>
            <option value="informal">{t('Informal')}</option>
          </Select>
        </Field>
      </div>
      <Field
        fault={faultOf(fault, 'phrases')}
        hint={t('One a line: its name = the sentence. Empty: those of the language.')}
        label={t('Own sentences')}
      >
        <Textarea
          defaultValue={Object.entries(agent.phrases)
            .map(([name, sentence]) => `${name} = ${sentence}`)
            .join('\n')}
          key={agent.agent_id}
          onChange={(event) => change({ phrases: readPhrases(event.target.value) })}
          rows={2}
        />
      </Field>
    </div>
  )
}

function readPhrases(text: string): Record<string, string> {
  const lines = text.split('\n').flatMap((line) => {
    const at = line.indexOf('=')
    const [name, sentence] = [line.slice(0, at).trim(), line.slice(at + 1).trim()]
    return at > 0 && sentence !== '' ? [[name, sentence]] : []
  })
  return Object.fromEntries(lines)
}

const READY = {
  recording_notice: 'recordingNotice',
  consent_message: 'recordingConsent',
  voicemail_message: 'voicemail',
} as const

/** Puts a text in the agent's language into an empty field, to be adapted. */
export function ReadyText({ draft: { agent, change, isReadOnly }, name }: { draft: Draft; name: keyof typeof READY }) {
  if (isReadOnly || agent[name] !== '') return null
  const use = async () => {
    // The sentences of all languages are more than a page needs before somebody asks for one.
    const { languageOf } = await import('../../../../../runtime/conversation/languages/index.ts')
    change({ [name]: languageOf(agent.language, { register: agent.register }).phrases[READY[name]] })
  }
  return (
    <Button onClick={() => void use()} size="sm">
      {t('Use the ready text of the language')}
    </Button>
  )
}
