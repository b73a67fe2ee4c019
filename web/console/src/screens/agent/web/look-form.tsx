import { useState } from 'react'
import type { Agent } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { Field, Input, Select, Textarea } from '../../../ui/field.tsx'
import { Card } from '../../../ui/layout.tsx'
import { avatarOf } from './avatar.ts'
import { LookPreview } from './look-preview.tsx'

export type Look = NonNullable<Agent['public']>['look']

/** What a look has that was never set; its color is that of the widget. */
export const PLAIN_LOOK: Look = { color: null, avatar: null, greeting: '', corner: 'bottom_right', theme: 'auto' }
const DEFAULT_COLOR = '#0b6b66'

interface LookFormProps {
  agent: Agent
  look: Look
  isReadOnly: boolean
  onChange: (look: Look) => void
}

/** Colour, picture, greeting and place of the widget, beside the widget as visitors will see it. */
export function LookForm({ agent, look, isReadOnly, onChange }: LookFormProps) {
  const [fault, setFault] = useState<string>()
  const set = (fields: Partial<Look>) => onChange({ ...look, ...fields })
  const pick = async (file: File | undefined) => {
    if (file === undefined) return
    setFault(undefined)
    try {
      set({ avatar: await avatarOf(file) })
    } catch {
      setFault(t('The browser can’t read this file as a picture.'))
    }
  }
  return (
    <Card title={t('Look')}>
      <div className="grid gap-6 xl:grid-cols-2">
        <fieldset className="min-w-0 space-y-4" disabled={isReadOnly}>
          <Field hint={t('Of buttons and of what the visitor says.')} label={t('Color')}>
            <div className="flex gap-2">
              <Input
                aria-label={t('Color')}
                className="max-w-20 p-1"
                onChange={({ target }) => set({ color: target.value })}
                type="color"
                value={look.color ?? DEFAULT_COLOR}
              />
              {look.color !== null && <Button onClick={() => set({ color: null })}>{t('Default')}</Button>}
            </div>
          </Field>
          <Field fault={fault} hint={t('PNG, JPEG or WebP; it becomes a small square.')} label={t('Picture')}>
            <Input
              accept="image/png,image/jpeg,image/webp"
              className="py-1.5"
              onChange={({ target }) => void pick(target.files?.[0])}
              type="file"
            />
          </Field>
          {look.avatar !== null && (
            <Button icon="trash" onClick={() => set({ avatar: null })}>
              {t('Remove picture')}
            </Button>
          )}
          <Field hint={t('Shown before the call.')} label={t('Greeting')}>
            <Textarea
              maxLength={300}
              onChange={({ target }) => set({ greeting: target.value })}
              rows={2}
              value={look.greeting}
            />
          </Field>
          <div className="space-y-4">
            <Field label={t('Corner')}>
              <Select onChange={({ target }) => set({ corner: target.value as Look['corner'] })} value={look.corner}>
                <option value="bottom_right">{t('Bottom right')}</option>
                <option value="bottom_left">{t('Bottom left')}</option>
              </Select>
            </Field>
            <Field label={t('Light or dark')}>
              <Select onChange={({ target }) => set({ theme: target.value as Look['theme'] })} value={look.theme}>
                <option value="auto">{t('As the visitor’s system')}</option>
                <option value="light">{t('Light')}</option>
                <option value="dark">{t('Dark')}</option>
              </Select>
            </Field>
          </div>
        </fieldset>
        <LookPreview agent={agent} look={look} />
      </div>
    </Card>
  )
}
