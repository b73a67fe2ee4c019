/** What the answers that tests of the console read have. */
export interface Answer {
  user: { current_workspace_id: string }
  agent_id: string
  invitation_id: string
  items: { call_log_id: string; type: string; status: string }[]
}

export const PASSWORD = 'correct horse'

/** A client of the API with the cookies of one user. */
export function userOf(url: string, email: string) {
  let cookies = ''
  async function ask<T = Answer>(method: string, path: string, body?: object): Promise<T> {
    const isForm = body instanceof FormData
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { cookie: cookies, ...(body && !isForm && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    })
    const set = answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
    if (set.length > 0) cookies = set.join('; ')
    return (await answer.json()) as T
  }
  return {
    ask,
    async enter(name: string) {
      await ask('POST', '/auth/signup', { name, email, password: PASSWORD, phone_number: '+14155550123' })
      const { user } = await ask('POST', '/auth/login', { email, password: PASSWORD })
      return user
    },
    cookies: () =>
      cookies.split('; ').map((pair) => {
        const at = pair.indexOf('=')
        return { name: pair.slice(0, at), value: pair.slice(at + 1), url }
      }),
  }
}
