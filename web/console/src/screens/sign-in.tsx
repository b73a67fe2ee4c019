import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { api } from '../data/api.ts'
import type { User } from '../data/types.ts'
import { t } from '../language/t.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Fault, faultOf } from '../ui/fault.tsx'
import { Field, Input } from '../ui/field.tsx'
import { Notice, setPageTitle } from '../ui/layout.tsx'
import { Wordmark } from '../ui/wordmark.tsx'
import { makeSampleAgent } from './sample-agent.ts'

interface Offer {
  open: boolean
  setup_token: boolean
  sso: string | null
  first: boolean
}

/** The door: the first visit makes the account that runs the installation, later ones sign in. */
export function SignIn() {
  const queries = useQueryClient()
  const { data: offer, isPending } = useQuery({ queryKey: ['signup'], queryFn: () => api<Offer>('/auth/signup') })
  const [wanted, setWanted] = useState<'login' | 'signup' | 'forgotten'>()
  if (isPending) return null
  const view = wanted ?? (offer?.first && (offer.open || offer.setup_token) ? 'signup' : 'login')
  const enter = () => void queries.invalidateQueries({ queryKey: ['me'] })
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <Wordmark />
        {view === 'signup' && (
          <>
            <Heading title={offer?.first ? t('Welcome to Patchbay') : t('Sign up')}>
              {offer?.first
                ? t('Create your account. It runs this installation and comes with an agent to talk to.')
                : t('Your account comes with a workspace of its own.')}
            </Heading>
            <SignupForm first={offer?.first ?? false} onDone={enter} wantsToken={offer?.setup_token ?? false} />
            <Switch ask={t('You have an account?')} label={t('Sign in')} onClick={() => setWanted('login')} />
          </>
        )}
        {view === 'login' && (
          <>
            <Heading title={t('Sign in')} />
            <SsoFault />
            <LoginForm onDone={enter} />
            {offer?.sso && (
              <a className={`${buttonClass()} mt-3 w-full`} href="/auth/sso">
                {t('Sign in with {name}', { name: offer.sso })}
              </a>
            )}
            <div className="mt-4 flex flex-wrap justify-between gap-2">
              {offer?.open && <Switch ask={t('New here?')} label={t('Sign up')} onClick={() => setWanted('signup')} />}
              <Switch label={t('Forgot your password?')} onClick={() => setWanted('forgotten')} />
            </div>
          </>
        )}
        {view === 'forgotten' && (
          <>
            <Heading title={t('Forgotten password')}>
              {t('You get a link by mail. If this installation sends no mail, ask the operator for one.')}
            </Heading>
            <ForgottenForm />
            <Switch label={t('Back to signing in')} onClick={() => setWanted('login')} />
          </>
        )}
      </div>
    </main>
  )
}

const SSO_FAULTS: Readonly<Record<string, string>> = {
  sso_failed: t('The identity provider did not sign you in. Try again, or ask the operator of this installation.'),
  sso_email_unverified: t(
    'The identity provider does not vouch for your e-mail address, so no account is given to it.',
  ),
  unavailable: t('The identity provider does not answer. Try again in a minute.'),
}

/** Why a sign-in by the identity provider failed: it led here with the reason in the address. */
function SsoFault() {
  const fault = SSO_FAULTS[new URLSearchParams(location.search).get('sso_error') ?? '']
  return (
    fault && (
      <div className="mb-4">
        <Notice tone="bad">{fault}</Notice>
      </div>
    )
  )
}

export function Heading({ title, children }: { title: string; children?: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (heading.current) setPageTitle(heading.current)
  })
  return (
    <div className="mt-8 mb-5">
      <h1 ref={heading}>{title}</h1>
      {children && <p className="mt-1 text-muted">{children}</p>}
    </div>
  )
}

function Switch({ ask, label, onClick }: { ask?: string; label: string; onClick: () => void }) {
  return (
    <p className="mt-4 text-sm text-muted">
      {ask}{' '}
      <button className="font-medium text-accent-ink underline underline-offset-2" onClick={onClick} type="button">
        {label}
      </button>
    </p>
  )
}

/** Runs a form's request and keeps its fault. */
export function useForm(send: (fields: Record<string, string>) => Promise<void>) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const onSubmit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      await send(Object.fromEntries(new FormData(event.currentTarget)) as Record<string, string>)
    } catch (cause) {
      setError(cause as Error)
    } finally {
      setBusy(false)
    }
  }
  return { busy, error, onSubmit }
}

export function LoginForm({ onDone, email }: { onDone: () => void; email?: string }) {
  const { busy, error, onSubmit } = useForm(async (fields) => {
    await api<{ user: User }>('/auth/login', { method: 'POST', body: { ...fields, ...(email ? { email } : {}) } })
    onDone()
  })
  return (
    <form className="space-y-4" onSubmit={onSubmit}>
      <Field label={t('E-mail')}>
        <Input
          autoComplete="username"
          defaultValue={email}
          disabled={email !== undefined}
          name="email"
          required
          type="email"
        />
      </Field>
      <Field label={t('Password')}>
        <Input
          autoComplete="current-password"
          autoFocus={email !== undefined}
          name="password"
          required
          type="password"
        />
      </Field>
      <Fault error={error} />
      <Button busy={busy} className="w-full" kind="primary" type="submit">
        {t('Sign in')}
      </Button>
    </form>
  )
}

function SignupForm({ first, wantsToken, onDone }: { first: boolean; wantsToken: boolean; onDone: () => void }) {
  const { busy, error, onSubmit } = useForm(async ({ name, email, password, phone_number, setup_token }) => {
    const proof = wantsToken ? { setup_token } : {}
    await api<User>('/auth/signup', { method: 'POST', body: { name, email, password, phone_number, ...proof } })
    await api('/auth/login', { method: 'POST', body: { email, password } })
    // The first user finds an agent to talk to; a failure to create it does not prevent signing in.
    await makeSampleAgent().catch(() => {})
    onDone()
  })
  return (
    <form className="space-y-4" onSubmit={onSubmit}>
      <PersonFields error={error} />
      {wantsToken && (
        <Field
          hint={t('The start prints it, and so does: npm run patchbay admin setup-token')}
          label={t('Setup token')}
        >
          <Input
            autoComplete="off"
            defaultValue={new URLSearchParams(location.hash.slice(1)).get('setup') ?? ''}
            name="setup_token"
            required
          />
        </Field>
      )}
      <Fault error={error} />
      <Button busy={busy} className="w-full" kind="primary" type="submit">
        {first ? t('Create my account') : t('Sign up')}
      </Button>
    </form>
  )
}

/** Who signs up. With `email` the address is settled, and not sent by the form. */
export function PersonFields({ error, email = '' }: { error: Error | null; email?: string }) {
  return (
    <>
      <Field fault={faultOf(error, 'name')} label={t('Name')}>
        <Input autoComplete="name" autoFocus name="name" required />
      </Field>
      <Field fault={faultOf(error, 'email')} label={t('E-mail')}>
        <Input
          autoComplete="username"
          defaultValue={email}
          disabled={email !== ''}
          name="email"
          required
          type="email"
        />
      </Field>
      <Field fault={faultOf(error, 'password')} hint={t('At least 8 characters')} label={t('Password')}>
        <Input autoComplete="new-password" minLength={8} name="password" required type="password" />
      </Field>
      <Field
        fault={faultOf(error, 'phone_number')}
        hint={t('With country code, as +14155550123')}
        label={t('Phone number')}
      >
        <Input autoComplete="tel" name="phone_number" required type="tel" />
      </Field>
    </>
  )
}

function ForgottenForm() {
  const [said, setSaid] = useState<string>()
  const { busy, error, onSubmit } = useForm(async (body) => {
    setSaid((await api<{ detail: string }>('/auth/password/forgotten', { method: 'POST', body })).detail)
  })
  if (said) return <p role="status">{said}</p>
  return (
    <form className="space-y-4" onSubmit={onSubmit}>
      <Field label={t('E-mail')}>
        <Input autoComplete="username" name="email" required type="email" />
      </Field>
      <Fault error={error} />
      <Button busy={busy} className="w-full" kind="primary" type="submit">
        {t('Send the link')}
      </Button>
    </form>
  )
}
