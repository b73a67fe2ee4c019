import { PatchbayAgent } from './element.ts'

// As a script of its own it knows by its address where the server is.
const script = typeof document === 'undefined' ? null : document.currentScript
if (script instanceof HTMLScriptElement && script.src !== '') PatchbayAgent.origin = new URL(script.src).origin
if (customElements.get('patchbay-agent') === undefined) customElements.define('patchbay-agent', PatchbayAgent)
