import { useCall } from '@patchbay/web/react'
import { createRoot } from 'react-dom/client'

async function session() {
  const response = await fetch('/session', { method: 'POST' })
  if (!response.ok) throw new Error(`no session: HTTP ${response.status}`)
  return response.json()
}

function Talk() {
  const { state, agent, transcript, error, endReason, start, end } = useCall({ session })
  const isOver = state === 'idle' || state === 'ended'
  const status = error?.message ?? (state === 'ended' ? `over: ${endReason}` : state === 'connected' ? agent : state)
  return (
    <main>
      <button type="button" onClick={() => (isOver ? start() : end())}>
        {isOver ? 'Talk to us' : 'Hang up'}
      </button>
      <p role="status">{status}</p>
      <ol>
        {transcript.map(({ role, text, startMs }) => (
          <li key={`${role} ${startMs}`}>
            {role}: {text}
          </li>
        ))}
      </ol>
    </main>
  )
}

createRoot(document.getElementById('root') ?? document.body).render(<Talk />)
