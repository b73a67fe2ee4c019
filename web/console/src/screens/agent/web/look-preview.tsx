import { useEffect, useRef, useState } from 'react'
import type { PatchbayAgent } from '../../../../../../packages/web/src/widget/element.ts'
import type { Agent } from '../../../data/types.ts'
import { t } from '../../../language/t.ts'
import type { Look } from './look-form.tsx'

const TAG = 'patchbay-agent'

/** The widget itself on a page of nothing: what is changed shows at once, and a saved agent can be talked to. */
export function LookPreview({ agent, look }: { agent: Agent; look: Look }) {
  const place = useRef<HTMLElement>(null)
  const [widget, setWidget] = useState<PatchbayAgent>()
  const { agent_id: agentId, agent_name: name, language } = agent
  useEffect(() => {
    let isGone = false
    let shown: PatchbayAgent | undefined
    void import('../../../../../../packages/web/src/widget/element.ts').then(({ PatchbayAgent: Widget }) => {
      if (isGone) return
      if (customElements.get(TAG) === undefined) customElements.define(TAG, Widget)
      Widget.origin = location.origin
      shown = new Widget()
      for (const [field, value] of Object.entries({ agent: agentId, name, open: '' })) shown.setAttribute(field, value)
      if (language !== 'multi') shown.lang = language
      setWidget(shown)
    })
    return () => {
      isGone = true
      shown?.remove()
    }
  }, [agentId, name, language])
  useEffect(() => {
    if (widget === undefined) return
    widget.look = look
    if (!widget.isConnected) place.current?.append(widget)
  }, [widget, look])
  return (
    <section
      aria-label={t('Preview')}
      className="relative h-96 overflow-hidden rounded-lg border border-line bg-sunken contain-layout"
      ref={place}
    />
  )
}
