import { t } from '../../../language/t.ts'
import { Button } from '../../../ui/button.tsx'
import { faultOf } from '../../../ui/fault.tsx'
import { Field, Input, Switch, Textarea } from '../../../ui/field.tsx'
import { Card } from '../../../ui/layout.tsx'
import { toast } from '../../../ui/toast.tsx'
import type { Draft } from '../agent.tsx'
import { LookForm, PLAIN_LOOK } from './look-form.tsx'

const PRIVATE = { origins: [], max_calls: 5, per_address_per_hour: 20, look: PLAIN_LOOK }

/** Whether anybody may talk to the agent from web pages, and what to put into such a page. */
export function PublicForm({ draft }: { draft: Draft }) {
  const { agent, saved, change, fault, isReadOnly } = draft
  const access = agent.public
  const set = (fields: Partial<NonNullable<typeof access>>) => change({ public: { ...(access ?? PRIVATE), ...fields } })
  const originFault = Object.entries(faultsOf(draft)).find(([name]) => name.startsWith('public.origins'))?.[1]
  return (
    <div className="space-y-4">
      <Card title={t('On web pages')}>
        <fieldset className="space-y-4" disabled={isReadOnly}>
          <Switch
            checked={access !== null}
            disabled={isReadOnly}
            hint={t('From a page of its own and the pages you name, without an account.')}
            label={t('Anybody may talk to this agent')}
            onChange={(isPublic) => change({ public: isPublic ? PRIVATE : null })}
          />
          {access && (
            <>
              <Field
                fault={originFault}
                hint={t('One a line, as https://shop.example.com; * for any page. Its own page needs none.')}
                label={t('Pages that may')}
              >
                <Textarea
                  className="font-mono text-sm"
                  defaultValue={access.origins.join('\n')}
                  onChange={({ target: { value } }) =>
                    set({
                      origins: value
                        .split(/[\n,]/)
                        .map((line) => line.trim())
                        .filter(Boolean),
                    })
                  }
                  rows={3}
                />
              </Field>
              <div className="grid gap-4 sm:grid-cols-2">
                <Field fault={faultOf(fault, 'public.max_calls')} label={t('Web calls at once, at most')}>
                  <Input
                    min={1}
                    onChange={({ target: { value } }) => set({ max_calls: Number(value) })}
                    type="number"
                    value={access.max_calls || ''}
                  />
                </Field>
                <Field
                  fault={faultOf(fault, 'public.per_address_per_hour')}
                  hint={t('Keeps one visitor from taking all.')}
                  label={t('Calls of one address in an hour')}
                >
                  <Input
                    min={1}
                    onChange={({ target: { value } }) => set({ per_address_per_hour: Number(value) })}
                    type="number"
                    value={access.per_address_per_hour || ''}
                  />
                </Field>
              </div>
            </>
          )}
        </fieldset>
      </Card>
      {access && (
        <LookForm agent={agent} isReadOnly={isReadOnly} look={access.look} onChange={(look) => set({ look })} />
      )}
      {saved.public && <Embed agentId={agent.agent_id} />}
    </div>
  )
}

const faultsOf = ({ fault }: Draft): Readonly<Record<string, string>> =>
  fault && 'fields' in fault ? (fault.fields as Record<string, string>) : {}

/** What is put into a page; shown once it works. */
function Embed({ agentId }: { agentId: string }) {
  const code = `<script src="${location.origin}/widget.js" async></script>\n<patchbay-agent agent="${agentId}"></patchbay-agent>`
  return (
    <Card
      actions={
        <>
          <Button
            icon="copy"
            onClick={() => void navigator.clipboard.writeText(code).then(() => toast(t('Copied')))}
            size="sm"
          >
            {t('Copy')}
          </Button>
          <a
            className="text-sm font-medium text-accent-ink underline underline-offset-2"
            href={`/talk/${agentId}`}
            rel="noopener"
            target="_blank"
          >
            {t('Its own page')}
          </a>
        </>
      }
      title={t('Put it into your page')}
    >
      <pre
        className="overflow-x-auto rounded-md bg-sunken p-3 text-xs"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {code}
      </pre>
      <p className="mt-2 text-xs text-muted">
        {t(
          'Microphones need a page of https, or of localhost. For users of your own, without a public agent: a server of yours hands out sessions with an API key, as docs/web.md shows.',
        )}
      </p>
    </Card>
  )
}
