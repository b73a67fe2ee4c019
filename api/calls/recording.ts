import { Type } from 'typebox'
import { signalWithin } from '../../runtime/lib/async/signal-within.ts'
import { PatchbayError } from '../../runtime/lib/errors.ts'
import { objectPath, readObject } from '../../store/objects/object-folder.ts'
import { openLinkSigner } from '../../store/objects/object-links.ts'
import { defineRoute, Reply } from '../route.ts'
import { call_log_id, requireCall } from './one-call.ts'

const tag = 'Calls'
const LINK_TTL_S = 300
const TIMEOUT_MS = 10_000

const recording = defineRoute({
  method: 'GET',
  path: '/calls/{call_log_id}/recording',
  auth: 'jwt_or_key',
  audit: [],
  role: 'member',
  params: { call_log_id },
  success: {
    status: 302,
    schema: Type.String(),
    contentType: 'audio/wav',
    description: 'The recording is at `Location`, a signed address that anyone may download from for five minutes.',
  },
  errors: ['call_log_not_found', 'recording_not_found', 'provider_fault'],
  tag,
  summary: 'The recording of a call',
  description:
    'WAV in stereo: the caller on the left, the agent on the right. A call has one some seconds after its end, when ' +
    'calls are recorded (`PATCHBAY_RECORD_CALLS`); its `recording_url` is null until then.',
  handler: async ({ params, tenant, signal, log }, { objects, plugins, recordingsOfNodes }) => {
    const call = await requireCall(tenant, params.call_log_id)
    if (call.recording_key === null) throw new PatchbayError('recording_not_found')
    const link = { expiresInS: LINK_TTL_S, filename: `call-${call.id}.wav` }
    const limit = signalWithin(TIMEOUT_MS, signal)
    const here = await objects.url(call.recording_key, link, limit).catch((cause: Error) => {
      if (signal.aborted) throw cause
      log.warn({ err: cause, callId: call.id }, 'Could not make the download URL of a recording')
      const provider = plugins.titleOf(plugins.chosen('objectstore'))
      throw new PatchbayError('provider_fault', { params: { provider, detail: cause.message }, cause })
    })
    const url = here ?? (await recordingsOfNodes.find(call.recording_key, link))
    if (url === undefined) throw new PatchbayError('recording_not_found')
    return new Reply({
      headers: [
        ['location', url],
        ['cache-control', 'no-store'],
      ],
    })
  },
})

const CONTENT_TYPES: Readonly<Record<string, string>> = { wav: 'audio/wav' }

const file = defineRoute({
  method: 'GET',
  path: '/files/{link}',
  auth: 'none',
  role: 'none',
  params: { link: { description: 'Signed; from a redirect of this API.' } },
  headers: ['range'],
  success: { status: 200, orStatus: 206, schema: Type.String(), contentType: 'application/octet-stream' },
  errors: ['invalid_token', 'token_expired', 'not_found'],
  tag,
  summary: 'A file kept by this instance, such as a recording',
  description: 'Takes a `Range` of one part, as players send it.',
  handler: async (request, { config, clock }) => {
    const { params, signal } = request
    const { key, filename } = openLinkSigner(config.jwtApiSecret, () => clock.nowMs(), config.jwtApiSecretVerify).open(
      params.link,
    )
    const path = objectPath(config.dataDir, key)
    const whole = await readObject(path, signal)
    if (whole === undefined) throw new PatchbayError('not_found')
    const headers: [string, string][] = [
      ['content-type', CONTENT_TYPES[key.split('.').at(-1) ?? ''] ?? 'application/octet-stream'],
      ['content-disposition', `inline; filename="${filename.replace(/[^\w.-]/g, '_')}"`],
      ['cache-control', 'private, no-store'],
      ['x-content-type-options', 'nosniff'],
      ['accept-ranges', 'bytes'],
    ]
    const range = rangeOf(request.header('range'), whole.size)
    const part = range && (await readObject(path, signal, range))
    if (range === undefined || part === undefined) return new Reply({ stream: whole.body, headers })
    headers.push(['content-range', `bytes ${range.start}-${range.end - 1}/${whole.size}`])
    return new Reply({ status: 206, stream: part.body, headers })
  },
})

/** The one range of a request (RFC 9110, 14.1.2); undefined for none, and for what means nothing, which is then ignored. */
export function rangeOf(header: string, size: number): { start: number; end: number } | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header.trim())
  if (match === null) return undefined
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return undefined
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return start < end ? { start, end } : undefined
}

export const recordingRoutes = [recording, file]
