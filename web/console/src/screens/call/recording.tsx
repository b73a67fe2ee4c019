import { forwardRef, useEffect, useImperativeHandle, useRef, useState } from 'react'
import { formatOffset } from '../../data/format.ts'
import type { Call, Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card } from '../../ui/layout.tsx'
import { isRunning } from '../call-status.tsx'
import { type Peaks, peaksOf } from './peaks.ts'
import { Waveform } from './waveform.tsx'

export interface RecordingHandle {
  /** Plays from there. */
  seek(ms: number): void
}

interface RecordingProps {
  call: Call
  turns: readonly Turn[]
  durationMs: number
  onTime: (ms: number) => void
}

const SPEEDS = [1, 1.5, 2] as const

/** Why there is no recording of a call that is over. */
function unrecorded({ recording_state: state }: Call): string {
  if (state === 'refused') return t('Nothing was recorded: the caller did not agree.')
  if (state === 'unanswered') return t('Nothing was recorded: the caller did not say whether it may be.')
  if (state === 'off') return t('Nothing was recorded: recording was off. The agent’s Settings turn it on.')
  if (state === 'pending') return t('The recording is on its way to the store.')
  if (state === 'deleted') return t('The recording was deleted, as retention says.')
  return t('There is no recording of this call: it was not recorded (PATCHBAY_RECORD_CALLS), or it was deleted.')
}

/** The recording in stereo, the caller above and the agent below, with the turns on it; without one, the turns alone. */
export const Recording = forwardRef<RecordingHandle, RecordingProps>(function Recording(
  { call, turns, durationMs, onTime },
  ref,
) {
  const audio = useRef<HTMLAudioElement>(null)
  const [atMs, setAtMs] = useState(0)
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<number>(1)
  const path = call.recording_url && !isRunning(call) ? new URL(call.recording_url).pathname : undefined
  const { peaks, lengthMs, fault } = usePeaks(path)
  const totalMs = lengthMs ?? Math.max(durationMs, ...turns.map(({ end_ms }) => end_ms), 1)
  const seek = (ms: number) => {
    if (!audio.current) return
    audio.current.currentTime = ms / 1000
    void audio.current.play()
  }
  useImperativeHandle(ref, () => ({ seek }))
  useEffect(() => {
    if (!isPlaying) return
    let frame = 0
    const tick = () => {
      const ms = (audio.current?.currentTime ?? 0) * 1000
      setAtMs(ms)
      onTime(ms)
      frame = requestAnimationFrame(tick)
    }
    tick()
    return () => cancelAnimationFrame(frame)
  }, [isPlaying, onTime])
  return (
    <Card>
      <Waveform
        atMs={atMs}
        peaks={peaks}
        totalMs={totalMs}
        turns={turns}
        {...(path && !fault ? { onSeek: seek } : {})}
      />
      <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        {path && !fault ? (
          <>
            {/* biome-ignore lint/a11y/useMediaCaption: the transcript stands below */}
            <audio
              onEnded={() => setPlaying(false)}
              onPause={() => setPlaying(false)}
              onPlay={() => setPlaying(true)}
              preload="metadata"
              ref={audio}
              src={path}
            />
            <Button
              aria-label={isPlaying ? t('Pause') : t('Play')}
              icon={isPlaying ? 'pause' : 'play'}
              onClick={() => (isPlaying ? audio.current?.pause() : void audio.current?.play())}
            />
            <span className="text-muted">
              {t('{n} of {all}', { n: formatOffset(atMs), all: formatOffset(totalMs) })}
            </span>
            <Button
              kind="quiet"
              onClick={() => {
                const next = SPEEDS[(SPEEDS.indexOf(speed as 1) + 1) % SPEEDS.length]!
                setSpeed(next)
                if (audio.current) audio.current.playbackRate = next
              }}
              size="sm"
            >
              {speed}×
            </Button>
            <a className={buttonClass('quiet', 'sm')} download href={path}>
              <Icon name="download" size={15} /> {t('Download')}
            </a>
          </>
        ) : (
          <span className="text-muted">
            {fault && path && (
              <a className={`${buttonClass('plain', 'sm')} mr-2`} href={path}>
                <Icon name="download" size={15} /> {t('Download')}
              </a>
            )}
            {fault ?? (isRunning(call) ? t('The call is running.') : unrecorded(call))}
          </span>
        )}
        <span className="ml-auto flex gap-3 text-xs text-muted">
          <Key colour="var(--caller)" label={t('Caller')} />
          <Key colour="var(--accent)" label={t('Agent')} />
          {turns.some(({ tools }) => tools.length > 0) && <Key colour="var(--warn)" label={t('Tool')} />}
          {turns.some(({ interrupted }) => interrupted) && <Key colour="var(--bad)" label={t('Interrupted')} />}
        </span>
      </div>
    </Card>
  )
})

function Key({ colour, label }: { colour: string; label: string }) {
  return (
    <span className="flex items-center gap-1.5">
      <span className="size-2.5 rounded-sm" style={{ background: colour }} /> {label}
    </span>
  )
}

/** The loudness of the recording, read once. */
function usePeaks(path: string | undefined): { peaks?: Peaks; lengthMs?: number; fault?: string } {
  const [read, setRead] = useState<{ peaks?: Peaks; lengthMs?: number; fault?: string }>({})
  useEffect(() => {
    if (path === undefined) return
    const stop = new AbortController()
    peaksOf(path, stop.signal).then(setRead, (error: Error) => {
      if (!stop.signal.aborted)
        setRead({ fault: t("The recording can't be shown: {message}", { message: error.message }) })
    })
    return () => stop.abort()
  }, [path])
  return read
}
