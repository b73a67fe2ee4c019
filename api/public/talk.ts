import { Type } from 'typebox'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { publicAgentById } from '../../store/agents/public-agents.ts'
import { callExample } from '../calls/schema.ts'
import { escapeHtml } from '../http/escape-html.ts'
import { type AnyRoute, defineRoute, Reply } from '../route.ts'

/** Scripts of this server alone. The sound worklet and the session need no more than its own origin. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "connect-src 'self' ws: wss:",
  "media-src 'self' blob: mediastream:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const pageOf = ({ id, name, language }: { id: string; name: string; language: string }): string => `<!doctype html>
<html lang="${language === 'multi' ? 'en' : escapeHtml(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(name)}</title>
<style>
html { color-scheme: light dark; font-family: system-ui, sans-serif }
body { margin: 0; min-height: 100vh; display: grid; place-items: center }
main { width: min(30rem, 100vw - 2rem) }
h1 { font-size: 1.4rem; text-align: center }
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
      body: pageOf({ id, name, language }),
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
