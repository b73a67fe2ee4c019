import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from '../instance/services.ts'

/** An identity provider: `oidc-provider`, certified for OpenID Connect, whose development pages take any password. */

export interface Account {
  name?: string
  email?: string
  email_verified?: boolean
  phone_number?: string
  groups?: string[]
}

interface ProviderOptions {
  /** Addresses that may be led back to. */
  redirectUris: string[]
  /** By the name they sign in with. */
  accounts: Readonly<Record<string, Account>>
}

type Provider = new (
  issuer: string,
  options: object,
) => { callback(): RequestListener; on(event: string, heard: (...told: unknown[]) => void): void }

export const CLIENT = { id: 'patchbay', secret: 'a-secret-of-the-client-that-is-long-enough' }

/** Starts the provider; returns its issuer. What it knows of its accounts may change while it runs. */
export async function startIdentityProvider(t: Teardown, { redirectUris, accounts }: ProviderOptions): Promise<string> {
  // It ships no types.
  const { default: Provider } = (await import('oidc-provider' as string)) as { default: Provider }
  let listener: RequestListener = (_, response) => response.end()
  const server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT.id, client_secret: CLIENT.secret, redirect_uris: redirectUris }],
    claims: {
      openid: ['sub', 'groups'],
      email: ['email', 'email_verified'],
      profile: ['name'],
      phone: ['phone_number'],
    },
    pkce: { required: () => true },
    cookies: { keys: ['a-key-of-the-test'] },
    features: { devInteractions: { enabled: true } },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
  })
  listener = provider.callback()
  return issuer
}

/** What a browser does from `url` on until it is led to a page of `home`: signs in with this name and agrees. */
export class SsoBrowser {
  readonly #jars = new Map<string, Map<string, string>>()

  async signIn(url: string, name: string, home: string): Promise<{ page: URL; cookies: string }> {
    let next = new URL(url)
    let form: URLSearchParams | undefined
    for (let step = 0; step < 20; step++) {
      const answer = await fetch(next, {
        redirect: 'manual',
        headers: { cookie: this.cookiesOf(next.origin), 'accept-language': 'sv-SE,sv;q=0.9' },
        ...(form && { method: 'POST', body: form }),
      })
      form = undefined
      this.#keep(next.origin, answer)
      const location = answer.headers.get('location')
      if (location !== null) {
        next = new URL(location, next)
        if (next.origin === new URL(home).origin && next.pathname.startsWith('/console')) {
          return { page: next, cookies: this.cookiesOf(next.origin) }
        }
        continue
      }
      const text = await answer.text()
      const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1]
      const action = /action="([^"]+)"/.exec(text)?.[1]
      if (prompt === undefined || action === undefined)
        throw new Error(`${answer.status} of ${next}: ${text.slice(0, 500)}`)
      next = new URL(action, next)
      form = new URLSearchParams({ prompt, ...(prompt === 'login' && { login: name, password: 'any' }) })
    }
    throw new Error('Led on and on')
  }

  cookiesOf(origin: string): string {
    return [...(this.#jars.get(origin) ?? [])].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  #keep(origin: string, answer: Response): void {
    const jar = this.#jars.get(origin) ?? new Map<string, string>()
    this.#jars.set(origin, jar)
    for (const cookie of answer.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';')
      const at = pair.indexOf('=')
      const isOver = /max-age=0|expires=thu, 01 jan 1970/i.test(cookie)
      if (isOver) jar.delete(pair.slice(0, at))
      else jar.set(pair.slice(0, at), pair.slice(at + 1))
    }
  }
}
