import { CallError, type CallErrorCode } from './call-error.ts'

/** Its own echo cancelled, one channel: what the agent says over loudspeakers must not come back as the caller's voice. */
const DEFAULTS: MediaTrackConstraints = {
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
  channelCount: 1,
}

const FAULTS: Readonly<Record<string, [CallErrorCode, string]>> = {
  NotAllowedError: ['microphone_denied', 'The microphone may not be used: allow it for this page in the browser'],
  SecurityError: ['microphone_denied', 'The microphone may not be used on this page'],
  NotFoundError: ['microphone_missing', 'No microphone was found: connect one and try again'],
  OverconstrainedError: ['microphone_missing', 'The microphone that was chosen is not there'],
  NotReadableError: ['microphone_busy', 'The microphone is in use by another program'],
  AbortError: ['microphone_busy', 'The microphone could not be opened'],
}

/** Opens the microphone, asking the visitor where the browser does. Rejects with a CallError. */
export async function openMicrophone(wishes: MediaTrackConstraints = {}): Promise<MediaStream> {
  if (!navigator.mediaDevices?.getUserMedia) {
    if (!isSecureContext) throw new CallError('insecure_page', 'A microphone needs a page served over https')
    throw new CallError('unsupported_browser', 'This browser gives pages no microphone')
  }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { ...DEFAULTS, ...wishes } })
  } catch (error) {
    const [code, message] = FAULTS[(error as DOMException).name] ?? FAULTS.AbortError!
    throw new CallError(code, message, error)
  }
}

export function closeStream(stream: MediaStream | undefined): void {
  for (const track of stream?.getTracks() ?? []) track.stop()
}
