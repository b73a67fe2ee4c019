import { useEffect, useRef } from 'react'
import { formatOffset } from '../../data/format.ts'
import type { Turn } from '../../data/types.ts'
import { t } from '../../language/t.ts'
import type { Peaks } from './peaks.ts'

interface WaveformProps {
  peaks: Peaks | undefined
  turns: readonly Turn[]
  totalMs: number
  atMs: number
  onSeek?: (ms: number) => void
}

const HEIGHT_PX = 112
const STEP_MS = 5_000

/** Both voices over time, the turns behind them, tools and interruptions marked; a click plays from there. */
export function Waveform({ peaks, turns, totalMs, atMs, onSeek }: WaveformProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const element = canvas.current
    if (element === null) return
    const draw = () => paint(element, { peaks, turns, totalMs, atMs })
    draw()
    const resized = new ResizeObserver(draw)
    resized.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', draw)
    }
  }, [peaks, turns, totalMs, atMs])
  if (onSeek === undefined) return <canvas className="block w-full" ref={canvas} style={{ height: HEIGHT_PX }} />
  return (
    <div
      aria-label={t('Place in the recording')}
      aria-valuemax={Math.round(totalMs / 1000)}
      aria-valuemin={0}
      aria-valuenow={Math.round(atMs / 1000)}
      aria-valuetext={formatOffset(atMs)}
      className="cursor-pointer rounded-sm"
      onClick={(event) => {
        const { left, width } = event.currentTarget.getBoundingClientRect()
        onSeek(((event.clientX - left) / width) * totalMs)
      }}
      onKeyDown={({ key }) => {
        if (key === 'ArrowRight') onSeek(Math.min(totalMs, atMs + STEP_MS))
        if (key === 'ArrowLeft') onSeek(Math.max(0, atMs - STEP_MS))
      }}
      role="slider"
      tabIndex={0}
    >
      <canvas className="block w-full" ref={canvas} style={{ height: HEIGHT_PX }} />
    </div>
  )
}

function paint(canvas: HTMLCanvasElement, { peaks, turns, totalMs, atMs }: Omit<WaveformProps, 'onSeek'>): void {
  const { clientWidth: width } = canvas
  const scale = devicePixelRatio
  canvas.width = width * scale
  canvas.height = HEIGHT_PX * scale
  const to = canvas.getContext('2d')
  if (to === null || width === 0) return
  to.scale(scale, scale)
  const style = getComputedStyle(canvas)
  const colour = (name: string) => style.getPropertyValue(name)
  const x = (ms: number) => (ms / totalMs) * width
  const half = HEIGHT_PX / 2
  for (const { role, start_ms, end_ms } of turns) {
    to.fillStyle = colour(`${role === 'user' ? '--caller' : '--accent'}${peaks ? '-soft' : ''}`)
    to.fillRect(x(start_ms), role === 'user' ? 0 : half, Math.max(1, x(end_ms) - x(start_ms)), half)
  }
  if (peaks) {
    drawVoice(to, peaks.caller, colour('--caller'), half / 2, width)
    drawVoice(to, peaks.agent, colour('--accent'), half * 1.5, width)
  }
  to.fillStyle = colour('--line')
  to.fillRect(0, half, width, 1)
  for (const { tools, interrupted, end_ms, role } of turns) {
    to.fillStyle = colour('--warn')
    for (const { start_ms } of tools) to.fillRect(x(start_ms) - 1, half - 8, 3, 16)
    if (interrupted && role === 'assistant') {
      to.fillStyle = colour('--bad')
      to.fillRect(x(end_ms), half, 2, half)
    }
  }
  if (atMs > 0) {
    to.fillStyle = colour('--ink')
    to.fillRect(x(atMs), 0, 1.5, HEIGHT_PX)
  }
}

function drawVoice(
  to: CanvasRenderingContext2D,
  peaks: Float32Array,
  colour: string,
  middle: number,
  width: number,
): void {
  to.fillStyle = colour
  const room = HEIGHT_PX / 4 - 3
  const bars = Math.floor(width / 3)
  for (let bar = 0; bar < bars; bar++) {
    let peak = 0
    const end = Math.floor(((bar + 1) / bars) * peaks.length)
    for (let at = Math.floor((bar / bars) * peaks.length); at < end; at++) peak = Math.max(peak, peaks[at]!)
    // The ear hears loudness by its logarithm; a root is near enough for an eye.
    const height = Math.max(0.5, Math.sqrt(peak) * room)
    to.fillRect(bar * 3, middle - height, 2, height * 2)
  }
}
