import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { onReached, onSessionOver, Unreachable, whoAmI } from './data/api.ts'
import { SessionProvider } from './data/session.tsx'
import type { User } from './data/types.ts'
import { t } from './language/t.ts'
import { LoginForm, SignIn } from './screens/sign-in.tsx'
import { Dialog } from './ui/dialog.tsx'
import { Fault } from './ui/fault.tsx'

const ASK_AGAIN_MS = 1_000

/**
 * Lets in who is signed in. A session that ends under an open page is taken up again by a dialog over it, so that nothing
 * typed is lost; an instance that goes away is waited for.
 */
export function Gate({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const {
    data: user,
    isPending,
    error,
  } = useQuery({
    queryKey: ['me'],
    queryFn: async () => (await whoAmI<User>()) ?? null,
    retry: (_, fault) => fault instanceof Unreachable,
    retryDelay: ASK_AGAIN_MS,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const away = useAway()
  const [isOver, signedInAgain] = useSignInAgain()
  return (
    <>
      {away && (
        <div
          className="fixed inset-x-0 top-0 z-60 bg-warn-soft px-4 py-2 text-center text-sm font-medium text-warn"
          role="status"
        >
          {t('Patchbay does not answer. This page comes back by itself; nothing you typed is lost.')}
        </div>
      )}
      {error && !away && (
        <div className="mx-auto max-w-md p-8">
          <Fault error={error} retry={() => void queries.invalidateQueries({ queryKey: ['me'] })} />
        </div>
      )}
      {!isPending && !error && (user ? <SessionProvider user={user}>{children}</SessionProvider> : <SignIn />)}
      {user && (
        <Dialog
          firm
          lead={t('Your session ended. Sign in to go on where you were; nothing you typed is lost.')}
          onClose={() => {}}
          open={isOver}
          title={t('Sign in again')}
        >
          <LoginForm email={user.email} onDone={signedInAgain} />
        </Dialog>
      )}
    </>
  )
}

/** Whether the instance is away; while it is, asks again and again, and then reads everything anew. */
function useAway(): boolean {
  const queries = useQueryClient()
  const [away, setAway] = useState(false)
  useEffect(() => onReached((isReached) => setAway(!isReached)), [])
  useEffect(() => {
    if (!away) return
    const timer = setInterval(async () => {
      const isBack = await fetch('/health').then(
        ({ ok }) => ok,
        () => false,
      )
      if (!isBack) return
      clearInterval(timer)
      setAway(false)
      void queries.invalidateQueries()
    }, ASK_AGAIN_MS)
    return () => clearInterval(timer)
  }, [away, queries])
  return away
}

/** Whether the session is over, and what to call once somebody signed in: every request that waited goes on. */
function useSignInAgain(): [boolean, () => void] {
  const waiting = useRef<(() => void)[]>([])
  const [isOver, setOver] = useState(false)
  useEffect(
    () =>
      onSessionOver(
        () =>
          new Promise((resolve) => {
            waiting.current.push(resolve)
            setOver(true)
          }),
      ),
    [],
  )
  const done = () => {
    setOver(false)
    for (const resolve of waiting.current.splice(0)) resolve()
  }
  return [isOver, done]
}
