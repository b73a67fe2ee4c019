import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { api } from '../data/api.ts'
import { formatInner } from '../data/format.ts'
import { t } from '../language/t.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Loading, Notice } from '../ui/layout.tsx'
import { Wordmark } from '../ui/wordmark.tsx'
import { Heading, PersonFields, useForm } from './sign-in.tsx'

/** Where one-time links lead: signing up, a new password, a confirmed address. The token stands behind `#`, which no server sees. */

const PAGES = { signup: SignUp, reset: Reset, verify: Verify } as const
const PREFIX = '/console/welcome/'
const CONSOLE = '/console/'

/** The page of a one-time link; undefined: the address is another. */
export function welcomePage(path: string): (() => ReactNode) | undefined {
  const name = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : ''
  const Page = Object.hasOwn(PAGES, name) ? PAGES[name as keyof typeof PAGES] : undefined
  if (Page === undefined) return undefined
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  return () => (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <Wordmark />
        <Page token={token} />
      </div>
    </main>
  )
}

interface Offer {
  email: string
  workspace_name: string | null
  role: string | null
}

function SignUp({ token }: { token: string }) {
  const { data: offer, error: invalid } = useQuery({
    queryKey: ['invitation'],
    queryFn: () => api<Offer>('/auth/invitation', { method: 'POST', body: { token } }),
  })
  const { busy, error, onSubmit } = useForm(async ({ name, email, password, phone_number }) => {
    const body = { name, email: offer?.email || email, password, phone_number, invitation: token }
    await api('/auth/signup', { method: 'POST', body })
    await api('/auth/login', { method: 'POST', body: { email: body.email, password } })
    location.assign(CONSOLE)
  })
  if (invalid) return <Refused error={invalid} />
  if (offer === undefined) return <Loading />
  return (
    <>
      <Heading title={t('Sign up')}>
        {offer.workspace_name === null
          ? t('Your account comes with a workspace of its own.')
          : t('You are invited to “{workspace}” as {role}.', {
              workspace: offer.workspace_name,
              role: formatInner(offer.role),
            })}
      </Heading>
      <form className="space-y-4" onSubmit={onSubmit}>
        <PersonFields email={offer.email} error={error} />
        <Fault error={error} />
        <Button busy={busy} className="w-full" kind="primary" type="submit">
          {t('Sign up')}
        </Button>
      </form>
    </>
  )
}

function Reset({ token }: { token: string }) {
  const reset = useMutation<unknown, Error, string>({
    mutationFn: (new_password) => api('/auth/password/reset', { method: 'POST', body: { token, new_password } }),
  })
  const { busy, error, onSubmit } = useForm(async ({ new_password = '' }) => {
    await reset.mutateAsync(new_password)
  })
  if (reset.isSuccess) return <Done title={t('Your password is changed')} />
  return (
    <>
      <Heading title={t('Choose a new password')}>{t('Every session ends; sign in with it afterwards.')}</Heading>
      <form className="space-y-4" onSubmit={onSubmit}>
        <Field fault={faultOf(error, 'new_password')} hint={t('At least 8 characters')} label={t('New password')}>
          <Input autoComplete="new-password" autoFocus minLength={8} name="new_password" required type="password" />
        </Field>
        <Fault error={error} />
        <Button busy={busy} className="w-full" kind="primary" type="submit">
          {t('Change the password')}
        </Button>
      </form>
    </>
  )
}

/** Confirmed by a click: programs that open links of mails must not use the link up. */
function Verify({ token }: { token: string }) {
  const verify = useMutation<unknown, Error>({
    mutationFn: () => api('/auth/email/verify', { method: 'POST', body: { token } }),
  })
  if (verify.isSuccess) return <Done title={t('Your e-mail address is confirmed')} />
  return (
    <>
      <Heading title={t('Confirm your e-mail address')} />
      <div className="space-y-4">
        <Fault error={verify.error} />
        <Button busy={verify.isPending} className="w-full" kind="primary" onClick={() => verify.mutate()}>
          {t('Confirm')}
        </Button>
      </div>
    </>
  )
}

function Done({ title }: { title: string }) {
  return (
    <div role="status">
      <Heading title={title} />
      <a className={`${buttonClass('primary')} w-full`} href={CONSOLE}>
        {t('Open Patchbay')}
      </a>
    </div>
  )
}

function Refused({ error }: { error: Error }) {
  return (
    <>
      <Heading title={t('This link does not work')} />
      <Notice tone="bad">{error.message}</Notice>
      <p className="mt-4">
        {t(
          'It works once and for a week. Ask the person who sent it for a new one, or sign in if you have an account.',
        )}
      </p>
      <a className={`${buttonClass()} mt-4`} href={CONSOLE}>
        {t('Sign in')}
      </a>
    </>
  )
}
