import type { CallError, CallErrorCode } from '../call-error.ts'
import type { PatchbayCall, Transcript } from '../patchbay-call.ts'
import type { Session } from '../session.ts'
import { loadCall } from './load-call.ts'
import { STYLE } from './style.ts'
import { type Words, wordsFor } from './words.ts'

const FAULTS: Readonly<Partial<Record<CallErrorCode, keyof Words>>> = {
  microphone_denied: 'denied',
  microphone_missing: 'missing',
  microphone_busy: 'busy',
  insecure_page: 'insecure',
}

type Children = (Node | string)[]

function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  set: Partial<HTMLElementTagNameMap[K]> = {},
  children: Children = [],
): HTMLElementTagNameMap[K] {
  const element = Object.assign(document.createElement(tag), set)
  element.append(...children)
  return element
}

/**
 * `<patchbay-agent agent="…">` for a public agent, or `session="/my/session"`: an address of the page's own server that
 * answers with a session. `inline`: in the page's flow, else floating. `lang`, `label`, `consent` (a text shown before the
 * call), `server`. Events: `patchbay:state`, `patchbay:transcript`, `patchbay:ended`, `patchbay:error`.
 */
export class PatchbayAgent extends HTMLElement {
  /** Where the script came from; the widget's own file sets it. */
  static origin = ''
  #call: PatchbayCall | undefined
  #loading = false
  #words: Words = wordsFor([])
  #lines = new Map<string, HTMLLIElement>()
  #panel = make('section')
  #state = make('span')
  #meter = make('meter', { max: 0.3 })
  #fault = make('p', { className: 'fault' })
  #list = make('ol', { className: 'words' })
  #talk = make('button', { className: 'main', type: 'button' })
  #calling = make('div')
  #mute = make('button', { type: 'button' })
  #sound = make('button', { className: 'main', type: 'button', hidden: true })
  #devices = make('details', { hidden: true })
  #microphones = make('select')
  #speakers = make('select')

  connectedCallback(): void {
    if (this.shadowRoot !== null) return
    const words = wordsFor([this.lang, document.documentElement.lang, ...navigator.languages].filter(Boolean))
    this.#words = words
    const root = this.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
    this.#talk.textContent = this.getAttribute('label') ?? words.talk
    this.#talk.onclick = () => void this.start()
    root.append(this.#build(words))
  }

  disconnectedCallback(): void {
    this.#call?.end()
  }

  /** The call that runs or ran last. */
  get call(): PatchbayCall | undefined {
    return this.#call
  }

  /** As a click on the button. */
  async start(): Promise<void> {
    if (this.#loading || (this.#call !== undefined && this.#call.state !== 'ended')) return
    this.#loading = true
    const Call = await loadCall(PatchbayAgent.origin || location.origin).catch(() => undefined)
    this.#loading = false
    if (Call === undefined) {
      this.#fault.textContent = this.#words.failed
      return
    }
    const call = new Call(this.#options())
    this.#call = call
    this.#lines.clear()
    this.#list.replaceChildren()
    this.#fault.textContent = ''
    this.#show(true)
    call.on('state', (state) => {
      this.#say(
        state === 'reconnecting' ? this.#words.reconnecting : state === 'connected' ? this.#words.listening : '',
      )
      if (state === 'microphone') this.#say(this.#words.allow)
      if (state === 'connecting') this.#say(this.#words.connecting)
      if (state === 'connected') void this.#listDevices()
      this.#tell('state', state)
    })
    call.on('agent', (state) => this.#say(this.#words[state]))
    call.on('level', ({ side, level }) => {
      if (side === 'microphone') this.#meter.value = level
    })
    call.on('transcript', (words) => {
      this.#write(words)
      this.#tell('transcript', words)
    })
    call.on('playbackblocked', (blocked) => {
      this.#sound.hidden = !blocked
    })
    call.on('devices', () => {
      this.#fault.textContent = ''
      void this.#listDevices()
    })
    call.on('error', (error) => {
      if (FAULTS[error.code] !== undefined) this.#showFault(error)
      this.#tell('error', error)
    })
    call.on('ended', (ended) => {
      this.#show(false)
      this.#say(this.#words.ended)
      this.#tell('ended', ended)
    })
    await call.start().catch((error: CallError) => {
      // A call that never began is not over.
      this.#say('')
      this.#showFault(error)
      this.#tell('error', error)
    })
  }

  /** What a visitor can do about it; what the owner of the page can do is in the browser's console. */
  #showFault(error: CallError): void {
    const known = FAULTS[error.code]
    this.#fault.textContent = this.#words[known ?? 'failed']
    if (known === undefined) console.warn(`patchbay-agent: ${error.message}`)
  }

  #options() {
    const server = this.getAttribute('server') ?? PatchbayAgent.origin
    const workletUrl = server === '' ? undefined : new URL('/client/v1/worklet.js', server).href
    const common = workletUrl === undefined ? {} : { workletUrl }
    const agent = this.getAttribute('agent')
    if (agent !== null) return { agent, server: server || location.origin, ...common }
    const session = async (): Promise<Session> => {
      const response = await fetch(this.getAttribute('session') ?? '', { method: 'POST' })
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      return (await response.json()) as Session
    }
    return { session, ...common }
  }

  #build(words: Words): HTMLElement {
    const input = make('input', { type: 'text', ariaLabel: words.type, placeholder: words.type, maxLength: 4000 })
    const form = make('form', {}, [input, make('button', { textContent: words.send })])
    form.onsubmit = (event) => {
      event.preventDefault()
      this.#call?.say(input.value)
      input.value = ''
    }
    const end = make('button', { className: 'end', type: 'button', textContent: words.hangUp })
    end.onclick = () => this.#call?.end()
    this.#mute.textContent = words.mute
    this.#mute.onclick = () => {
      const call = this.#call
      if (call?.isMuted) call.unmute()
      else call?.mute()
      this.#mute.textContent = call?.isMuted ? words.unmute : words.mute
      this.#mute.ariaPressed = String(call?.isMuted ?? false)
    }
    this.#sound.textContent = words.playback
    this.#sound.onclick = () => void this.#call?.resumePlayback()
    this.#microphones.onchange = () => {
      this.#call?.setMicrophone(this.#microphones.value).catch((error: CallError) => this.#showFault(error))
    }
    this.#speakers.onchange = () => void this.#call?.setSpeaker(this.#speakers.value)
    this.#meter.ariaLabel = words.microphone
    this.#list.role = 'log'
    this.#list.ariaLive = 'polite'
    this.#list.tabIndex = 0
    this.#list.ariaLabel = this.getAttribute('label') ?? words.talk
    this.#fault.role = 'alert'
    this.#state.role = 'status'
    const select = (name: string, of: HTMLSelectElement) =>
      make('label', { hidden: true }, [make('span', { textContent: name }), of])
    this.#devices.append(
      make('summary', { textContent: `${words.microphone}, ${words.speaker}` }),
      select(words.microphone, this.#microphones),
      select(words.speaker, this.#speakers),
    )
    this.#calling.append(form, make('div', { className: 'row' }, [this.#mute, end]), this.#devices)
    const consent = this.getAttribute('consent')
    const disclosure = this.getAttribute('disclosure') ?? words.disclosure
    this.#panel.className = 'panel'
    this.#panel.append(
      ...(disclosure === '' ? [] : [make('p', { textContent: disclosure })]),
      ...(consent === null ? [] : [make('p', { textContent: consent })]),
      make('div', { className: 'state' }, [this.#meter, this.#state]),
      this.#fault,
      this.#sound,
      this.#list,
      this.#calling,
      this.#talk,
    )
    this.#show(false)
    return this.#panel
  }

  #show(isCalling: boolean): void {
    this.#talk.hidden = isCalling
    this.#calling.hidden = !isCalling
    this.#meter.hidden = !isCalling
    this.#list.hidden = !isCalling && this.#lines.size === 0
    this.#sound.hidden = true
    this.#mute.textContent = this.#words.mute
  }

  #say(text: string): void {
    this.#state.textContent = text
  }

  /** Words that may change are overwritten by the next of their side. */
  #write({ role, text, final }: Transcript): void {
    this.#list.hidden = false
    let line = this.#lines.get(role)
    if (line === undefined) {
      line = make('li', { className: role })
      this.#list.append(line)
      this.#lines.set(role, line)
    }
    const { you, agent } = this.#words
    line.replaceChildren(make('b', { textContent: `${role === 'user' ? you : agent}: ` }), text)
    if (final) this.#lines.delete(role)
    this.#list.scrollTop = this.#list.scrollHeight
  }

  async #listDevices(): Promise<void> {
    const devices = (await navigator.mediaDevices?.enumerateDevices()) ?? []
    for (const [kind, select] of [
      ['audioinput', this.#microphones],
      ['audiooutput', this.#speakers],
    ] as const) {
      const some = devices.filter((device) => device.kind === kind && device.deviceId !== '')
      const chosen = select.value
      select.replaceChildren(
        ...some.map(({ deviceId, label }) =>
          make('option', { value: deviceId, textContent: label || deviceId.slice(0, 8) }),
        ),
      )
      if (some.some(({ deviceId }) => deviceId === chosen)) select.value = chosen
      select.parentElement!.hidden = some.length < 2
    }
    this.#devices.hidden = [this.#microphones, this.#speakers].every(({ length }) => length < 2)
  }

  #tell(name: string, detail: unknown): void {
    this.dispatchEvent(new CustomEvent(`patchbay:${name}`, { detail, bubbles: true, composed: true }))
  }
}
