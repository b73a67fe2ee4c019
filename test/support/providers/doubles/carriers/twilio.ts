import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Teardown } from '../../../instance/services.ts'
import { type Person, TwilioCall } from './twilio-call.ts'

/**
 * Twilio as it behaves towards us: the REST API of calls and numbers, TwiML, signed callbacks and Media Streams with people
 * who speak and listen. It signs by itself, so that a wrong signature of ours is not covered by the same mistake.
 */

export interface Faults {
  /** Each callback comes again. */
  duplicates?: boolean
  /** Callbacks take this long, in turn: a small one overtakes. */
  delaysMs?: readonly number[]
  /** Callbacks are signed with another token. */
  badSignatures?: boolean
}

export interface OwnedNumber {
  sid: string
  phone_number: string
  friendly_name: string
  voice_url: string
  status_callback: string
  /** While one of them is set the voice URL is not asked (IncomingPhoneNumber of `twilio` 6.2.0). Setting one removes the other. */
  voice_application_sid: string | null
  trunk_sid: string | null
}

export class TwilioDouble {
  readonly accountSid = `AC${randomBytes(16).toString('hex')}`
  readonly authToken = randomBytes(16).toString('hex')
  readonly calls = new Map<string, TwilioCall>()
  readonly numbers: OwnedNumber[] = []
  /** Each request: `POST /Calls.json`. */
  readonly requests: string[] = []
  /** Status of each answer to our callbacks. */
  readonly callbackAnswers: number[] = []
  people = new Map<string, Person>()
  everyone: Person = {}
  faults: Faults = {}
  /** So many requests are refused as too many. */
  rateLimited = 0
  /** Answers to the next requests that are no success: each is used once. */
  refusals: { status: number; code?: number; message?: string }[] = []
  /** Holds back the answer to the creation of a call. */
  createDelayMs = 0
  url = ''
  #callbacks = 0
  #running = new Set<Promise<unknown>>()

  static async start(t: Teardown): Promise<TwilioDouble> {
    const double = new TwilioDouble()
    const server = createServer((request, response) => {
      void double.#serve(request, response).catch((error) => answer(response, 500, { message: String(error) }))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    t.teardown(async () => {
      for (const call of double.calls.values()) call.cut()
      server.closeAllConnections()
      server.close()
      await Promise.allSettled(double.#running)
    })
    return double
  }

  /** What an instance needs to use this double. */
  get env(): Record<string, string> {
    return { TWILIO_ACCOUNT_SID: this.accountSid, TWILIO_AUTH_TOKEN: this.authToken, TWILIO_API_URL: this.url }
  }

  own(phoneNumber: string, voiceUrl = ''): OwnedNumber {
    const number: OwnedNumber = {
      sid: `PN${randomBytes(16).toString('hex')}`,
      phone_number: phoneNumber,
      friendly_name: phoneNumber,
      voice_url: voiceUrl,
      status_callback: voiceUrl.replace(/voice$/, 'status'),
      voice_application_sid: null,
      trunk_sid: null,
    }
    this.numbers.push(number)
    return number
  }

  /** Someone calls a number of the account. */
  async callIn(from: string, to: string, person: Person = {}): Promise<TwilioCall> {
    const number = this.numbers.find(({ phone_number }) => phone_number === to)
    const isServed = number?.trunk_sid == null && number?.voice_application_sid == null && number?.voice_url !== ''
    if (number === undefined || !isServed) throw new Error(`Nobody listens at ${to}`)
    const call = new TwilioCall(this, { from, to, direction: 'inbound', person, statusUrl: number.status_callback })
    this.calls.set(call.sid, call)
    call.status = 'ringing'
    this.run(async () => {
      const { status, body } = await this.post(number.voice_url, call.form())
      if (call.over) return
      if (status !== 200) call.finish('failed')
      else await call.execute(body)
    })
    return call
  }

  run(act: () => Promise<unknown>): void {
    const running = act().catch(() => undefined)
    this.#running.add(running)
    void running.then(() => this.#running.delete(running))
  }

  sign(url: string, form: Readonly<Record<string, string>> = {}): string {
    const text = Object.keys(form)
      .sort()
      .reduce((all, name) => all + name + form[name], url)
    const token = this.faults.badSignatures ? 'another token' : this.authToken
    return createHmac('sha1', token).update(text).digest('base64')
  }

  /** A signed request to us. */
  async post(url: string, form: Readonly<Record<string, string>>): Promise<{ status: number; body: string }> {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-twilio-signature': this.sign(url, form), 'user-agent': 'TwilioProxy/1.1' },
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(60_000),
    })
    return { status: response.status, body: await response.text() }
  }

  /** A callback, with whatever goes wrong on its way. */
  callBack(url: string, form: Readonly<Record<string, string>>): void {
    const { delaysMs = [], duplicates } = this.faults
    const delayMs = delaysMs[this.#callbacks++ % Math.max(1, delaysMs.length)] ?? 0
    this.run(async () => {
      await sleep(delayMs)
      for (let i = 0; i < (duplicates ? 2 : 1); i++) this.callbackAnswers.push((await this.post(url, form)).status)
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await textOf(request))
    const url = new URL(request.url ?? '', this.url)
    const path = url.pathname.replace(`/2010-04-01/Accounts/${this.accountSid}`, '')
    // The account itself, as any start asks for it.
    const isAccount = request.method === 'GET' && path === '.json'
    if (!isAccount) this.requests.push(`${request.method} ${path}`)
    const expected = `Basic ${Buffer.from(`${this.accountSid}:${this.authToken}`).toString('base64')}`
    if (request.headers.authorization !== expected) {
      return answer(response, 401, { code: 20003, message: 'Authenticate', status: 401 })
    }
    if (isAccount) return answer(response, 200, { sid: this.accountSid, status: 'active', type: 'Full' })
    if (this.rateLimited > 0) {
      this.rateLimited--
      return answer(response, 429, { code: 20429, message: 'Too Many Requests', status: 429 })
    }
    const refusal = this.refusals.shift()
    if (refusal !== undefined) return answer(response, refusal.status, refusal)
    const [, resource = '', id = ''] = /^\/(\w+)(?:\/(.*?))?(?:\.json)?$/.exec(path) ?? []
    if (resource === 'Calls') return this.#calls(request.method ?? '', id, form, response)
    if (resource === 'AvailablePhoneNumbers') return this.#search(id, url.searchParams, response)
    if (resource === 'IncomingPhoneNumbers')
      return this.#owned(request.method ?? '', id, url.searchParams, form, response)
    answer(response, 404, { code: 20404, message: 'The requested resource was not found', status: 404 })
  }

  async #calls(method: string, sid: string, form: URLSearchParams, response: ServerResponse): Promise<void> {
    if (sid === '' && method === 'POST') {
      const to = form.get('To') ?? ''
      if (!/^\+\d{7,15}$/.test(to)) {
        return answer(response, 400, { code: 21211, message: `Invalid 'To' Phone Number: ${to}`, status: 400 })
      }
      const call = new TwilioCall(this, {
        from: form.get('From') ?? '',
        to,
        direction: 'outbound-api',
        person: this.people.get(to) ?? this.everyone,
        statusUrl: form.get('StatusCallback') ?? '',
        twiml: form.get('Twiml') ?? '',
        timeoutS: Number(form.get('Timeout') ?? 60),
        amdUrl: form.get('MachineDetection') ? (form.get('AsyncAmdStatusCallback') ?? '') : '',
      })
      this.calls.set(call.sid, call)
      this.run(() => call.ring())
      if (this.createDelayMs > 0) await sleep(this.createDelayMs)
      return answer(response, 201, call.json())
    }
    const call = this.calls.get(sid)
    if (call === undefined)
      return answer(response, 404, { code: 20404, message: 'The call was not found', status: 404 })
    if (method === 'POST') {
      if (call.over) {
        return answer(response, 400, {
          code: 21220,
          message: 'Unable to update record. Call is not in-progress.',
          status: 400,
        })
      }
      const twiml = form.get('Twiml')
      if (form.get('Status') === 'completed') call.finish(call.status === 'in-progress' ? 'completed' : 'canceled')
      else if (twiml !== null) call.redirect(twiml)
    }
    answer(response, 200, call.json())
  }

  #search(id: string, query: URLSearchParams, response: ServerResponse): void {
    const [country] = id.split('/')
    const area = query.get('AreaCode') ?? query.get('Contains')?.replace('*', '') ?? (country === 'DE' ? '30' : '415')
    const prefix = { US: '+1', DE: '+49' }[country ?? '']
    const sells = prefix !== undefined && area !== '999'
    const offers = sells
      ? [{ phone_number: `${prefix}${area}5550${100 + this.numbers.length}`, friendly_name: '', iso_country: country }]
      : []
    answer(response, 200, { available_phone_numbers: offers, uri: '' })
  }

  #owned(method: string, sid: string, query: URLSearchParams, form: URLSearchParams, response: ServerResponse): void {
    if (sid === '' && method === 'GET') {
      const wanted = query.get('PhoneNumber')
      const found = this.numbers.filter(({ phone_number }) => phone_number === wanted)
      answer(response, 200, { incoming_phone_numbers: found, next_page_uri: null, page: 0, page_size: 50 })
      return
    }
    const lacking = sid === '' ? lackingFor(form) : undefined
    if (lacking !== undefined) {
      answer(response, 400, { ...lacking, status: 400 })
      return
    }
    const number =
      sid === '' ? this.own(form.get('PhoneNumber') ?? '') : this.numbers.find((owned) => owned.sid === sid)
    if (number === undefined) {
      answer(response, 404, { code: 20404, message: 'The number was not found', status: 404 })
      return
    }
    if (method === 'DELETE') {
      this.numbers.splice(this.numbers.indexOf(number), 1)
      response.writeHead(204).end()
      return
    }
    number.voice_url = form.get('VoiceUrl') ?? number.voice_url
    number.status_callback = form.get('StatusCallback') ?? number.status_callback
    number.friendly_name = form.get('FriendlyName') ?? number.friendly_name
    answer(response, sid === '' ? 201 : 200, number)
  }
}

/** Why a number of a regulated country is not sold (twilio.com/docs/errors/21631 and /21649, read 2026-11-29). */
function lackingFor(form: URLSearchParams): { code: number; message: string } | undefined {
  if (!form.get('PhoneNumber')?.startsWith('+49')) return undefined
  if (!/^AD[0-9a-f]{32}$/i.test(form.get('AddressSid') ?? ''))
    return { code: 21631, message: 'Phone Number Requires an Address' }
  if (!/^BU[0-9a-f]{32}$/i.test(form.get('BundleSid') ?? '')) return { code: 21649, message: 'Bundle required' }
  return undefined
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
