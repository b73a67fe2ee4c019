import type { Draft } from '../agent.tsx'
import { History } from './history.tsx'
import { Publishing } from './publishing.tsx'
import { RolloutCard } from './rollout-card.tsx'

/** What callers get of an agent: the live version, what it was before, and which of the calls try another. */
export function Versions({ draft }: { draft: Draft }) {
  return (
    <div className="space-y-4">
      <Publishing draft={draft} />
      <History draft={draft} />
      <RolloutCard draft={draft} />
    </div>
  )
}
