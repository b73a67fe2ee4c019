import { useState } from 'react'
import { formatList } from '../../data/format.ts'
import { useProviders } from '../../data/providers.ts'
import { locale } from '../../language/language.ts'
import { t } from '../../language/t.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Badge, Empty } from '../../ui/layout.tsx'
import { holdsAll } from '../../ui/list/holds-all.ts'
import { SearchInput } from '../../ui/list/search-input.tsx'
import type { Draft } from './agent.tsx'
import { HearButton, useVoiceSample } from './hear-voice.tsx'

const MAX_ROWS = 100
const MAX_LANGUAGES = 4
const languageNames = new Intl.DisplayNames(locale, { type: 'language' })

/** Opens the list of voices. */
export function ChooseVoice({ draft }: { draft: Draft }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button onClick={() => setOpen(true)} size="sm">
        {t('Choose a voice')}
      </Button>
      {isOpen && <VoiceDialog draft={draft} onClose={() => setOpen(false)} />}
    </>
  )
}

/** The voices of the agent's provider with names and languages, each to be heard; those of the agent's language first. */
function VoiceDialog({ draft: { agent, change }, onClose }: { draft: Draft; onClose: () => void }) {
  const { data } = useProviders()
  const sample = useVoiceSample(agent)
  const [sought, setSought] = useState('')
  const isOfAgent = (tag: string) => tag.split('-')[0] === agent.language.split('-')[0]
  const voices = (data?.providers.find(({ provider }) => provider === agent.TTS_provider)?.tts?.voices ?? [])
    .map(({ voice, name, languages }) => ({ voice, name, languages, spoken: languages.map(nameOf) }))
    .filter(({ voice, name, languages, spoken }) => holdsAll([voice, name, ...languages, ...spoken], sought))
    .toSorted((a, b) => Number(b.languages.some(isOfAgent)) - Number(a.languages.some(isOfAgent)))
  return (
    <Dialog onClose={onClose} open title={t('Choose a voice')} wide>
      {/* What is searched for is nothing that could be lost. */}
      <div className="mb-3" onInput={(event) => event.stopPropagation()}>
        <SearchInput
          label={t('Search voices')}
          onSearch={setSought}
          placeholder={t('Name or language')}
          value={sought}
        />
      </div>
      {voices.length === 0 && (
        <Empty icon="search" title={t('No voice matches')}>
          {t('Search for something else.')}
        </Empty>
      )}
      <ul aria-label={t('Voices')} className="divide-y divide-line">
        {voices.slice(0, MAX_ROWS).map(({ voice, name, spoken }) => (
          <li className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2" key={voice}>
            <span className="min-w-40 flex-1">
              <span className="block truncate font-medium" title={voice}>
                {name}
              </span>
              <span className="block truncate text-xs text-muted">{formatList(spoken, MAX_LANGUAGES)}</span>
            </span>
            <HearButton name={name} sample={sample} voice={voice} />
            {voice === agent.TTS_voice ? (
              <Badge tone="accent">{t('Chosen')}</Badge>
            ) : (
              <Button
                aria-label={t('Use {name}', { name })}
                onClick={() => {
                  change({ TTS_voice: voice })
                  onClose()
                }}
                size="sm"
              >
                {t('Use')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {voices.length > MAX_ROWS && (
        <p className="mt-3 text-sm text-muted">
          {t('The first {n} of {all}: search for others.', { n: MAX_ROWS, all: voices.length })}
        </p>
      )}
    </Dialog>
  )
}

function nameOf(tag: string): string {
  try {
    return languageNames.of(tag) ?? tag
  } catch {
    // No language tag.
    return tag
  }
}
