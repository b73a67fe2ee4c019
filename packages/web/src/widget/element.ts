import type { CallError, CallErrorCode } from '../call-error.ts'
import type { PatchbayCall, Transcript } from '../patchbay-call.ts'
import type { Session } from '../session.ts'
import { DOWN_ICON, icon, make, WAVE_ICON } from './dom.ts'
import { loadCall } from './load.ts'
import { inkOn, type Look, publicAgent } from './look.ts'
import { STYLE } from './style.ts'
import { Wave } from './wave.ts'
import { ENGLISH, type Words, wordsFor } from './words.ts'

const FAULTS: Readonly<Partial<Record<CallErrorCode, keyof Words>>> = {
  microphone_denied: 'denied',
  microphone_missing: 'missing',
  microphone_busy: 'busy',
  insecure_page: 'insecure',
  busy: 'later',
}

/**
 * `<patchbay-agent agent="…">` for a public agent, or `session="/my/session"`: an address of the page's own server that
 * answers with a session. `inline`: in the page's flow, else floating in a corner behind a button, or `open` at once. `lang` (empty: the browser's), `name`, `label`, `greeting`,
 * `avatar`, `corner`, `theme`, `consent` (a text shown before the call), `server`; what is left out is of the agent's look.
 * Events: `patchbay:state`, `patchbay:transcript`, `patchbay:ended`, `patchbay:error`.
 */
export class PatchbayAgent extends HTMLElement {
  /** Where the script came from; the widget's own file sets it. */
  static origin = ''
  #call: PatchbayCall | undefined
  #loading = false
  #words = ENGLISH
  #isBuilt = false
  #look: Partial<Look> | undefined
  #lines = new Map<string, HTMLElement>()
  #wave = new Wave()
  #root = make('div', { className: 'root' })
  #launcher = make('button', { className: 'main launcher', type: 'button' })
  #panel = make('section', { className: 'panel' })
  #avatars = [make('span', { className: 'avatar' }), make('span', { className: 'avatar' })]
  #name = make('strong')
  #state = make('span', { className: 'state', role: 'status' })
  #greeting = make('p', { className: 'greeting' })
  #fault = make('p', { className: 'fault', role: 'alert' })
  #list = make('div', { className: 'words', role: 'log', ariaLive: 'polite', tabIndex: 0 })
  #talk = make('button', { className: 'main', type: 'button' })
  #calling = make('div')
  #mute = make('button', { type: 'button' })
  #sound = make('button', { className: 'main', type: 'button', hidden: true })
  #devices = make('details', { hidden: true })
  #microphones = make('select')
  #speakers = make('select')

  async connectedCallback(): Promise<void> {
    if (this.shadowRoot !== null) return
    const root = this.attachShadow({ mode: 'open' })
    const named = this.getAttribute('lang') === '' ? [] : [this.lang, document.documentElement.lang].filter(Boolean)
    const tags = [...named, ...navigator.languages]
    this.#words = await wordsFor(tags, this.#server())
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(STYLE)
    root.adoptedStyleSheets = [sheet]
    this.#build()
    this.#isBuilt = true
    this.#wear()
    root.append(this.#root)
    const agent = this.getAttribute('agent')
    const found = agent === null || this.#look !== undefined ? undefined : await publicAgent(this.#server(), agent)
    if (found === undefined) return
    this.#look ??= found.look
    this.#wear(found.agent_name)
  }

  disconnectedCallback(): void {
    this.#call?.end()
  }

  /** The call that runs or ran last. */
  get call(): PatchbayCall | undefined {
    return this.#call
  }

  /** Worn in place of the look that the agent's owner saved, as in a preview of it. */
  set look(look: Partial<Look>) {
    this.#look = look
    if (this.#isBuilt) this.#wear()
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
    const words = this.#words
    call.on('state', (state) => {
      const said = {
        microphone: words.allow,
        connecting: words.connecting,
        connected: words.listening,
        reconnecting: words.reconnecting,
      }
      this.#say(said[state as keyof typeof said] ?? '')
      if (state === 'connected') void this.#listDevices()
      this.#tell('state', state)
    })
    call.on('agent', (state) => this.#say(words[state]))
    call.on('level', (level) => this.#wave.add(level))
    call.on('transcript', (said) => {
      this.#write(said)
      this.#tell('transcript', said)
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
      this.#say(words.ended)
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

  #server(): string {
    return this.getAttribute('server') || PatchbayAgent.origin || location.origin
  }

  #options() {
    const server = this.getAttribute('server') ?? PatchbayAgent.origin
    const workletUrl = server === '' ? undefined : new URL('/client/v1/worklet.js', server).href
    const common = workletUrl === undefined ? {} : { workletUrl }
    const agent = this.getAttribute('agent')
    if (agent !== null) return { agent, server: this.#server(), ...common }
    const session = async (): Promise<Session> => {
      const response = await fetch(this.getAttribute('session') ?? '', { method: 'POST' })
      if (!response.ok) throw new Error(`HTTP ${response.status}`)
      return (await response.json()) as Session
    }
    return { session, ...common }
  }

  /** Shows name, colours, avatar, greeting and corner as they are now: attributes first, then the look. */
  #wear(agentName?: string): void {
    const { color, ...look } = this.#look ?? {}
    const of = (field: keyof typeof look) => this.getAttribute(field) ?? look[field] ?? ''
    const { classList } = this.#root
    classList.toggle('left', of('corner').endsWith('left'))
    for (const theme of ['light', 'dark']) classList.toggle(theme, of('theme') === theme)
    for (const [name, value] of [
      ['--look', color],
      ['--look-ink', color && inkOn(color)],
    ] as const) {
      this.#root.style.setProperty(name, value ?? '')
    }
    const avatar = of('avatar')
    for (const place of this.#avatars) {
      const drawn = icon(WAVE_ICON)
      const picture = make('img', { src: avatar, alt: '', onerror: () => place.replaceChildren(drawn) })
      place.replaceChildren(avatar === '' ? drawn : picture)
    }
    this.#greeting.textContent = of('greeting')
    this.#name.textContent = this.getAttribute('name') ?? agentName ?? (this.#name.textContent || this.#words.agent)
    this.#panel.ariaLabel = this.#name.textContent
    this.#show(this.#isCalling)
  }

  get #isCalling(): boolean {
    return this.#call !== undefined && this.#call.state !== 'ended'
  }

  #build(): void {
    const words = this.#words
    const label = this.getAttribute('label') ?? words.talk
    const input = make('input', { type: 'text', ariaLabel: words.type, placeholder: words.type, maxLength: 4000 })
    const form = make('form', {}, [input, make('button', { textContent: words.send })])
    form.onsubmit = (event) => {
      event.preventDefault()
      const text = input.value.trim()
      if (text === '') return
      this.#call?.say(text)
      this.#write({ role: 'user', text, final: true })
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
    this.#list.ariaLabel = label
    const select = (name: string, of: HTMLSelectElement) =>
      make('label', { hidden: true }, [make('span', { textContent: name }), of])
    this.#devices.append(
      make('summary', { textContent: `${words.microphone}, ${words.speaker}` }),
      select(words.microphone, this.#microphones),
      select(words.speaker, this.#speakers),
    )
    this.#calling.append(form, make('div', { className: 'row' }, [this.#mute, end]), this.#devices)
    this.#talk.textContent = label
    this.#talk.onclick = () => void this.start()
    const isInline = this.hasAttribute('inline')
    const close = make('button', { className: 'close', type: 'button', ariaLabel: words.close }, [icon(DOWN_ICON)])
    close.onclick = () => this.#open(false)
    const notes = [this.getAttribute('disclosure') ?? words.disclosure, this.getAttribute('consent') ?? '']
    this.#panel.append(
      make('header', {}, [this.#avatars[0]!, make('div', {}, [this.#name, this.#state]), ...(isInline ? [] : [close])]),
      this.#greeting,
      ...notes.filter(Boolean).map((textContent) => make('p', { className: 'small', textContent })),
      this.#wave.element,
      this.#fault,
      this.#sound,
      this.#list,
      this.#calling,
      this.#talk,
    )
    this.#root.append(this.#panel)
    if (isInline) return
    this.#launcher.append(this.#avatars[1]!, label)
    this.#launcher.onclick = () => this.#open(true)
    this.#panel.onkeydown = ({ key }) => key === 'Escape' && this.#open(false)
    this.#root.append(this.#launcher)
    this.#panel.hidden = !this.hasAttribute('open')
    this.#launcher.hidden = !this.#panel.hidden
  }

  /** Shows the panel in place of the button that floats, or again the button; a call goes on. */
  #open(isOpen: boolean): void {
    this.#panel.hidden = !isOpen
    this.#launcher.hidden = isOpen
    if (isOpen) (this.#isCalling ? this.#list : this.#talk).focus()
    else this.#launcher.focus()
  }

  #show(isCalling: boolean): void {
    this.#talk.hidden = isCalling
    this.#calling.hidden = !isCalling
    this.#wave.element.hidden = !isCalling
    this.#wave.still()
    this.#greeting.hidden = isCalling || this.#greeting.textContent === ''
    this.#list.hidden = this.#list.childElementCount === 0
    this.#sound.hidden = true
    this.#mute.textContent = this.#words.mute
  }

  #say(text: string): void {
    this.#state.textContent = text
  }

  /** Words that may change are overwritten by the next of their side. */
  #write({ role, text, final }: Pick<Transcript, 'role' | 'text' | 'final'>): void {
    this.#list.hidden = false
    let line = this.#lines.get(role)
    if (line === undefined) {
      line = make('p', { className: role })
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
