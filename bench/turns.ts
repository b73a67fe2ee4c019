/**
 * Who has finished, and who goes on: each decider over labelled pauses, by eot-bench's definitions (github livekit/eot-bench). Words
 * come 300 ms late. `--data FOLDER`: the turns of another folder in eot-bench's schema (`turns.jsonl` beside its WAV files).
 */
import { loadModels } from '../runtime/conversation/providers/models.ts'
import { quantile } from './support/quantile.ts'
import { buildTurns } from './turns/build.ts'
import { DECIDERS, type Heard, MODES, opinionOf, readyModel, type Verdict } from './turns/deciders.ts'
import { FLOOR_DECIDERS, type FloorVerdict, judgeSound } from './turns/floor.ts'
import { cutOffsAt, delayAt, type ScoredPause, sweep, sweepSilence } from './turns/policy.ts'
import { type Pause, pausesOf, readTurns, soundOf, type Turn } from './turns/rows.ts'
import { type LineSound, lineSounds } from './turns/sounds.ts'

const WORDS_LATE_S = 0.3

interface Judged {
  readonly pause: Pause
  readonly verdict: Verdict
}

export async function run(args: readonly string[]): Promise<void> {
  const given = args.indexOf('--data')
  const folder = given < 0 ? await buildTurns() : args[given + 1]
  if (folder === undefined) throw new Error('--data wants a folder; give the one that holds turns.jsonl')
  const turns = await readTurns(folder)
  const pauses = turns.flatMap(pausesOf)
  const isHeld = ({ isEnd }: Pause) => !isEnd
  say(`${turns.length} turns; ${pauses.filter(isHeld).length} pauses held, ${turns.length} at the end`)
  const opinions = await opinionsOf(folder, turns, pauses)
  const judged = new Map<string, Judged[]>()
  for (const [name, decide] of Object.entries(DECIDERS)) {
    for (const punctuates of name.startsWith('ours') ? [true, false] : [true]) {
      const before = process.cpuUsage()
      const heard = (pause: Pause): Heard => ({ model: opinions.get(pause)!, wordsLateS: WORDS_LATE_S, punctuates })
      const verdicts = pauses.map((pause) => ({ pause, verdict: decide(pause, heard(pause)) }))
      const title = punctuates ? name : `${name} without marks`
      say(`${title}: ${cpuMs(before, turns.length)} CPU-ms a turn`)
      judged.set(title, verdicts)
    }
  }
  for (const [title, of] of partsOf(turns)) sayPart(title, pauses.filter(of), judged)
  say('\nas shipped                   mode      cut off  delay p50       p95')
  for (const [name, verdicts] of judged) for (const mode of MODES) sayShipped(name, mode, verdicts)
  sayEndings(judged.get('ours, by words')!)
  if (given < 0) await sayFloor()
}

/** Who takes the floor from the agent. */
async function sayFloor(): Promise<void> {
  const models = await loadModels('silent')
  const sounds = await lineSounds()
  const usual = sounds.find(({ text = '' }) => text.length > 20)!.samples
  const verdicts: { sound: LineSound; verdict: FloorVerdict }[] = []
  for (const sound of sounds)
    verdicts.push({ sound, verdict: await judgeSound(models, sound, usual, WORDS_LATE_S * 1000) })
  say(`\n${sounds.length} sounds over the agent's speech: fell silent, of so many, after (p50)`)
  say(`                    ${FLOOR_DECIDERS.map((name) => name.padEnd(20)).join('')}`)
  const row = (title: string, list: typeof verdicts) => {
    const cells = FLOOR_DECIDERS.map((name) => {
      const timesMs = list.flatMap(({ verdict }) => verdict[name] ?? [])
      const p50 = timesMs.length === 0 ? '' : `, ${Math.round(quantile(timesMs, 0.5))} ms`
      return `${timesMs.length} of ${list.length}${p50}`.padEnd(20)
    })
    say(`${title.padEnd(20)}${cells.join('')}`)
  }
  row(
    'interruptions',
    verdicts.filter(({ sound }) => sound.isInterruption),
  )
  row(
    'anything else',
    verdicts.filter(({ sound }) => !sound.isInterruption),
  )
  for (const [kind, list] of Map.groupBy(verdicts, ({ sound }) => sound.kind)) row(kind, list)
}

/** What LiveKit's v1-mini thinks of each pause. */
async function opinionsOf(
  folder: string,
  turns: readonly Turn[],
  pauses: readonly Pause[],
): Promise<Map<Pause, number>> {
  readyModel()
  const byTurn = Map.groupBy(pauses, ({ turn }) => turn)
  const opinions = new Map<Pause, number>()
  let usedMs = 0
  for (const turn of turns) {
    const sound = await soundOf(folder, turn)
    const before = process.cpuUsage()
    for (const pause of byTurn.get(turn) ?? []) opinions.set(pause, await opinionOf(sound, pause))
    usedMs += Number(cpuMs(before, 1))
  }
  say(`v1-mini: ${(usedMs / pauses.length).toFixed(1)} CPU-ms a pause, ${(usedMs / turns.length).toFixed(1)} a turn`)
  return opinions
}

function cpuMs(before: NodeJS.CpuUsage, of: number): string {
  const { user, system } = process.cpuUsage(before)
  return ((user + system) / 1000 / of).toFixed(3)
}

type Part = readonly [title: string, of: (pause: Pause) => boolean]

function partsOf(turns: readonly Turn[]): Part[] {
  const by = (field: 'kind' | 'language' | 'part' | 'voice'): Part[] =>
    [...new Set(turns.map((turn) => turn[field]))].flatMap((value) =>
      value === undefined ? [] : [[`${field} ${value}`, ({ turn }: Pause) => turn[field] === value] as const],
    )
  return [['all', () => true], ...by('part'), ...by('kind'), ...by('language'), ...by('voice')]
}

function sayPart(title: string, pauses: readonly Pause[], judged: ReadonlyMap<string, readonly Judged[]>): void {
  const ends = pauses.filter(({ isEnd }) => isEnd).length
  const counted = new Set(pauses)
  if (ends === 0 || ends === pauses.length) return
  say(`\n${title} (${pauses.length - ends} held, ${ends} ends)`)
  say('decider                      cut 300ms  cut 600ms   delay 5%  delay 10%')
  for (const [name, verdicts] of judged) {
    const scored = verdicts.filter(({ pause }) => counted.has(pause)).map(scoredOf)
    const points = name === 'silence' ? sweepSilence(scored) : sweep(scored)
    const cuts = [0.3, 0.6].map((delayS) => percent(cutOffsAt(points, delayS)))
    const delays = [0.05, 0.1].map((share) => milliseconds(delayAt(points, share)))
    say(`${name.padEnd(28)}${[...cuts, ...delays].map((cell) => cell.padStart(9)).join('  ')}`)
  }
}

const scoredOf = ({ pause, verdict }: Judged): ScoredPause => ({
  lengthS: pause.lengthS,
  isEnd: pause.isEnd,
  scores: verdict.scores.filter(([silenceS]) => silenceS <= pause.lengthS + 1e-9),
})

function sayShipped(name: string, mode: (typeof MODES)[number], verdicts: readonly Judged[]): void {
  if (verdicts[0]?.verdict.endsS === undefined) return
  const held = verdicts.filter(({ pause }) => !pause.isEnd)
  const cut = held.filter(({ pause, verdict }) => pause.lengthS > verdict.endsS![mode])
  const delaysS = verdicts.filter(({ pause }) => pause.isEnd).map(({ verdict }) => verdict.endsS![mode])
  const figures = [
    percent(cut.length / held.length),
    milliseconds(quantile(delaysS, 0.5)),
    milliseconds(quantile(delaysS, 0.95)),
  ]
  say(`${name.padEnd(29)}${mode.padEnd(10)}${figures.map((cell) => cell.padStart(7)).join('   ')}`)
}

/** What the odds of end-of-turn.ts are counted on. */
function sayEndings(verdicts: readonly Judged[]): void {
  const fitted = verdicts.filter(({ pause }) => pause.turn.part !== 'test')
  say('\nending     held  ends   odds (of the part to fit to)')
  for (const [ending = '', list] of Map.groupBy(fitted, ({ verdict }) => verdict.ending)) {
    const ends = list.filter(({ pause }) => pause.isEnd).length
    const odds = (ends / (list.length - ends)).toFixed(2)
    say(`${ending.padEnd(10)}${String(list.length - ends).padStart(5)}${String(ends).padStart(6)}${odds.padStart(7)}`)
  }
}

const percent = (share: number | undefined) => (share === undefined ? '–' : `${(share * 100).toFixed(1)} %`)
const milliseconds = (seconds: number | undefined) => (seconds === undefined ? '–' : `${Math.round(seconds * 1000)} ms`)

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
