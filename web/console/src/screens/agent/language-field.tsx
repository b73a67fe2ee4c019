import { useState } from 'react'
import { type Provider, useProviders } from '../../data/providers.ts'
import { locale } from '../../language/language.ts'
import { t } from '../../language/t.ts'
import { faultOf } from '../../ui/fault.tsx'
import { Field, Input, Select } from '../../ui/field.tsx'
import type { Draft } from './agent.tsx'

const FOLLOWS = 'multi'
/** No tag of a language. */
const ANOTHER = ''

const names = new Intl.DisplayNames(locale, { type: 'language' })

/** What is spoken with callers: the languages that the recogniser knows by their names, or any tag. */
export function LanguageField({ draft: { agent, change, fault } }: { draft: Draft }) {
  const { data } = useProviders()
  const [isTyped, setTyped] = useState(false)
  const { language } = agent
  const known = languagesOf(data?.providers ?? [], agent)
  const options = [...new Set([language, ...known])]
    .filter((tag) => tag !== FOLLOWS)
    .map((tag) => [tag, nameOf(tag)] as const)
    .toSorted(([, a], [, b]) => a.localeCompare(b, locale))
  return (
    <Field
      fault={faultOf(fault, 'language')}
      hint={isTyped ? t('A language tag, such as en or pt-BR.') : t('What is spoken with callers.')}
      label={t('Language')}
    >
      {isTyped ? (
        <Input autoFocus onChange={({ target }) => change({ language: target.value })} value={language} />
      ) : (
        <Select
          onChange={({ target }) => (target.value === ANOTHER ? setTyped(true) : change({ language: target.value }))}
          value={language}
        >
          {(language === FOLLOWS || known.has(FOLLOWS)) && (
            <option value={FOLLOWS}>{t('Several: it follows the caller')}</option>
          )}
          {options.map(([tag, name]) => (
            <option key={tag} value={tag}>
              {name}
            </option>
          ))}
          <option value={ANOTHER}>{t('Another, by its tag')}</option>
        </Select>
      )}
    </Field>
  )
}

/** Those of the agent's recogniser; those of all where it lists none. */
function languagesOf(providers: readonly Provider[], { STT_provider, STT_model }: Draft['agent']): ReadonlySet<string> {
  const listed = providers.find(({ provider }) => provider === STT_provider)?.stt?.models
  const own = listed?.find(({ model }) => model === STT_model)?.languages ?? []
  if (own.length > 0) return new Set(own)
  return new Set(providers.flatMap(({ stt }) => stt?.models.flatMap(({ languages }) => languages) ?? []))
}

function nameOf(tag: string): string {
  try {
    return names.of(tag) ?? tag
  } catch {
    // A tag that is still being typed.
    return tag
  }
}
