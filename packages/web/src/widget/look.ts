/** How the widget looks: the fields of an agent's `public.look`. */
export interface Look {
  color: string | null
  avatar: string | null
  greeting: string
  corner: string
  theme: string
}

/** What a page may know of a public agent before a call. */
export interface PublicAgent {
  agent_name: string
  look: Look
}

/** What the agent's owner chose; undefined where the server is away, the agent is not public or has no look. */
export async function publicAgent(server: string, agentId: string): Promise<PublicAgent | undefined> {
  const url = new URL(`/public/agents/${encodeURIComponent(agentId)}`, server)
  const response = await fetch(url, { credentials: 'omit' }).catch(() => undefined)
  return response?.ok ? ((await response.json().catch(() => undefined)) as PublicAgent | undefined) : undefined
}

const BLACK_ON_IT = 0.179

/** Black or white, whichever can be read better on this colour (WCAG 2.2, relative luminance). */
export function inkOn(color: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > BLACK_ON_IT ? '#000' : '#fff'
}
