import { telnyxProvider } from '../../../plugins/telnyx/provider.ts'
import { CARRIER_ID, useCarrier } from '../use-carrier.ts'
import type { Vendor } from './vendor.ts'

const CALLS = './package/resources/calls'
const ACTION = (action: string) => ['resources/calls/actions.js', `/calls/:callControlID/actions/${action}`] as const

export const telnyx: Vendor = {
  types: {
    dial: `import('${CALLS}/calls.js').CallDialParams`,
    // Of the list of codecs the SDK's type names one example alone, where that of dial takes any.
    answer: `Omit<import('${CALLS}/actions.js').ActionAnswerParams, 'preferred_codecs'> & { preferred_codecs?: string }`,
    reject: `import('${CALLS}/actions.js').ActionRejectParams`,
    hangup: `import('${CALLS}/actions.js').ActionHangupParams`,
    transfer: `import('${CALLS}/actions.js').ActionTransferParams`,
  },
  paths: {
    dial: ['resources/calls/calls.js', '/calls'],
    fetch: ['resources/calls/calls.js', '/calls/:callControlID'],
    answer: ACTION('answer'),
    reject: ACTION('reject'),
    hangup: ACTION('hangup'),
    transfer: ACTION('transfer'),
  },
  unjudged: ['messages of media streams: the SDK holds no protocol of them'],
  async requests(_provides, recorder) {
    const key = Buffer.alloc(32, 7).toString('base64')
    const env = { TELNYX_CONNECTION_ID: '1', TELNYX_PUBLIC_KEY: key, TELNYX_API_KEY: 'secret' }
    const provider = telnyxProvider(
      recorder.host(env, () => ({ data: { call_control_id: CARRIER_ID, is_alive: true } })),
    )
    const asked = await recorder.recordAll(() => useCarrier(provider))
    return asked.map(({ method, path, body }) => {
      const type = /\/actions\/(\w+)$/.exec(path)?.[1] ?? (method === 'POST' ? 'dial' : 'fetch')
      return { type, about: `${method} ${path}`, value: (body ?? {}) as object, path }
    })
  },
}
