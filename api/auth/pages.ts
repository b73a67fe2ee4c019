import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { defineRoute, Reply } from '../route.ts'

/** The pages that links by mail, or from the operator, lead to. They load nothing from elsewhere. */

const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; form-action 'none'; frame-ancestors 'none'"

const FIELDS = {
  reset:
    '<label>New password <input name="new_password" type="password" minlength="8" autocomplete="new-password" required></label>',
  verify: '',
  signup: `<label>Name <input name="name" required></label>
<label>E-mail <input name="email" type="email" autocomplete="email" required></label>
<label>Phone number <input name="phone_number" type="tel" placeholder="+14155550123" required></label>
<label>Password <input name="password" type="password" minlength="8" autocomplete="new-password" required></label>`,
} as const

const TITLES = { reset: 'Choose a new password', verify: 'Confirm your e-mail address', signup: 'Sign up' } as const

/** The token stands behind `#` and is sent with the form alone. */
const SCRIPT = `const page = location.pathname.split('/').pop()
const path = { reset: '/auth/password/reset', verify: '/auth/email/verify', signup: '/auth/signup' }[page]
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
document.querySelector('form').addEventListener('submit', async (event) => {
  event.preventDefault()
  const fields = Object.fromEntries(new FormData(event.target))
  const body = JSON.stringify({ ...fields, [page === 'signup' ? 'invitation' : 'token']: token })
  const answer = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  const { detail } = await answer.json()
  const said = Array.isArray(detail) ? detail.map(({ loc, msg }) => loc.at(-1) + ' ' + msg).join('; ') : detail
  document.querySelector('output').textContent = answer.ok ? 'Done.' : said
})
`

export const accountPage = defineRoute({
  method: 'GET',
  path: '/account/{page}',
  auth: 'none',
  role: 'none',
  params: { page: { description: '`reset`, `verify` or `signup`.', example: 'reset' } },
  success: { status: 200, schema: Type.String(), contentType: 'text/html' },
  errors: ['not_found'],
  tag: 'Authentication',
  summary: 'The pages that one-time links lead to',
  handler: ({ params: { page } }) => {
    if (page === 'start.js') return file(SCRIPT, 'text/javascript; charset=utf-8')
    if (!Object.hasOwn(FIELDS, page)) throw new PatchbayError('not_found')
    return file(pageOf(page as keyof typeof FIELDS), 'text/html; charset=utf-8')
  },
})

function pageOf(page: keyof typeof FIELDS): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${TITLES[page]}</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 24rem; margin: 3rem auto; padding: 0 1rem } label, input { display: block; width: 100% } input, button { font: inherit; padding: 0.4rem; margin: 0.2rem 0 1rem }</style>
</head>
<body>
<h1>${TITLES[page]}</h1>
<form>
${FIELDS[page]}
<button>${TITLES[page]}</button>
<output></output>
</form>
<script src="/account/start.js"></script>
</body>
</html>
`
}

function file(body: string, contentType: string): Reply {
  return new Reply({
    body,
    headers: [
      ['content-type', contentType],
      ['content-security-policy', CONTENT_SECURITY_POLICY],
    ],
  })
}
