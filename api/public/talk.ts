import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { publicAgentById } from '../../store/agents/public-agents.ts'
import type { PublicLook } from '../../store/database/schema.ts'
import { lookOf } from '../agents/look.ts'
import { callExample } from '../calls/schema.ts'
import { escapeHtml } from '../http/escape-html.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'

/** Scripts of this server alone. The sound worklet and the session need no more than its own origin. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data:',
  "connect-src 'self' ws: wss:",
  "media-src 'self' blob: mediastream:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

interface Page {
  id: string
  name: string
  language: string
  look: PublicLook
}

/** The accent of the page; its contrast to what stands on it is the widget's affair. */
const pageOf = ({ id, name, language, look: { color, theme } }: Page): string => `<!doctype html>
<html lang="${language === 'multi' ? 'en' : escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(name)}</title>
<style>
html { color-scheme: ${theme === 'auto' ? 'light dark' : theme}; --tint: ${color ?? 'light-dark(#0b6b66, #4fb8ae)'} }
body { margin: 0; min-height: 100dvh; display: grid; place-items: center; padding: 1rem; box-sizing: border-box;
  background: linear-gradient(160deg, color-mix(in srgb, var(--tint) 16%, Canvas), Canvas 60%) }
main { width: min(28rem, 100%) }
h1 { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
</style>
</head>
<body>
<main>
<h1>${escapeHtml(name)}</h1>
<patchbay-agent agent="${id}" inline lang="${language === 'multi' ? '' : escapeHtml(language)}"></patchbay-agent>
</main>
<script src="/widget.js"></script>
</body>
</html>
`

export const talkRoute: AnyRoute = defineRoute({
  method: 'GET',
  path: '/talk/{agent_id}',
  auth: 'none',
  role: 'none',
  params: {
    agent_id: { description: 'A public agent.', notFound: 'agent_not_found', example: callExample.agent_id },
  },
  success: { status: 200, schema: Type.String(), contentType: 'text/html' },
  errors: ['agent_not_found'],
  tag: 'Public agents',
  summary: 'A page on which anybody can talk to a public agent',
  handler: async ({ params }, { store }) => {
    const found = await publicAgentById(store, params.agent_id)
    if (found === undefined || found.isSuspended) throw new PatchbayError('agent_not_found')
    const { id, agent_name: name, language } = found.agent
    return new Reply({
      body: pageOf({ id, name, language, look: lookOf(found.access.look) }),
      headers: [
        ['content-type', 'text/html; charset=utf-8'],
        ['content-security-policy', CONTENT_SECURITY_POLICY],
        // The microphone for this page alone.
        ['permissions-policy', 'microphone=(self)'],
        ['referrer-policy', 'no-referrer'],
      ],
    })
  },
})
