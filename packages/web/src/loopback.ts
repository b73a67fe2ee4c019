const TIMEOUT_MS = 3_000

/** A stream that went through a peer connection of this page to itself. */
export interface Loopback {
  readonly stream: MediaStream
  close(): void
}

/**
 * Browsers cancel the echo of what came over a peer connection, and of nothing else: a voice that was computed is led through
 * one. Undefined where that fails.
 */
export async function loopback(stream: MediaStream): Promise<Loopback | undefined> {
  if (typeof RTCPeerConnection === 'undefined') return undefined
  const out = new RTCPeerConnection()
  const back = new RTCPeerConnection()
  const close = () => {
    out.close()
    back.close()
  }
  try {
    out.onicecandidate = ({ candidate }) => void back.addIceCandidate(candidate ?? undefined).catch(() => undefined)
    back.onicecandidate = ({ candidate }) => void out.addIceCandidate(candidate ?? undefined).catch(() => undefined)
    const received = new Promise<MediaStream>((resolve, reject) => {
      back.ontrack = ({ track }) => resolve(new MediaStream([track]))
      setTimeout(() => reject(new Error('No loopback')), TIMEOUT_MS)
    })
    const connected = new Promise<void>((resolve, reject) => {
      back.onconnectionstatechange = () => {
        if (back.connectionState === 'connected') resolve()
        if (back.connectionState === 'failed') reject(new Error('No loopback'))
      }
      setTimeout(() => reject(new Error('No loopback')), TIMEOUT_MS)
    })
    for (const track of stream.getTracks()) out.addTrack(track, stream)
    await out.setLocalDescription()
    await back.setRemoteDescription(out.localDescription!)
    await back.setLocalDescription()
    await out.setRemoteDescription(back.localDescription!)
    const [heard] = await Promise.all([received, connected])
    return { stream: heard, close }
  } catch {
    close()
    return undefined
  }
}
